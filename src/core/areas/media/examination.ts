/**
 * Examines a file whose last byte has come: what it is, and whether it is what was announced.
 *
 *    SCANNING ──▶ READY     told as work.media.ready
 *             └─▶ REFUSED   another SHA-256 than announced, or a refused type; its bytes go at once, and their quota
 *
 * The file is read once, chunk by chunk. A job that is killed has changed nothing, and the next run reads it again.
 * Spec: items 4; docs/decisions/0236.
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Media } from '../../contract/media/operations.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import { failpoint } from '../../kernel/values/failpoint.ts'
import { releaseBytes } from './byte-count.ts'
import { contentTypeOf, kindOf, signatureBytes, TextCheck } from './file-kind.ts'
import { columnsOf, keyOf } from './media-row.ts'
import { removeLater } from './removal.ts'
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
    if (isRefused) await mediaStore(installation.config.media).remove(key)
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
}

/** Refuses media.store_failed. */
async function look({ config }: Installation, key: FileKey): Promise<Found> {
  const hash = createHash('sha256')
  const text = new TextCheck()
  const head: Buffer[] = []
  let headBytes = 0
  for await (const chunk of await mediaStore(config.media).read(key)) {
    hash.update(chunk)
    text.add(chunk)
    if (headBytes < signatureBytes) head.push(chunk)
    headBytes += chunk.byteLength
  }
  const start = Buffer.concat(head).subarray(0, signatureBytes)
  return { sha256: hash.digest('hex'), contentType: await contentTypeOf(start, text.end()) }
}

interface ExaminedRow extends Media {
  readonly announced_sha256: string | null
}

/** Whether the file is refused. */
async function conclude(ctx: Ctx, { tenantId, mediaId }: FileKey, { sha256, contentType }: Found): Promise<boolean> {
  const { tx, config } = ctx
  const [row] = await tx<ExaminedRow[]>`
    select ${columnsOf(ctx)}, m.announced_sha256 from media m
    where m.tenant_id = ${tenantId} and m.id = ${mediaId} and m.state = 'SCANNING' for no key update`
  if (!row) return false
  const isOther = row.announced_sha256 !== null && row.announced_sha256 !== sha256
  const reason = isOther ? 'sha256' : config.media.refusedTypes.includes(contentType) ? 'type' : undefined
  const state = reason === undefined ? 'READY' : 'REFUSED'
  const [after] = await tx<[Media]>`
    update media m set state = ${state}, sha256 = ${sha256}, content_type = ${contentType}, kind = ${kindOf(contentType)},
           updated_at = now(), version = version + 1
    where m.tenant_id = ${tenantId} and m.id = ${mediaId} returning ${columnsOf(ctx)}`
  if (reason === undefined) await ctx.record('work.media.ready', after)
  else {
    removeLater(ctx, tenantId, mediaId, 0)
    await ctx.record('work.media.refused', after, { reason })
    releaseBytes(ctx, tenantId, row.size_bytes)
  }
  return reason !== undefined
}
