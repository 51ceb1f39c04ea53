/** The plan of a whole workspace: everything that lies in the archive comes, but for what is named. Spec: Keeping, 3, N19. */
import { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { readArchivePath } from '../../backup/archive-format.ts'
import type { LoadedTable } from '../../backup/loading/shape.ts'
import { type StagedColumns, stagedRows } from '../../backup/loading/staging.ts'
import { longSeconds } from '../difference.ts'
import { erasedOf, eraseStaged } from '../erasures.ts'
import { type LaidOut, type Laying, layOut } from '../laying-out.ts'
import type { PlanFacts } from '../planning.ts'
import { type RestoreWork, step } from '../work.ts'
import { newIds, rewriteIds } from './new-ids.ts'
import { bringsWaysIn, takenOf } from './taken.ts'

/** How the archive of a whole workspace is laid out. */
function ofWhole({ row, restoreId, tenantId }: RestoreWork): Laying {
  const tables = takenOf(row)
  if (row.mode === 'ITSELF') return { tables, compared: () => [] }
  return { tables, compared: () => [], rewrite: rewriteIds(newIds(restoreId, row.source_tenant_id, tenantId)) }
}

/** Where erasures that are repeated put their own row, and what a hold keeps, though the archive has no row of these. */
const ofErasures = ['erasure', 'erasure_held']

/** Lays the archive out, or finds it. Refuses archive.invalid, archive.path_refused, backup.target_failed. */
export async function layOutWhole(work: RestoreWork): Promise<LaidOut> {
  const { shape, staged } = await layOut(work, ofWhole(work))
  const empty = shape.filter(({ table }) => ofErasures.includes(table) && staged[table]?.length === 0)
  const whole = empty.map(({ table, columns }) => [table, columns.map(({ name }) => name)] as const)
  return { shape, staged: { ...staged, ...Object.fromEntries(whole) } }
}

/** Refuses archive.invalid, archive.path_refused, backup.target_failed. */
export async function planWhole(work: RestoreWork): Promise<PlanFacts> {
  const laid = await layOutWhole(work)
  const dropped = await step(work, (ctx) => cleanWhole(ctx, work, laid))
  return step(work, (ctx) => plan(ctx, work, laid, dropped))
}

type Dropped = PlanFacts['dropped']

/** Makes of what lies in staging what the workspace gets; again, it finds nothing to do. */
export async function cleanWhole(ctx: Ctx, work: RestoreWork, { staged }: LaidOut): Promise<Dropped> {
  const { tx } = ctx
  const { tenantId, restoreId, row } = work
  await tx.patience(longSeconds)
  // A NEW has other ids than those that the ledger names.
  const toNew = row.mode === 'NEW' ? newIds(restoreId, row.source_tenant_id, tenantId) : (id: string) => id
  const erased = (await erasedOf(ctx, work)).map(({ accountId, at, choices }) => ({
    ...{ accountId: toNew(accountId), at },
    choices: { ...choices, mentions: choices.mentions.map((one) => ({ ...one, id: toNew(one.id) })) },
  }))
  // Copies that no hold covers go within minutes, as those of any erasure.
  const wasHeld = work.facts.wasHeld(row.source_tenant_id) || (await hasHolds(ctx, work, staged))
  await eraseStaged(ctx, work, staged, erased, wasHeld)
  const dropped: Dropped = []
  const note = (what: string, count: number, why: string) => {
    if (count > 0) dropped.push({ what, count, why })
  }
  note('media', await leaveUnfinished(ctx, work, staged), 'media.unfinished')
  note('sealed_values', await leaveSealed(ctx, work, staged), 'key.missing')
  const has = (table: string) => (staged[table] ?? []).length > 0
  const rows = (table: string) => new Part([stagedRows(restoreId, table)], [], false)
  if (has('webhook'))
    await tx`update ${rows('webhook')} s set state = 'PAUSED' where s.tenant_id = ${tenantId} and s.state = 'ACTIVE'`
  if (has('account') && !bringsWaysIn(row))
    await tx`
      update ${rows('account')} s set password_hash = null, start_password_until = null where s.tenant_id = ${tenantId}`
  if (row.mode === 'NEW') await asNewcomer(ctx, work, staged)
  else if (has('backup')) await asMade(ctx, work, rows('backup'))
  return dropped
}

async function hasHolds({ tx }: Ctx, { tenantId, restoreId }: RestoreWork, staged: StagedColumns): Promise<boolean> {
  if ((staged['legal_hold'] ?? []).length === 0) return false
  const [hold] = await tx`
    select from ${new Part([stagedRows(restoreId, 'legal_hold')], [], false)} s
    where s.tenant_id = ${tenantId} and s.released_at is null limit 1`
  return hold !== undefined
}

/** Files that were not whole when the archive was made: their bytes are nowhere. */
async function leaveUnfinished(
  { tx }: Ctx,
  { tenantId, restoreId }: RestoreWork,
  staged: StagedColumns,
): Promise<number> {
  if ((staged['media'] ?? []).length === 0) return 0
  const media = new Part([stagedRows(restoreId, 'media')], [], false)
  const isUnfinished = tx.part`s.tenant_id = ${tenantId} and s.state in ('UPLOADING', 'SCANNING')`
  if ((staged['media_reference'] ?? []).length > 0) {
    const references = new Part([stagedRows(restoreId, 'media_reference')], [], false)
    await tx`
      delete from ${references} r where r.tenant_id = ${tenantId} and r.media_id in (select s.id from ${media} s where ${isUnfinished})`
  }
  const { count } = await tx`delete from ${media} s where ${isUnfinished}`
  return count
}

/** Secrets that no key of this ring opens. */
async function leaveSealed(ctx: Ctx, { tenantId, restoreId }: RestoreWork, staged: StagedColumns): Promise<number> {
  const { tx, keyring } = ctx
  if ((staged['sealed_value'] ?? []).length === 0) return 0
  const sealed = new Part([stagedRows(restoreId, 'sealed_value')], [], false)
  const keys = await tx<{ key_id: string }[]>`
    select distinct s.key_id from ${sealed} s where s.tenant_id = ${tenantId}`
  const lost = keys.map(({ key_id }) => key_id).filter((keyId) => !keyring.has(keyId))
  const { count } = await tx`delete from ${sealed} s where s.tenant_id = ${tenantId} and s.key_id in ${tx.list(lost)}`
  return count
}

/** In a NEW nothing acts by itself, its owner is the one who is invited, and the trail says that it was imported. */
async function asNewcomer({ tx }: Ctx, work: RestoreWork, staged: StagedColumns): Promise<void> {
  const { tenantId, restoreId, row } = work
  const has = (table: string) => (staged[table] ?? []).length > 0
  const rows = (table: string) => new Part([stagedRows(restoreId, table)], [], false)
  if (has('automation_rule'))
    await tx`update ${rows('automation_rule')} s set enabled = false where s.tenant_id = ${tenantId} and s.enabled`
  if (has('membership'))
    await tx`
      update ${rows('membership')} s set role = 'ADMIN'
      where s.tenant_id = ${tenantId} and s.container_id is null and s.role = 'OWNER'`
  if (has('audit_entry'))
    await tx`
      update ${rows('audit_entry')} s set params = s.params || ${tx.json({ imported_from: row.source_tenant_id })}
      where s.tenant_id = ${tenantId} and not s.params ? 'imported_from'`
  // The holds of a workspace that is there protect it there.
  if (has('legal_hold') && work.isSourcePresent)
    await tx`delete from ${rows('legal_hold')} s where s.tenant_id = ${tenantId}`
}

/** Backups that were being made: the one that this is has been made, others have not. */
async function asMade({ tx }: Ctx, { tenantId, row }: RestoreWork, backups: Part): Promise<void> {
  const jobId = readArchivePath(row.path)?.jobId ?? null
  await tx`
    update ${backups} s set state = 'COMPLETE', path = ${row.path}, snapshot_at = ${row.snapshot_at}
    where s.tenant_id = ${tenantId} and s.job_id = ${jobId} and s.state in ('QUEUED', 'RUNNING')`
  await tx`
    update ${backups} s set state = 'FAILED', failure = 'worker.lost', is_waiting = false
    where s.tenant_id = ${tenantId} and s.state in ('QUEUED', 'RUNNING')`
}

async function plan(ctx: Ctx, work: RestoreWork, { shape, staged }: LaidOut, dropped: Dropped): Promise<PlanFacts> {
  const { tx } = ctx
  const { tenantId, restoreId, row } = work
  const tables = takenOf(row)(shape).filter(({ table }) => staged[table] !== undefined)
  const counted = await Promise.all(tables.map((table) => count(ctx, work, table)))
  const sum = async (table: string, condition: string) => {
    if ((staged[table] ?? []).length === 0) return 0
    const [found] = await tx.text<{ count: number }[]>(
      `select count(*)::int as count from ${stagedRows(restoreId, table)} s where s.tenant_id = $1 and ${condition}`,
      [tenantId],
    )
    return found?.count ?? 0
  }
  return {
    snapshot_at: row.snapshot_at,
    by_entity: Object.fromEntries(counted.filter(([, { comes_back }]) => comes_back > 0)),
    kept: {
      holds: await sum('legal_hold', 's.released_at is null'),
      erasures_repeated: (await erasedOf(ctx, work)).length,
      restrictions: await sum('account_restriction', 'true'),
    },
    dropped,
    over_quota: [],
    people: await sum('account', "s.kind = 'PERSON' and s.state = 'ACTIVE'"),
    closed_seconds: 0,
  }
}

async function count({ tx }: Ctx, { tenantId, restoreId }: RestoreWork, { table, owner, name }: LoadedTable) {
  const [row] = await tx.text<{ count: number }[]>(
    `select count(*)::int as count from ${stagedRows(restoreId, table)} s where s.${owner} = $1`,
    [tenantId],
  )
  return [name, { comes_back: row?.count ?? 0, changes_back: 0, goes_away: 0 }] as const
}
