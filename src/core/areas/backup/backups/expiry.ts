/**
 * Backups that were wanted for some days only, when these are over.
 *
 * A deadline counts once both clocks have seen it past for a while (areas/items/trusted-time.ts). A backup that is whole goes only
 * after a newer one was read back and found good: where every backup fails for a year, none goes. One that never became whole
 * counts for nothing and goes by its deadline alone. Spec: Keeping, 1 (Clocks) and 3 (Keeping).
 */
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import type { SystemActor } from '../../../kernel/values/actor.ts'
import { record } from './evidence.ts'
import { lockBackups } from './row.ts'

/** Of one run; the next one goes on. */
const most = 100

interface Expired {
  readonly tenant_id: string
  readonly id: string
  readonly target_id: string
}

/** What may go at this time, of `backup b`. */
const isOver = ({ tx }: Pick<Ctx, 'tx'>, now: string) => tx.part`
  b.kept_until < ${now}::timestamptz and b.state in ('COMPLETE', 'FAILED', 'MISSING')
  and not exists (select from legal_hold h where h.tenant_id = b.tenant_id and h.released_at is null)
  and (b.state <> 'COMPLETE' or exists (
    select from backup n
    where n.tenant_id = b.tenant_id and n.id > b.id and n.state = 'COMPLETE' and not n.is_damaged and n.proven_at is not null))`

/** Marks them; removal.ts takes the archives. `trusted` is a time that may destroy. */
export async function expireBackups(installation: Installation, worker: SystemActor, trusted: Date): Promise<void> {
  const now = trusted.toISOString()
  const found = await installation.transaction(
    worker,
    { readOnly: true },
    (ctx) => ctx.tx.last<Expired[]>`
      select b.tenant_id, b.id, b.target_id from backup b where ${isOver(ctx, now)} order by b.kept_until limit ${most}`,
  )
  for (const { tenant_id: tenantId, id, target_id: targetId } of found)
    await installation.transaction(worker, { tenantId }, async (ctx) => {
      void lockBackups(ctx, tenantId)
      const gone = await ctx.tx`
        update backup b set state = 'REMOVING', version = b.version + 1
        where b.tenant_id = ${tenantId} and b.id = ${id} and ${isOver(ctx, now)}`
      if (gone.count === 0) return
      const [tenant] = await ctx.tx<{ id: string; slug: string }[]>`select id, slug from tenant where id = ${tenantId}`
      if (tenant) await record(ctx, tenant, 'tenant.backup_removed', { id, targetId })
    })
}
