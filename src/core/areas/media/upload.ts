/**
 * Takes the bytes of a file, in one call or in many.
 *
 *    claim ──▶ bytes into the store, 512 KiB at a time ──▶ whole: SCANNING, and a job   (one transaction)
 *                 │  every 5 s: what is on the disk         └─ a part: one more part
 *                 └─ cut off: the whole parts that are on the disk stay
 *
 * While one piece is written the next one comes. A file that one call brings whole is looked at as it comes, so that nobody
 * has to read it again (look.ts).
 *
 * No transaction is open while bytes come. One call writes a file at a time: the row names it, for 30 s after its last sign
 * of life. A call that comes late asks the row before it writes, so that it never meets the next one in the file.
 * What the row says has come, is on the disk. Spec: items 4, O7; docs/decisions/0236, 0514.
 */
import { type ContentRange, readContentRange } from '../../contract/media/content-range.ts'
import { type Media, type mediaOperations as ops, partBytes } from '../../contract/media/operations.ts'
import type { Received, SentBytes } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation, RunAsRule } from '../../kernel/transaction/installation.ts'
import type { Actor } from '../../kernel/values/actor.ts'
import { failpoint } from '../../kernel/values/failpoint.ts'
import { newId } from '../../kernel/values/id.ts'
import { release } from '../../kernel/values/release.ts'
import { examineMedia } from './examination.ts'
import { Look, type Seen } from './look.ts'
import { columnsOf, keyOf } from './media-row.ts'
import { mediaStore, type Writing } from './store.ts'

/** A call's right to write a file: from `offset` to `end`, which is behind the last byte. */
interface Claim {
  readonly mediaId: string
  readonly tenantId: string
  readonly writer: string
  readonly offset: number
  readonly end: number
  readonly sizeBytes: number
}

/** What a call has brought to the disk. */
interface Arrived {
  readonly claim: Claim
  /** Of a file that the call brought whole. */
  readonly seen: Seen | undefined
}

const writeBytes = 512 * 1024
const claimSeconds = 30
/** Together with the longest single write of a store (20 s) it is shorter than the claim. */
const recordEachMs = 5_000

const wholeParts = (bytes: number) => bytes - (bytes % partBytes)

/** Refuses not_found, request.malformed, media.offset, media.busy, media.size_mismatch, media.store_failed. */
export async function takeBytes(
  installation: Installation,
  _actor: Actor,
  { mediaId, bytes }: Received<typeof ops.uploadMedia>,
  run: RunAsRule,
): Promise<Arrived> {
  const range = rangeOf(bytes)
  const claim = await run((ctx) => claimUpload(ctx, mediaId, bytes, range))
  failpoint('media.claimed')
  const { tenantId, offset, sizeBytes } = claim
  const writing = await mediaStore(installation)
    .write(keyOf(tenantId, mediaId), { offset, sizeBytes })
    .catch((error) => letGo(run, claim, offset, error))
  const coming = new Coming(run, claim, writing)
  try {
    // The store has less than the row says, as after a recovery of the database alone.
    if (writing.offset < offset) await coming.refuseOffset(wholeParts(writing.offset))
    for await (const chunk of bytes.stream.iterator({ destroyOnReturn: false })) {
      await coming.take(chunk)
      release(chunk)
    }
    return { claim, seen: await coming.end() }
  } catch (error) {
    return await letGo(run, claim, await coming.saved(), error)
  } finally {
    await writing.close()
  }
}

/** Ends the upload, or the part of it. Refuses not_found, media.busy. */
export async function uploadMedia(
  ctx: Ctx,
  _received: Received<typeof ops.uploadMedia>,
  { claim, seen }: Arrived,
): Promise<Media> {
  const { mediaId, tenantId, end, sizeBytes } = claim
  const isWhole = end === sizeBytes
  await lockClaimed(ctx, claim)

  const [media] = await ctx.tx<[Media]>`
    update media m set received_bytes = ${end}, state = ${isWhole ? 'SCANNING' : 'UPLOADING'}, writer = null,
           writer_until = null, updated_at = now(), version = version + 1
    where m.tenant_id = ${tenantId} and m.id = ${mediaId} returning ${columnsOf(ctx)}`

  if (isWhole) await ctx.enqueue(examineMedia, { tenant_id: tenantId, media_id: mediaId, seen })
  failpoint('media.ended')
  return media
}

