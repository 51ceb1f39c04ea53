/**
 * What has ended, once a minute: restores whose worker was lost go on; plans that nobody applied within a day are CANCELLED; what lies in
 * staging of a restore that is over goes; and so does what a rewind replaced, once it can no longer be undone.
 *
 * A legal hold in force keeps the rows that were replaced, whatever their time: they may be what it is about. A time that ends
 * counts once both clocks have seen it past (areas/items/trusted-time.ts). Spec: Keeping, 1 (Clocks) and 3.
 */
import { z } from 'zod'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import { dropStaged, inStaging, listStaged } from '../backup/loading/staging.ts'
import { trustedTime } from '../items/trusted-time.ts'
import { resumeRestores } from './restore-job.ts'

const worker = { kind: 'SYSTEM', job: 'sweep_restores' } as const
/** Rows of one transaction. */
const batch = 1000
/** Of one run; the next one goes on. */
const most = 100
const planHours = 24

export const sweepRestoresJob = defineJob({
  name: 'sweep_restores',
  payload: z.object({}).nullish(),
  retryLimit: 0,
  atOnce: 1,
  takesLong: true,
  cron: '* * * * *',
  async run(installation) {
    await installation.transaction(worker, {}, async (ctx) => {
      await resumeRestores(ctx)
      await ctx.tx`
        update restore set state = 'CANCELLED', version = version + 1
        where state = 'PLANNED' and planned_at < now() - make_interval(hours => ${planHours})`
    })
    await sweepStaging(installation)
    const trusted = await trustedTime(installation, worker)
    if (trusted) await forgetReplaced(installation, trusted)
  },
})

/** Drops what lies there of restores that are over, or gone with their workspace, and the identities that they were given. */
async function sweepStaging(installation: Installation): Promise<void> {
  const there = await inStaging(installation, listStaged)
  const over = await installation.transaction(worker, {}, async ({ tx }) => {
    const open = await tx<{ id: string }[]>`
      select id from restore where state in ('PLANNING', 'PLANNED', 'APPLYING', 'UNDOING')`
    await tx`
      delete from sealed_value v where v.kind = 'restore.identity' and not exists (
        select from restore r where r.tenant_id = v.tenant_id and r.id = v.owner_id and r.state in ('PLANNING', 'PLANNED', 'APPLYING'))`
    const isOpen = new Set(open.map(({ id }) => id))
    return there.filter((id) => !isOpen.has(id))
  })
  if (over.length > 0)
    await inStaging(installation, async (client) => {
      for (const id of over) await dropStaged(client, id)
    })
}

interface Forgotten {
  readonly tenant_id: string
  readonly id: string
}

async function forgetReplaced(installation: Installation, trusted: Date): Promise<void> {
  const due = await installation.transaction(
    worker,
    { readOnly: true },
    ({ tx }) => tx.last<Forgotten[]>`
      select r.tenant_id, r.id from restore r
      where r.undo_until < ${trusted.toISOString()}::timestamptz and r.state in ('DONE', 'UNDONE', 'FAILED')
        and not exists (select from legal_hold h where h.tenant_id = r.tenant_id and h.released_at is null)
      order by r.undo_until limit ${most}`,
  )
  for (const { tenant_id: tenantId, id } of due) {
    for (let removed = batch; removed === batch; )
      removed = await installation.transaction(worker, { tenantId }, async ({ tx }) => {
        const { count } = await tx`
          delete from restore_undo where tenant_id = ${tenantId} and restore_id = ${id} and ctid = any (array(
            select u.ctid from restore_undo u where u.tenant_id = ${tenantId} and u.restore_id = ${id} limit ${batch}))`
        return count
      })
    await installation.transaction(
      worker,
      { tenantId },
      ({ tx }) =>
        tx`update restore set undo_until = null, version = version + 1 where tenant_id = ${tenantId} and id = ${id}`,
    )
  }
}
