/**
 * Examines a file whose last byte has come: what it is, and whether it is what was announced.
 *
 *    SCANNING ──▶ READY     told as work.media.ready
 *             └─▶ REFUSED   another SHA-256 than announced, a refused type, or a finding of the scanner; its bytes go at once,
 *                           unless a legal hold is in force, and their quota
 *
 * The file is read once, chunk by chunk, and each chunk goes to the scanner, if there is one (kernel/egress/clamd.ts). While
 * that cannot be asked, the file stays SCANNING. A job that is killed has changed nothing, and the next run reads it again.
 * Spec: items 4; docs/decisions/0236, 0352.
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Media } from '../../contract/media/operations.ts'
import { openScan } from '../../kernel/egress/clamd.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import { failpoint } from '../../kernel/values/failpoint.ts'
import { releaseBytes } from './byte-count.ts'
import { contentTypeOf, kindOf, signatureBytes, TextCheck } from './file-kind.ts'
import { columnsOf, keyOf } from './media-row.ts'
import { removeBytesOf, removeLater } from './removal.ts'
import { type FileKey, mediaStore } from './store.ts'

const examiner = { kind: 'SYSTEM', job: 'examine_media' } as const

export const examineMedia = defineJob({
  name: 'examine_media',
  payload: z.object({ tenant_id: z.string(), media_id: z.string() }),
  retryLimit: 20,
  retryDelaySeconds: 5,
  longestRetryDelaySeconds: 600,
  longestSeconds: 3_600,
  atOnce: 2,
  takesLong: true,
  async run(installation, { tenant_id: tenantId, media_id: mediaId }) {
    const key = keyOf(tenantId, mediaId)
    if (!(await isWaiting(installation, key))) return
    const found = await look(installation, key)
    failpoint('media.examined')
    const isRefused = await installation.transaction(examiner, { tenantId }, (ctx) => conclude(ctx, key, found))
    if (isRefused) await installation.transaction(examiner, { tenantId }, (ctx) => removeBytesOf(ctx, key))
  },
})

const isWaiting = (installation: Installation, { tenantId, mediaId }: FileKey): Promise<boolean> =>
  installation.transaction(examiner, { tenantId, readOnly: true }, async ({ tx }) => {
    const rows = await tx.last`
      select 1 from media where tenant_id = ${tenantId} and id = ${mediaId} and state = 'SCANNING'`
    return rows.length > 0
  })

interface Found {
  readonly sha256: string
  readonly contentType: string
  /** The scanner's name for what it found; undefined: nothing, or there is no scanner. */
  readonly finding: string | undefined
}

/** Refuses media.store_failed. Throws ScannerFailed. */
async function look(installation: Installation, key: FileKey): Promise<Found> {
  const hash = createHash('sha256')
  const text = new TextCheck()
  const head: Buffer[] = []
  let headBytes = 0
  const { clamd } = installation.config.media
  const scan = clamd && (await openScan(clamd))
  try {
    for await (const chunk of await mediaStore(installation).read(key)) {
      hash.update(chunk)
      text.add(chunk)
      if (headBytes < signatureBytes) head.push(chunk)
      headBytes += chunk.byteLength
      await scan?.send(chunk)
    }
    const start = Buffer.concat(head).subarray(0, signatureBytes)
    const contentType = await contentTypeOf(start, text.end())
    return { sha256: hash.digest('hex'), contentType, finding: await scan?.end() }
  } finally {
    scan?.close()
  }
}

interface ExaminedRow extends Media {
  readonly announced_sha256: string | null
}

/** Whether the file is refused. */
async function conclude(ctx: Ctx, { tenantId, mediaId }: FileKey, found: Found): Promise<boolean> {
  const { sha256, contentType } = found
  const { tx, config } = ctx
  const [row] = await tx<ExaminedRow[]>`
    select ${columnsOf(ctx)}, m.announced_sha256 from media m
    where m.tenant_id = ${tenantId} and m.id = ${mediaId} and m.state = 'SCANNING' for no key update`
  if (!row) return false
  const reason = refusalOf(found, row, config.media.refusedTypes)
  const state = reason === undefined ? 'READY' : 'REFUSED'
  const [after] = await tx<[Media]>`
    update media m set state = ${state}, sha256 = ${sha256}, content_type = ${contentType}, kind = ${kindOf(contentType)},
           updated_at = now(), version = version + 1
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
  { sha256, contentType, finding }: Found,
  { announced_sha256: announced }: ExaminedRow,
  refusedTypes: readonly string[],
): { readonly reason: string; readonly finding?: string } | undefined {
  if (finding !== undefined) return { reason: 'finding', finding: finding.slice(0, 200) }
  if (announced !== null && announced !== sha256) return { reason: 'sha256' }
  return refusedTypes.includes(contentType) ? { reason: 'type' } : undefined
}
