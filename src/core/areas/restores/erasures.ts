/**
 * Erasures, repeated on what lies in staging: an erased person never comes back.
 *
 *    ledger ──▶ the accounts that were erased ──▶ applyErasures, before any row is compared or written
 *
 * Also those whose outcome the ledger does not have. Every restore goes through `applyErasures`, and no row of an archive reaches a
 * workspace before it: whoever changes what an erasure removes, changes it here. Spec: Keeping, 1 (The ledger), 2 and 3.
 */
import { readLedger } from '../../kernel/ledger/ledger.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { type StagedColumns, stagedRows } from '../backup/loading/staging.ts'
import { pulledFiles } from '../recovery/ledger/ledger-pull.ts'
import type { RestorePlace } from './difference.ts'
import { quoted } from './sql.ts'

/** An erasure as the ledger has it: `act` has its choices. */
export interface Erased {
  readonly accountId: string
  readonly act: Readonly<Record<string, unknown>>
}

/** What the ledgers say that a restore must not undo. */
export interface LedgerFacts {
  /** The erased accounts of a workspace, in the order of their ids. */
  erased(tenantId: string): readonly Erased[]
  /** Whether it was purged. */
  isPurged(tenantId: string): boolean
}

/** The ledger cannot be read to its end, so nobody knows who was erased. */
export class LedgerFault extends Error {
  override readonly name = 'LedgerFault'
}

/**
 * Reads the ledger of this host, and those that were pulled from targets. Throws LedgerFault where `isDemanded` and one of them is
 * not whole: then nothing of an archive may be written.
 */
export async function readFacts(
  { ledger, keyring, config }: Installation,
  { isDemanded = false } = {},
): Promise<LedgerFacts> {
  const files = [...new Set([ledger.file, ...(await pulledFiles(config))])]
  const ledgers = await Promise.all(files.map((file) => readLedger(file, keyring)))
  const fault = ledgers.find((one) => one.fault !== undefined)?.fault
  if (isDemanded && fault !== undefined) throw new LedgerFault(fault)
  const voided = new Set(ledgers.flatMap((one) => [...one.voided]))
  const found = new Map<string, Map<string, Erased>>()
  const purged = new Set<string>()
  for (const { mac, act } of ledgers.flatMap(({ obligations }) => obligations)) {
    if (voided.has(mac)) continue
    if (act.act === 'workspace.purged') purged.add(act.tenant_id)
    const erased = erasedBy(act)
    if (!erased) continue
    const ofTenant = found.get(erased.tenantId) ?? new Map<string, Erased>()
    found.set(erased.tenantId, ofTenant.set(erased.accountId, erased))
  }
  return {
    erased: (tenantId) =>
      [...(found.get(tenantId)?.values() ?? [])].sort((a, b) => (a.accountId < b.accountId ? -1 : 1)),
    isPurged: (tenantId) => purged.has(tenantId),
  }
}

function erasedBy(act: Readonly<Record<string, unknown>>): (Erased & { readonly tenantId: string }) | undefined {
  if (act['act'] !== 'account.erased') return undefined
  return { tenantId: String(act['tenant_id']), accountId: String(act['account_id']), act }
}

/** Tables of which every row of the account goes, by the column that names it. */
const removedBy: Readonly<Record<string, string>> = {
  account_address: 'account_id',
  account_preference: 'account_id',
  notification_preference: 'account_id',
  connected_identity: 'account_id',
  second_factor: 'account_id',
  recovery_code: 'account_id',
  password_history: 'account_id',
  group_member: 'account_id',
  membership: 'account_id',
  item_member: 'account_id',
  comment_reaction: 'account_id',
}

/** What of an account is emptied where staging has it. */
const emptied = ['email', 'email_fold', 'display_name', 'password_hash', 'external_id', 'sign_in_name']

/**
 * Repeats erasures on the staged rows of a restore, in the workspace's role. `staged`: the tables that lie there, with their
 * columns. The rows of a rewind have no accounts among them: those of the workspace stay as they are.
 */
export async function applyErasures(
  { tx }: Ctx,
  { tenantId, restoreId }: RestorePlace,
  staged: StagedColumns,
  erased: readonly Erased[],
): Promise<void> {
  const has = (table: string) => (staged[table] ?? []).length > 0
  for (const { accountId } of erased) {
    const values = [tenantId, accountId]
    for (const [table, column] of Object.entries(removedBy))
      if (has(table))
        await tx.text(
          `delete from ${stagedRows(restoreId, table)} s where s.tenant_id = $1 and s.${quoted(column)} = $2`,
          values,
        )
    if (has('item'))
      await tx.text(
        `update ${stagedRows(restoreId, 'item')} s set assignee_id = null where s.tenant_id = $1 and s.assignee_id = $2`,
        values,
      )
    if (has('item_field_value'))
      await tx.text(
        `delete from ${stagedRows(restoreId, 'item_field_value')} s where s.tenant_id = $1 and s.value = to_jsonb($2::text)`,
        values,
      )
    const columns = (staged['account'] ?? []).filter((column) => emptied.includes(column))
    const sets = [`state = 'ERASED'`, ...columns.map((column) => `${quoted(column)} = null`)]
    if (has('account'))
      await tx.text(
        `update ${stagedRows(restoreId, 'account')} s set ${sets.join(', ')}
         where s.tenant_id = $1 and s.id = $2`,
        values,
      )
  }
}
