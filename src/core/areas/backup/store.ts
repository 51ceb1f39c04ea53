/**
 * A store: the few things that every kind of target can do with files.
 *
 * Paths are ours (archive-format.ts), relative to the target's root, and hold nothing
 * that anybody chose. A file is put whole or not at all, as far as the kind can: LOCAL
 * and SFTP write aside and rename, S3 shows an object once it is complete. Every failure
 * is a StoreFailure whose reason is one of a few codes; what the other side said is kept
 * out of answers and logs, because it may repeat what it was told.
 *
 * Spec: decisions 4, A backup target; T-25, F-08.
 */
import type { Readable } from 'node:stream'
import type { TargetConfig, TargetKind } from '../../contract/backup/operations.ts'
import type { Secrets } from './config.ts'

const failureReasons = [
  'unreachable',
  'refused', // by the egress guard
  'credentials',
  'host_key',
  'missing', // a folder, a bucket or a file
  'read_only',
  'full',
  'timeout',
  'failed',
] as const
export type FailureReason = (typeof failureReasons)[number]

/** The target could not do it. */
export class StoreFailure extends Error {
  override readonly name = 'StoreFailure'
  readonly reason: FailureReason
  constructor(reason: FailureReason, cause?: unknown) {
    super(`the backup target failed: ${reason}`, { cause })
    this.reason = reason
  }
}

export interface StoredFile {
  /** Relative to the target's root. */
  readonly path: string
  readonly sizeBytes: number
}

export interface Store {
  /** How many files may be put at a time. */
  readonly width: number
  /** Puts a local file there whole, replacing one of that path. */
  put(path: string, file: string): Promise<void>
  /** Reads a file from its start; whoever stops early destroys the stream. */
  get(path: string): Promise<Readable>
  /** Every file below a folder, in no order; none where the folder is missing. */
  list(folder: string): AsyncIterable<StoredFile>
  /** Removes a folder and what is in it; nothing happens where it is missing. */
  remove(folder: string): Promise<void>
  close(): Promise<void>
}

/** A target with its secrets opened; it lives as long as one use. */
export interface OpenedTarget {
  readonly kind: TargetKind
  readonly config: TargetConfig
  readonly secrets: Secrets
}

const reasonByCode: Readonly<Record<string, FailureReason>> = {
  ENOSPC: 'full',
  EDQUOT: 'full',
  EFBIG: 'full',
  EROFS: 'read_only',
  EACCES: 'read_only',
  EPERM: 'read_only',
  ENOENT: 'missing',
  ENOTDIR: 'missing',
  ECONNREFUSED: 'unreachable',
  ECONNRESET: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENOTFOUND: 'unreachable',
  EAI_AGAIN: 'unreachable',
  EPIPE: 'unreachable',
  UND_ERR_SOCKET: 'unreachable',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  EGRESS_REFUSED: 'refused',
}

/** A failure as a StoreFailure, by the code that it or one of its causes carries. */
export function storeFailure(error: unknown, otherwise: FailureReason = 'failed'): StoreFailure {
  if (error instanceof StoreFailure) return error
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const reason = reasonByCode[String((cause as NodeJS.ErrnoException).code)]
    if (reason) return new StoreFailure(reason, error)
    if (cause.name === 'TimeoutError') return new StoreFailure('timeout', error)
  }
  return new StoreFailure(otherwise, error)
}

export const storeTimeout = () => new StoreFailure('timeout')
