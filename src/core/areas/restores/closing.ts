/**
 * Closes a workspace while its rows are written, and opens it again.
 *
 *    workspace lock (exclusive: waits for its people's changes) ── restoring_at ── commit ──▶ 503 workspace.restoring
 *    … ──▶ one transaction: tallies counted, cursors gone, documents made anew, the act told, restoring_at null
 *
 * The other workspaces notice nothing of either. A worker that was killed leaves the workspace closed; the job goes on within a
 * minute. Spec: Keeping, 3 (In use).
 */
import type { RestoreChanges } from '../../contract/backup/restores.ts'
import { refuse } from '../../contract/problem.ts'
import { asPurgeOf, asTenant } from '../../kernel/database/roles.ts'
import { closeWorkspace } from '../../kernel/transaction/admission.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { tellAdministrators } from '../mail/jobs.ts'
import type { MailName } from '../mail/kinds.ts'
import { rebuildIndex } from '../search/reindex.ts'
import { longSeconds } from './difference.ts'
import type { RestoreWork } from './work.ts'

/** Longer than a change of people may take. */
const patienceSeconds = 30

/** Closes it; one that is closed stays so. Refuses not_found, admin.tenant_leaving. */
export async function close({ installation, job, tenantId }: RestoreWork): Promise<void> {
  await installation.transaction(job.actor, {}, async ({ tx }) => {
    await tx.patience(patienceSeconds)
    await closeWorkspace(tx, tenantId)
    const [tenant] = await tx<{ state: string; restoring_at: string | null }[]>`
      select state, restoring_at from tenant where id = ${tenantId} for update`
    if (!tenant) refuse('not_found')
    // One that is closed already is written to its end, whatever was asked since.
    if (tenant.state === 'PENDING_DELETION' && tenant.restoring_at === null) refuse('admin.tenant_leaving')
    await tx`update tenant set restoring_at = coalesce(restoring_at, now()) where id = ${tenantId}`
  })
}

export const isClosed = ({ installation, job, tenantId }: RestoreWork): Promise<boolean> =>
  installation.transaction(job.actor, { readOnly: true }, async ({ tx }) => {
    const [tenant] = await tx.last`select from tenant where id = ${tenantId} and restoring_at is not null`
    return tenant !== undefined
  })

/** What is derived from the rows, made anew: in the workspace's role, in the transaction that opens. */
export async function recount(ctx: Ctx, tenantId: string): Promise<void> {
  const { tx } = ctx
  await tx.patience(longSeconds)
  void tx`delete from bucket_tally where tenant_id = ${tenantId}`
  void tx`
    insert into bucket_tally (tenant_id, bucket_id, items)
    select i.tenant_id, i.bucket_id, count(*) from item i
    where i.tenant_id = ${tenantId} and i.bucket_id is not null and i.deleted_at is null and i.archived_at is null
    group by i.tenant_id, i.bucket_id`
  void tx`
    insert into item_tally (tenant_id, items)
    select ${tenantId}, count(*) from item i where i.tenant_id = ${tenantId} and i.deleted_at is null
      and i.container_id not in (select c.id from container c where c.tenant_id = ${tenantId} and c.purged_at is not null)
    on conflict (tenant_id) do update set items = excluded.items`
  void tx`
    insert into media_tally (tenant_id, bytes)
    select ${tenantId}, coalesce(sum(m.size_bytes), 0) from media m
    where m.tenant_id = ${tenantId} and m.state <> 'REFUSED' and m.withheld_at is null
    on conflict (tenant_id) do update set bytes = excluded.bytes`
  // What is carried by nothing waits for the sweep from now on.
  const isCarried = tx.part`exists (
    select from media_reference r where r.tenant_id = ${tenantId} and r.media_id = m.id)`
  void tx`
    update media m set loose_since = null
    where m.tenant_id = ${tenantId} and m.withheld_at is null and m.loose_since is not null and ${isCarried}`
  void tx`
    update media m set loose_since = now()
    where m.tenant_id = ${tenantId} and m.withheld_at is null and m.loose_since is null and not ${isCarried}`
  await rebuildIndex(ctx, tenantId)
}

/**
 * Cursors of before are gone, also those that had come to the end: a number is taken that no event has. What this transaction
 * tells comes behind it. Spec: Keeping, 7 (410 gone).
 */
export async function endCursors({ tx }: Ctx, tenantId: string, least = 0): Promise<void> {
  const [counter] = await tx<{ last: string }[]>`
    insert into outbox_counter as c (tenant_id, last) values (${tenantId}, ${least + 1})
    on conflict (tenant_id) do update set last = greatest(c.last, ${least}) + 1 returning last::text`
  void tx.switch(asPurgeOf(tenantId))
  void tx`
    insert into outbox_watermark as w (tenant_id, tx, seq) values (${tenantId}, '9223372036854775807', ${counter?.last ?? '0'}::bigint)
    on conflict (tenant_id) do update set tx = excluded.tx, seq = excluded.seq, moved_at = excluded.moved_at
    where (w.tx, w.seq) < (excluded.tx, excluded.seq)`
  await tx.switch(asTenant(tenantId))
}

export interface Told {
  readonly action: 'tenant.restored' | 'tenant.rewound' | 'tenant.rewind_undone'
  readonly mail: MailName
  readonly snapshotAt: string
  readonly counts: RestoreChanges
}

/** Opens the workspace, and tells the act once: in the trail, the journal, one event and a mail. In the workspace's role. */
export async function open(
  ctx: Ctx,
  { tenantId, restoreId }: Pick<RestoreWork, 'tenantId' | 'restoreId'>,
  { action, mail, snapshotAt, counts }: Told,
): Promise<{ closedSeconds: number }> {
  const tenant = await ctx.asInstallation(async () => {
    const [row] = await ctx.tx<{ slug: string; closed_seconds: number }[]>`
      select slug, coalesce(round(date_part('epoch', clock_timestamp() - restoring_at)::numeric * 1000) / 1000, 0)::float8 as closed_seconds
      from tenant where id = ${tenantId} for update`
    await ctx.tx`update tenant set restoring_at = null where id = ${tenantId}`
    return row
  })
  if (!tenant) throw new Error('a workspace that is restored is there')
  const { slug, closed_seconds: closedSeconds } = tenant
  const evidence = {
    subject: { kind: 'restore', id: restoreId },
    params: { snapshot_at: snapshotAt, ...counts },
  }
  await ctx.asInstallation(() => ctx.journal(action, { id: tenantId, slug }, evidence))
  const noticeId = await ctx.audit(action, evidence)
  await ctx.emit({
    name: 'work.tenant.restored',
    data: { id: tenantId, slug, restore_id: restoreId, snapshot_at: snapshotAt, counts },
  })
  await ctx.enqueue(tellAdministrators, { tenantId, noticeId, name: mail, at: await ctx.now() })
  return { closedSeconds }
}
