/** What every store of files does (../store.ts). Spec: items 4, Store; docs/decisions/0236, 0350. */
import type { Readable } from 'node:stream'

export interface FileKey {
  readonly tenantId: string
  readonly mediaId: string
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

/** A file of the store; one that is not whole has at least so many bytes. */
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
  /** Removes a file, finished or not; nothing happens where it is missing. */
  remove(key: FileKey): Promise<void>
  /** All files of a workspace, in no order; a file that is being finished may be told twice. */
  list(tenantId: string): AsyncIterable<StoredMedia>
  /** Removes files of a workspace, finished or not, for some seconds at most. Answers whether some are left. */
  removeSome(tenantId: string): Promise<boolean>
}
