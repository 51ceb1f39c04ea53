/** What every store of files does (../store.ts). Spec: items 4, Store; docs/decisions/0236, 0350. */
import type { Readable } from 'node:stream'

export interface FileKey {
  readonly tenantId: string
  readonly mediaId: string
  /** Absent: the file itself. A preview lies beside it, and goes with it. */
  readonly variant?: 'SMALL' | 'MEDIUM'
}

/** What the name of a preview ends in. */
export const previewEndings = { SMALL: '.small', MEDIUM: '.medium' } as const

/** The name of a file of the store, below the folder of its workspace. */
export const nameOf = ({ mediaId, variant }: FileKey): string => `${mediaId}${variant ? previewEndings[variant] : ''}`

/** Which file a name is of, and whether it is one of its previews. */
export function readName(name: string): { readonly mediaId: string; readonly isPreview: boolean } {
  const ending = Object.values(previewEndings).find((one) => name.endsWith(one))
  return { mediaId: name.slice(0, name.length - (ending?.length ?? 0)), isPreview: ending !== undefined }
}

/** A file that is being written; for one writer at a time. */
export interface Writing {
  /** Where the next byte goes: what was asked, or less if the store has less. */
  readonly offset: number
  /** The bytes are the caller's again when this resolves. */
  write(bytes: Buffer): Promise<void>
  /** Brings what was written to the disk, all of it or the whole parts. */
  sync(): Promise<void>
  /** Brings all to the disk, and lets the file be read. */
  finish(): Promise<void>
  close(): Promise<void>
}

/** Something of a file in the store: all of it, or what has come of it or a preview, which has at least so many bytes. */
export interface StoredMedia {
  readonly mediaId: string
  readonly sizeBytes: number
  readonly isWhole: boolean
}

export interface MediaStore {
  /** Opens a file of `sizeBytes` for its bytes behind `offset`; what it has behind is cut off. */
  write(key: FileKey, where: { readonly offset: number; readonly sizeBytes: number }): Promise<Writing>
  /** The bytes from `from` to `to`, both included; absent: all. The cause of a missing file has the code ENOENT. */
  read(key: FileKey, range?: { readonly from: number; readonly to: number }): Promise<Readable>
  /** Removes a file, finished or not, and its previews; nothing happens where they are missing. */
  remove(key: FileKey): Promise<void>
  /** All files of a workspace with their previews, in no order; a file that is being finished may be told twice. */
  list(tenantId: string): AsyncIterable<StoredMedia>
  /** Removes files of a workspace, finished or not, for some seconds at most. Answers whether some are left. */
  removeSome(tenantId: string): Promise<boolean>
}
