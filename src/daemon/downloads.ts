/**
 * Sends a file: whole, or the one range that the caller asks for.
 *
 *    If-None-Match holds               304
 *    Range: bytes=a-b, a-, -n          206, unless If-Range names another file
 *    several ranges, or no byte range  the whole file (RFC 9110, 14.2)
 *    a range behind the end            416, with the size
 *
 * The bytes are read as the caller reads them, so memory holds one chunk. A browser gets what it may show and nothing
 * that runs: the type is that of the bytes, it is not guessed again (`nosniff`), and a page is sandboxed. A failure behind
 * the head cuts the connection, because an incomplete file must not look complete.
 * Spec: items 4, O9.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { BytesAnswer } from '../core/contract/operation.ts'
import { refuse } from '../core/contract/problem.ts'
import { isUnchanged } from '../core/kernel/values/etag.ts'
import { release } from '../core/kernel/values/release.ts'
import type { Readers } from './readers.ts'
import { drained } from './whole-list.ts'

interface Range {
  readonly from: number
  readonly to: number
}

export async function sendBytes(
  request: FastifyRequest,
  reply: FastifyReply,
  file: BytesAnswer,
  readers: Readers,
): Promise<FastifyReply> {
  const { etag, sizeBytes } = file
  const ofEach = {
    etag,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
    'content-security-policy': 'sandbox',
    'x-content-type-options': 'nosniff',
  }
  const { 'if-none-match': known, 'if-range': ifRange, range: asked } = request.headers
  if (isUnchanged(known, etag)) return reply.code(304).headers(ofEach).send()
  const isOfThis = ifRange === undefined || ifRange === etag
  const range = isOfThis ? rangeOf(asked, sizeBytes) : undefined
  const { from, to } = range ?? { from: 0, to: sizeBytes - 1 }
  // Opened before the reply is given a header: a store that fails is answered as any other problem.
  const bytes = request.method === 'HEAD' ? [] : await file.open(from, to)
  reply.code(range ? 206 : 200).headers({
    ...ofEach,
    'content-type': file.contentType,
    'content-disposition': dispositionOf(file),
    'content-length': to - from + 1,
    ...(range ? { 'content-range': `bytes ${from}-${to}/${sizeBytes}` } : {}),
  })
  reply.hijack()
  const { raw } = reply
  raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>)
  try {
    for await (const chunk of bytes) {
      readers.hold(request, raw, chunk.byteLength)
      if (!raw.write(chunk, () => release(chunk))) await drained(raw)
      if (raw.destroyed) break
    }
    raw.end()
  } catch (error) {
    raw.destroy()
    request.failed(error)
  }
  return reply
}

/** Undefined: the whole file. Refuses media.range. */
function rangeOf(header: string | undefined, sizeBytes: number): Range | undefined {
  const [, first = '', last = ''] = /^bytes=([0-9]{0,15})-([0-9]{0,15})$/i.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return undefined
  if (first !== '' && last !== '' && Number(last) < Number(first)) return undefined
  const from = first === '' ? Math.max(0, sizeBytes - Number(last)) : Number(first)
  const to = first === '' || last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1)
  if (from >= sizeBytes)
    refuse('media.range', { size_bytes: sizeBytes }, { headers: { 'content-range': `bytes */${sizeBytes}` } })
  return { from, to }
}

/** RFC 6266: the name twice, in plain ASCII and as it is. Neither can end the header or name a folder. */
function dispositionOf({ filename, isInline }: Pick<BytesAnswer, 'filename' | 'isInline'>): string {
  const plain = filename.replaceAll(/[^ -~]|["\\/%]/gu, '_')
  const exact = encodeURIComponent(filename).replaceAll(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`)
  return `${isInline ? 'inline' : 'attachment'}; filename="${plain}"; filename*=UTF-8''${exact}`
}
