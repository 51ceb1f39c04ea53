/**
 * Examines a file whose last byte has come: what it is, and whether it is what was announced.
 *
 *    SCANNING ──▶ READY     told as work.media.ready
 *             │          a picture with its previews (previews.ts)
 *             └─▶ REFUSED   another SHA-256 than announced, a refused type, or a finding of the scanner; its bytes go at once,
 *                           unless a legal hold is in force, and their quota
 *
 * A file that one call brought whole was looked at as it came (upload.ts). Any other is read once, chunk by chunk, and so is
 * every file where there is a scanner, which each chunk goes to (kernel/egress/clamd.ts). While that cannot be asked, the file
 * stays SCANNING. A job that is killed has changed nothing, and the next run begins again.
 * Spec: items 4; docs/decisions/0236, 0352, 0514.
 */
import { z } from 'zod'
import type { Media } from '../../contract/media/operations.ts'
import { openScan } from '../../kernel/egress/clamd.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import { failpoint } from '../../kernel/values/failpoint.ts'
import { release } from '../../kernel/values/release.ts'
import { releaseBytes } from './byte-count.ts'
import { kindOf } from './file-kind.ts'
import { Look, type Seen, seenSchema } from './look.ts'
import { columnsOf, keyOf } from './media-row.ts'
import { makePreviews, noPreviews, type Previews } from './previews.ts'
import { removeBytesOf, removeLater } from './removal.ts'
import { type FileKey, mediaStore } from './store.ts'

const examiner = { kind: 'SYSTEM', job: 'examine_media' } as const

export const examineMedia = defineJob({
  name: 'examine_media',
  // Without `seen` the file is read: several calls brought it.
  payload: z.object({ tenant_id: z.string(), media_id: z.string(), seen: seenSchema.optional() }),
  retryLimit: 20,
  retryDelaySeconds: 5,
  longestRetryDelaySeconds: 600,
  longestSeconds: 3_600,
  atOnce: 2,
  takesLong: true,
  async run(installation, { tenant_id: tenantId, media_id: mediaId, seen }) {
    const key = keyOf(tenantId, mediaId)
    const sizeBytes = await waitingBytes(installation, key)
    if (sizeBytes === undefined) return
    const found: Found = seen && !installation.config.media.clamd ? seen : await read(installation, key)
    const isFound = found.finding !== undefined
    const previews = isFound ? noPreviews : await makePreviews(installation, { ...key, sizeBytes }, found.content_type)
    failpoint('media.examined')
    const isRefused = await installation.transaction(examiner, { tenantId }, (ctx) =>
      conclude(ctx, key, found, previews),
    )
    if (isRefused) await installation.transaction(examiner, { tenantId }, (ctx) => removeBytesOf(ctx, key))
  },
})

/** Undefined: the file is not SCANNING. */
const waitingBytes = (installation: Installation, { tenantId, mediaId }: FileKey): Promise<number | undefined> =>
  installation.transaction(examiner, { tenantId, readOnly: true }, async ({ tx }) => {
    const [row] = await tx.last<{ size_bytes: number | bigint }[]>`
      select size_bytes from media where tenant_id = ${tenantId} and id = ${mediaId} and state = 'SCANNING'`
    return row && Number(row.size_bytes)
  })

interface Found extends Seen {
  /** The scanner's name for what it found; undefined: nothing, or there is no scanner. */
  readonly finding?: string | undefined
}

/** Refuses media.store_failed. Throws ScannerFailed. */
async function read(installation: Installation, key: FileKey): Promise<Found> {
  const look = new Look()
  const { clamd } = installation.config.media
  const scan = clamd && (await openScan(clamd))
  try {
    for await (const chunk of await mediaStore(installation).read(key)) {
      look.add(chunk)
      if (scan) await scan.send(chunk)
      else release(chunk)
    }
    return { ...(await look.end()), finding: await scan?.end() }
  } finally {
    scan?.close()
  }
}

interface ExaminedRow extends Media {
  readonly announced_sha256: string | null
}

/** Whether the file is refused. */
async function conclude(ctx: Ctx, { tenantId, mediaId }: FileKey, found: Found, previews: Previews): Promise<boolean> {
  const { sha256, content_type: contentType } = found
  const { tx, config } = ctx
  const [row] = await tx<ExaminedRow[]>`
    select ${columnsOf(ctx)}, m.announced_sha256 from media m
    where m.tenant_id = ${tenantId} and m.id = ${mediaId} and m.state = 'SCANNING' for no key update`
  if (!row) return false
  const reason = refusalOf(found, row, config.media.refusedTypes)
  const state = reason === undefined ? 'READY' : 'REFUSED'
  const kind = kindOf(contentType)
  const of = reason === undefined ? previews : noPreviews
  const [after] = await tx<[Media]>`
    update media m set state = ${state}, sha256 = ${sha256}, content_type = ${contentType}, kind = ${kind},
           width = ${of.width}, height = ${of.height}, small_bytes = ${of.small_bytes}, medium_bytes = ${of.medium_bytes},
           previewed_at = case ${kind} when 'IMAGE' then now() end, updated_at = now(), version = version + 1
    where m.tenant_id = ${tenantId} and m.id = ${mediaId} returning ${columnsOf(ctx)}`
  if (reason === undefined) await ctx.record('work.media.ready', after)
  else {
    removeLater(ctx, tenantId, mediaId, 0)
    await ctx.record('work.media.refused', after, { ...reason })
    releaseBytes(ctx, tenantId, row.size_bytes)
  }
  return reason !== undefined
}

/** Why a file is refused, for the trail. */
function refusalOf(
  { sha256, content_type: contentType, finding }: Found,
  { announced_sha256: announced }: ExaminedRow,
  refusedTypes: readonly string[],
): { readonly reason: string; readonly finding?: string } | undefined {
  if (finding !== undefined) return { reason: 'finding', finding: finding.slice(0, 200) }
  if (announced !== null && announced !== sha256) return { reason: 'sha256' }
  return refusedTypes.includes(contentType) ? { reason: 'type' } : undefined
}
