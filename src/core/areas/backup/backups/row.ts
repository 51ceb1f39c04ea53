/**
 * The row of a backup, and what keeps it.
 *
 *    QUEUED ──claim──▶ RUNNING ──▶ COMPLETE ──its archive is gone──▶ MISSING
 *       │                 └──────▶ FAILED
 *    COMPLETE, FAILED, MISSING ──a person, or a rule of keeping──▶ REMOVING ──the target obeys──▶ no row
 *
 * The newest good backup of a workspace stays whatever is asked or ruled, and so do all while a legal hold is in force. Whatever
 * decides which of them goes, or makes one good or bad, holds the workspace's lock of backups.
 */
import type { Backup, KeptBy } from '../../../contract/backup/backups.ts'
import { refuse, refuseMember } from '../../../contract/problem.ts'
import { lockClasses } from '../../../kernel/database/lock-classes.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { actsForInstallation } from '../../../kernel/values/actor.ts'

export interface BackupRow extends Omit<Backup, 'kept_by'> {
  readonly is_by_hand: boolean
  readonly is_held: boolean
  readonly is_newest_good: boolean
  /** The rules of its schedule that keep it, as they said last. */
  readonly ruled_by: KeptBy[]
}

/** The columns of an answer, of `backup b`. */
export const backupColumns = ({ tx }: Pick<Ctx, 'tx'>): Part => tx.part`
  b.id, b.tenant_id, b.target_id, b.path, b.schedule_id, b.job_id, b.state, b.snapshot_at, b.row_count as rows, b.size_bytes,
  b.recipients, b.verified, b.kept_until, b.failure, b.created_at, b.version,
  (b.schedule_id is null or b.is_orphaned) and coalesce(b.kept_until > now(), true) as is_by_hand, b.ruled_by,
  exists (select from legal_hold h where h.tenant_id = b.tenant_id and h.released_at is null) as is_held,
  b.id is not distinct from (
    select n.id from backup n where n.tenant_id = b.tenant_id and n.state = 'COMPLETE' and not n.is_damaged
    order by n.id desc limit 1) as is_newest_good`

export const backupOf = ({ is_by_hand, is_held, is_newest_good, ruled_by, ...row }: BackupRow): Backup => ({
  ...row,
  kept_by: row.state === 'REMOVING' ? [] : [...ruled_by, ...keptBy({ is_by_hand, is_held, is_newest_good })],
})

const keptBy = (row: Pick<BackupRow, 'is_by_hand' | 'is_held' | 'is_newest_good'>): KeptBy[] => [
  ...(row.is_newest_good ? (['NEWEST_GOOD'] as const) : []),
  ...(row.is_held ? (['HOLD'] as const) : []),
  ...(row.is_by_hand ? (['HAND'] as const) : []),
]

/** The backups that the caller may name. */
export const isVisible = (ctx: Ctx): Part =>
  actsForInstallation(ctx.actor) ? ctx.tx.part`true` : ctx.tx.part`b.tenant_id = ${ctx.account.tenantId}`

/** The workspace that a body means: an operator names it, for others it is their own. Refuses request.invalid. */
export function workspaceMeant(ctx: Ctx, named: string | undefined): string {
  if (actsForInstallation(ctx.actor)) return named ?? refuseMember('/tenant_id', 'member.required')
  const { tenantId } = ctx.account
  return named === undefined || named === tenantId ? tenantId : refuseMember('/tenant_id', 'reference.unknown')
}

interface TenantRow {
  readonly id: string
  readonly slug: string
  readonly purge_started_at: string | null
}

/**
 * The workspace's row. An operator's call locks it, as placing a hold does: the later of both sees the earlier. A workspace's own
 * call holds its shared lock already. Refuses not_found.
 */
export async function openWorkspace(ctx: Ctx, tenantId: string): Promise<TenantRow> {
  const locked = actsForInstallation(ctx.actor) ? ctx.tx.part`for update` : ctx.tx.part``
  const [tenant] = await ctx.tx<TenantRow[]>`
    select id, slug, purge_started_at from tenant where id = ${tenantId} ${locked}`
  return tenant ?? refuse('not_found')
}

/** The workspace of a backup, which an operator names by its id alone. Refuses not_found. */
export async function workspaceOfBackup(ctx: Ctx, backupId: string): Promise<TenantRow> {
  const [found] = await ctx.tx<{ tenant_id: string }[]>`
    select b.tenant_id from backup b where ${isVisible(ctx)} and b.id = ${backupId}`
  return found ? openWorkspace(ctx, found.tenant_id) : refuse('not_found')
}

/** Until the end of the transaction, nobody else decides what becomes of the workspace's backups. */
export const lockBackups = ({ tx }: Pick<Ctx, 'tx'>, tenantId: string) =>
  tx`select pg_advisory_xact_lock(${lockClasses.backups}, hashtext(${tenantId}))`