/** Undefined: the call brings the whole file. Refuses request.malformed. */
function rangeOf({ range }: SentBytes): ContentRange | undefined {
  if (range === undefined) return undefined
  const read = readContentRange(range)
  if (read) return read
  const fault = { parameter: 'Content-Range', code: 'value.format', params: { format: 'content-range' } }
  refuse('request.malformed', undefined, { errors: [fault] })
}

interface ClaimableRow {
  readonly size_bytes: number | bigint
  readonly received_bytes: number | bigint
  readonly state: Media['state']
  readonly is_busy: boolean
}

/** Refuses not_found, media.offset, media.busy, media.size_mismatch. */
async function claimUpload(
  { tx, account }: Ctx,
  mediaId: string,
  { length }: SentBytes,
  range: ContentRange | undefined,
): Promise<Claim> {
  const { tenantId, accountId } = account
  const [row] = await tx<ClaimableRow[]>`
    select size_bytes, received_bytes, state, coalesce(writer_until > now(), false) as is_busy from media
    where tenant_id = ${tenantId} and id = ${mediaId} and created_by = ${accountId} for no key update`
  if (!row) refuse('not_found')
  const sizeBytes = Number(row.size_bytes)
  const received = Number(row.received_bytes)
  const { first, last } = range ?? { first: 0, last: sizeBytes - 1 }
  if (row.state !== 'UPLOADING' || first !== received) refuse('media.offset', { expected: received })
  if (row.is_busy) refuse('media.busy')
  demandSize(sizeBytes, range, last + 1 - first, length)

  const writer = newId()
  await tx`
    update media set writer = ${writer}, writer_until = now() + make_interval(secs => ${claimSeconds})
    where tenant_id = ${tenantId} and id = ${mediaId}`
  return { mediaId, tenantId, writer, offset: first, end: last + 1, sizeBytes }
}

/** Refuses media.size_mismatch: the call brings another file, or a part of a length that none has. */
function demandSize(
  sizeBytes: number,
  range: ContentRange | undefined,
  announced: number,
  length: number | undefined,
): void {
  if (range && range.sizeBytes !== sizeBytes) refuse('media.size_mismatch', { expected: sizeBytes })
  if (length !== undefined && length !== announced) refuse('media.size_mismatch', { expected: announced })
  const isLast = range === undefined || range.last === sizeBytes - 1
  if (!isLast && announced % partBytes !== 0)
    refuse('media.size_mismatch', { expected: Math.max(partBytes, wholeParts(announced)) })
}

/** The bytes of a call on their way into the store. */
class Coming {
  private readonly run: RunAsRule
  private readonly claim: Claim
  private readonly writing: Writing
  private readonly look: Look | undefined
  /** Filled and written in turn, again and again, so that memory does not depend on the file. */
  private waiting: Buffer
  private spare: Buffer
  private waitingBytes = 0
  private takenBytes = 0
  /** Behind the last byte that is in the store. */
  private at: number
  private underWay: Promise<void> | undefined
  private renewedAt = performance.now()

  constructor(run: RunAsRule, claim: Claim, writing: Writing) {
    this.run = run
    this.claim = claim
    this.writing = writing
    this.at = writing.offset
    this.look = claim.offset === 0 && claim.end === claim.sizeBytes ? new Look() : undefined
    const size = Math.min(writeBytes, claim.end - claim.offset)
    this.waiting = Buffer.allocUnsafeSlow(size)
    this.spare = Buffer.allocUnsafeSlow(size)
  }

  /** Refuses media.size_mismatch, media.busy, media.store_failed. */
  async take(chunk: Buffer): Promise<void> {
    const { offset, end } = this.claim
    this.takenBytes += chunk.byteLength
    if (offset + this.takenBytes > end) refuse('media.size_mismatch', { expected: end - offset })
    this.look?.add(chunk)
    for (let from = 0; from < chunk.byteLength; ) {
      const copied = chunk.copy(this.waiting, this.waitingBytes, from)
      from += copied
      this.waitingBytes += copied
      if (this.waitingBytes === this.waiting.byteLength) await this.write()
    }
    if (performance.now() - this.renewedAt >= recordEachMs) await this.record()
  }

