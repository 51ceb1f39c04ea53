/**
 * The sweep of files, every hour:
 *
 *    begun and not ended, or carried by nothing, for SVC_MEDIA_LOOSE_HOURS    deleted, as if by hand
 *    the same, and carried by purged items that a hold keeps                  withheld: in no answer until its release
 *    bytes whose row is gone, at their time, and under no legal hold         removed from the store
 *    SCANNING for an hour                                                     queued once more
 *
 * Time removes only by a time that two clocks agree on, and have for a while (kernel/values/steady-clock.ts), and nothing of a
 * workspace that is not ACTIVE, or is being restored. The note of bytes goes with the commit behind their removal: a killed sweep
 * removes them again. Spec: items 4; 8; 10, 15; docs/decisions/0204, 0271.
 */
import { z } from 'zod'
import type { Media } from '../../contract/media/operations.ts'
import { isNotAdmitted } from '../../kernel/transaction/admission.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { firstId } from '../../kernel/transaction/page.ts'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import { failpoint } from '../../kernel/values/failpoint.ts'
import { trustedTime } from '../items/trusted-time.ts'
import { detachEverywhere, referencesTo } from './carriers.ts'
import { examineMedia } from './examination.ts'
import { columnsOf, keyOf } from './media-row.ts'
import { isFree, removeBytesOf, removeMedia, withholdMedia } from './removal.ts'

const sweeper = { kind: 'SYSTEM', job: 'sweep_media' } as const
/** Files of one transaction. */
const batch = 100
const lookedAt = 200

export const sweepMedia = defineJob({
  name: 'sweep_media',
  payload: z.object({}).nullish(),
  retryLimit: 1,
  cron: '23 * * * *',
  async run(installation) {
    const trusted = await trustedTime(installation, sweeper)
    for (let after: string | undefined = firstId; after !== undefined; ) {
      const tenants = await workspacesAfter(installation, after)
      for (const { id } of tenants) await sweepAdmitted(installation, id, trusted)
      after = tenants.length < lookedAt ? undefined : tenants.at(-1)?.id
    }
  },
})

const workspacesAfter = (installation: Installation, after: string) =>
  installation.transaction(
    sweeper,
    { readOnly: true },
    ({ tx }) =>
      tx.last<{ id: string }[]>`select id from tenant where id > ${after}::uuid order by id limit ${lookedAt}`,
  )

async function sweepAdmitted(installation: Installation, tenantId: string, trusted: Date | undefined): Promise<void> {
  try {
    await sweepWorkspace(installation, tenantId, trusted)
  } catch (error) {
    if (!isNotAdmitted(error)) throw error
  }
}

/**
 * Everything of one workspace that was due at that time; undefined: none is trusted yet, and nothing is removed. Refuses
 * tenant_suspended, workspace.restoring.
 */
export async function sweepWorkspace(
  installation: Installation,
  tenantId: string,
  trusted: Date | undefined,
): Promise<void> {
  const once = <T>(work: (ctx: Ctx) => Promise<T>) =>
    installation.transaction(sweeper, { tenantId, admits: true }, work)
  await once((ctx) => examineAgain(ctx, tenantId))
  if (!trusted) return
  for (let count = batch; count === batch; ) count = await once((ctx) => removeLoose(ctx, tenantId, trusted))
  for (let count = batch; count === batch; ) count = await once((ctx) => removeUnended(ctx, tenantId, trusted))
  for (let count = batch; count === batch; ) count = await removeBytes(installation, tenantId, trusted)
}

async function removeLoose(ctx: Ctx, tenantId: string, trusted: Date): Promise<number> {
  const { tx, config } = ctx
  const rows = await tx<(Media & { is_withheld: boolean })[]>`
    select ${columnsOf(ctx)}, m.withheld_at is not null as is_withheld from media m
    where m.tenant_id = ${tenantId} and m.state <> 'SCANNING'
      and m.loose_since < ${trusted}::timestamptz - make_interval(hours => ${config.media.looseHours})
    order by m.loose_since limit ${batch} for update skip locked`
  // By purged items that a hold keeps.
  const carried = await tx<{ media_id: string }[]>`
    select distinct media_id from media_reference
    where tenant_id = ${tenantId} and media_id in ${tx.list(rows.map(({ id }) => id))}`
  const isCarried = new Set(carried.map(({ media_id }) => media_id))
  for (const { is_withheld, ...row } of rows)
    await (isCarried.has(row.id) ? withholdMedia(ctx, tenantId, row) : removeMedia(ctx, tenantId, row, is_withheld))
  failpoint('media.swept')
  return rows.length
}

/** Uploads that were attached, and that no part came of since. */
async function removeUnended(ctx: Ctx, tenantId: string, trusted: Date): Promise<number> {
  const { tx, config } = ctx
  const rows = await tx<Media[]>`
    select ${columnsOf(ctx)} from media m
    where m.tenant_id = ${tenantId} and m.state = 'UPLOADING' and m.loose_since is null and m.withheld_at is null
      and m.updated_at < ${trusted}::timestamptz - make_interval(hours => ${config.media.looseHours})
      and coalesce(m.writer_until < now(), true)
    order by m.updated_at limit ${batch} for update skip locked`
  for (const row of rows) {
    await detachEverywhere(ctx, tenantId, row.id, await referencesTo(ctx, tenantId, row.id))
    await removeMedia(ctx, tenantId, row)
  }
  return rows.length
}

/** A job that has used its attempts up is queued anew. */
async function examineAgain(ctx: Ctx, tenantId: string): Promise<void> {
  const rows = await ctx.tx<{ id: string }[]>`
    select id from media where tenant_id = ${tenantId} and state = 'SCANNING' and updated_at < now() - interval '1 hour'
    order by updated_at limit ${batch}`
  for (const { id } of rows) await ctx.enqueue(examineMedia, { tenant_id: tenantId, media_id: id })
}

async function removeBytes(installation: Installation, tenantId: string, trusted: Date): Promise<number> {
  const due = await installation.transaction(
    sweeper,
    { tenantId, readOnly: true },
    ({ tx }) => tx.last<{ media_id: string }[]>`
      select media_id from media_removal where tenant_id = ${tenantId} and due_at <= ${trusted}::timestamptz
        and ${isFree(tx, tenantId)}
      order by due_at limit ${batch}`,
  )
  for (const { media_id: mediaId } of due)
    await installation.transaction(sweeper, { tenantId, admits: true }, (ctx) =>
      removeBytesOf(ctx, keyOf(tenantId, mediaId)),
    )
  return due.length
}
