/**
 * A store: the file operations that every kind of target offers.
 *
 * Paths are our own (archive-format.ts), relative to the target's root; no user chooses any part of
 * them. A file is put whole or not at all, if the kind allows it: LOCAL and SFTP write under a
 * temporary name and rename, S3 shows an object when it is complete. Every failure is a
 * StoreFailure with one of a few codes as its reason. The target's own error text stays out of
 * answers and logs, because it may repeat what it was sent.
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

/** The target failed. */
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

export type IsEntered = (folder: string) => boolean

export interface Store {
  /** How many files may be put at a time. */
  readonly width: number
  /**
   * Puts a whole local file there, and replaces a file of the same path. `aside`: where its bytes are until it is whole,
   * for a file that two may put at once; absent: beside its path. No path may be put by two that share an `aside`.
   */
  put(path: string, file: string, aside?: string): Promise<void>
  /** The size of a file; undefined where there is none. */
  sizeOf(path: string): Promise<number | undefined>
  /** Reads a file from its start; a caller that stops early destroys the stream. */
  get(path: string): Promise<Readable>
  /** Every file below a folder, in no order; none where the folder is missing, and none of a folder that is not entered. */
  list(folder: string, isEntered?: IsEntered): AsyncIterable<StoredFile>
  /** Removes a folder and what is in it; nothing happens where it is missing. */
  remove(folder: string): Promise<void>
  close(): Promise<void>
}

/** A target with its decrypted secrets, kept for one use only. */
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

/** Maps an error to a StoreFailure, by its code or the code of one of its causes. */
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