  /** What the file is, if the call brought it whole. Refuses media.size_mismatch, media.busy, media.store_failed. */
  async end(): Promise<Seen | undefined> {
    const { offset, end, sizeBytes } = this.claim
    await this.write()
    await this.written()
    if (this.at !== end) refuse('media.size_mismatch', { expected: end - offset })
    await (end === sizeBytes ? this.writing.finish() : this.writing.sync())
    return this.look?.end()
  }

  /** The whole parts that are on the disk, after a failure. */
  async saved(): Promise<number> {
    const { offset } = this.claim
    await this.written().catch(() => undefined)
    const isSynced = await this.writing.sync().then(
      () => true,
      () => false,
    )
    return isSynced ? this.kept() : offset
  }

  /** Refuses media.offset: the file begins again at what the store has. */
  async refuseOffset(expected: number): Promise<never> {
    const { claim } = this
    this.at = expected
    await this.run(async (ctx) => {
      await lockClaimed(ctx, claim)
      await ctx.tx`
        update media set received_bytes = ${expected}, writer = null, writer_until = null, version = version + 1
        where tenant_id = ${claim.tenantId} and id = ${claim.mediaId}`
    })
    refuse('media.offset', { expected })
  }

  /**
   * The whole parts that are in the store, without the last of the file: a file is not said to have come before it can be
   * read, because the next call has to send something.
   */
  private kept(): number {
    const { offset, sizeBytes } = this.claim
    return Math.max(offset, wholeParts(Math.min(this.at, sizeBytes - 1)))
  }

  /** Begins to write what waits, behind what is being written. */
  private async write(): Promise<void> {
    await this.written()
    if (this.waitingBytes === 0) return
    // Nothing came for so long that another call may have the file before this write ends.
    if (performance.now() - this.renewedAt >= recordEachMs) await this.record()
    const bytes = this.waiting.subarray(0, this.waitingBytes)
    ;[this.waiting, this.spare] = [this.spare, this.waiting]
    this.waitingBytes = 0
    this.underWay = this.writing.write(bytes).then(() => {
      this.at += bytes.byteLength
    })
    // It is asked for at the next piece.
    this.underWay.catch(() => undefined)
  }

  /** The store has all that was given to it. Refuses media.store_failed. */
  private written(): Promise<void> {
    return this.underWay ?? Promise.resolve()
  }

  /** Tells the row what is on the disk, and renews the claim. Refuses not_found, and media.busy if another call has it. */
  private async record(): Promise<void> {
    const { claim } = this
    await this.written()
    const received = this.kept()
    await this.writing.sync()
    const began = performance.now()
    await this.run(async (ctx) => {
      await lockClaimed(ctx, claim)
      await ctx.tx`
        update media set version = version + case when received_bytes < ${received} then 1 else 0 end, received_bytes = ${received},
               writer_until = now() + make_interval(secs => ${claimSeconds})
        where tenant_id = ${claim.tenantId} and id = ${claim.mediaId}`
    })
    this.renewedAt = began
    failpoint('media.recorded')
  }
}

/** Refuses not_found, media.busy. */
async function lockClaimed({ tx }: Ctx, { tenantId, mediaId, writer }: Claim): Promise<void> {
  const [row] = await tx<{ writer: string | null }[]>`
    select writer from media where tenant_id = ${tenantId} and id = ${mediaId} for no key update`
  if (!row) refuse('not_found')
  if (row.writer !== writer) refuse('media.busy')
}

/** Gives the file back to the next call, and throws the error. A claim that cannot be given back ends by itself. */
async function letGo(run: RunAsRule, claim: Claim, received: number, error: unknown): Promise<never> {
  const { tenantId, mediaId, writer } = claim
  await run(
    ({ tx }) => tx`
      update media set writer = null, writer_until = null, received_bytes = greatest(received_bytes, ${received}),
             version = version + case when received_bytes < ${received} then 1 else 0 end
      where tenant_id = ${tenantId} and id = ${mediaId} and writer = ${writer}`,
  ).catch(() => {})
  throw error
}
