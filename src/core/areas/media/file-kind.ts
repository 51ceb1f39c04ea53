/**
 * What a file is, by its bytes: its name and what its sender says do not count.
 *
 *    known signature     that type, such as image/png
 *    text                UTF-8 without control characters: markup, if it looks like some, else text/plain
 *    anything else       application/octet-stream
 *
 * Markup is what a browser could run as a page of this host, so it is never shown inline, like everything that is not in
 * the list below. Only the first 64 KiB are given to the recognition of signatures. Spec: items 4; 10, 7.
 */
import { fileTypeFromBuffer } from 'file-type'
import type { MediaKind } from '../../contract/media/operations.ts'

/** How much of a file its signature is looked for in. */
export const signatureBytes = 64 * 1024

const plainText = 'text/plain'

/** `head`: the first bytes. `isText`: all of the file is text. */
export async function contentTypeOf(head: Buffer, isText: boolean): Promise<string> {
  const known = await fileTypeFromBuffer(head).catch(() => undefined)
  if (known && !known.mime.includes('xml')) return known.mime
  return isText ? textTypeOf(head.toString('utf8')) : (known?.mime ?? 'application/octet-stream')
}

/** The start of a page decides, because browsers look no further. */
function textTypeOf(text: string): string {
  const start = text.slice(0, 4096).toLowerCase()
  if (/<(?:svg|[a-z]+:svg)[\s>]/.test(start)) return 'image/svg+xml'
  if (/<(?:!doctype html|html|head|body|script|iframe|style|title|table|div|h1|br|p|a)[\s>]/.test(start))
    return 'text/html'
  return start.trimStart().startsWith('<?xml') ? 'application/xml' : plainText
}

/** Follows a file and knows in the end whether all of it is text. */
export class TextCheck {
  private readonly decoder = new TextDecoder('utf-8', { fatal: true })
  private holds = true

  add(chunk: Uint8Array): void {
    if (this.holds) this.holds = this.reads(chunk, true)
  }

  end(): boolean {
    return this.holds && this.reads(new Uint8Array(), false)
  }

  private reads(chunk: Uint8Array, stream: boolean): boolean {
    try {
      return !/[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/.test(this.decoder.decode(chunk, { stream }))
    } catch {
      return false
    }
  }
}

const documents =
  /^(?:application\/(?:pdf|rtf|msword|epub\+zip|xml|vnd\.(?:openxmlformats|oasis|ms-).*)|text\/html|image\/svg\+xml)$/
const archives =
  /^application\/(?:zip|gzip|zstd|vnd\.rar|x-(?:7z-compressed|bzip2|xz|tar|rar-compressed|lzip|compress|cpio|lz4)|java-archive)/

export function kindOf(contentType: string): MediaKind {
  if (documents.test(contentType)) return 'DOCUMENT'
  if (archives.test(contentType)) return 'ARCHIVE'
  if (contentType.startsWith('image/')) return 'IMAGE'
  if (contentType.startsWith('video/')) return 'VIDEO'
  if (contentType.startsWith('audio/')) return 'AUDIO'
  return contentType === plainText ? 'TEXT' : 'OTHER'
}

/** Whether a browser may show it on the service's own host. */
export const isSafeInline = (contentType: string): boolean =>
  ['image/png', 'image/jpeg', 'image/gif', 'image/webp', plainText].includes(contentType) ||
  /^(?:audio|video)\/[a-z0-9.+-]+$/.test(contentType)
