/**
 * Erasures, repeated on what lies in staging: an erased person never comes back.
 *
 *    ledgers of this host ─┐
 *    erasures.json         ├──▶ the accounts that were erased ──▶ eraseStaged, before any row is compared or written
 *    the workspace's rows ─┘
 *
 * Also those whose outcome the ledger does not have. Every restore and every undo goes through `eraseStaged`, once before the
 * workspace is closed and once behind it, for whoever was erased between. What an erasure removes, areas/erasure says.
 * Spec: Keeping, 1 (The ledger), 2 and 3.
 */
import type { RestoreMode } from '../../contract/backup/restores.ts'
import { isObligationOf } from '../../contract/obligation.ts'
import { Choices } from '../../contract/privacy/requests.ts'
import { Json, type Part, statementOf } from '../../kernel/database/statement.ts'
import { readLedger } from '../../kernel/ledger/ledger.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { type StagedColumns, stagedRows } from '../backup/loading/staging.ts'
import { choicesOf, type Erased } from '../erasure/reading.ts'
import { raw } from '../erasure/rules.ts'
import { applyErasures, type Staged } from '../erasure/staging.ts'
import { pulledFiles } from '../recovery/ledger/ledger-pull.ts'

/** What the ledgers say that a restore must not undo. */
export interface LedgerFacts {
  /** The erased accounts of a workspace, in the order of their ids. */
  erased(tenantId: string): readonly Erased[]
  /** Whether it was purged. */
  isPurged(tenantId: string): boolean
  /** Whether a legal hold was ever placed in it. */
  wasHeld(tenantId: string): boolean
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
  const found = new Map<string, Erased[]>()
  const purged = new Set<string>()
  const held = new Set<string>()
  for (const { mac, act, at } of ledgers.flatMap(({ obligations }) => obligations)) {
    if (voided.has(mac)) continue
    if (act.act === 'workspace.purged') purged.add(act.tenant_id)
    if (act.act === 'hold.placed') held.add(act.tenant_id)
    if (!isObligationOf('erasures', act)) continue
    const erased = { accountId: act.account_id, at, choices: choicesOf(act) }
    const ofTenant = found.get(act.tenant_id)
    if (ofTenant) ofTenant.push(erased)
    else found.set(act.tenant_id, [erased])
  }
  return {
    erased: (tenantId) => onceEach(found.get(tenantId) ?? []),
    isPurged: (tenantId) => purged.has(tenantId),
    wasHeld: (tenantId) => held.has(tenantId),
  }
}

/** Of an account that is there more than once, the last. In the order of ids. */
const onceEach = (erased: readonly Erased[]): readonly Erased[] =>
  [...new Map(erased.map((one) => [one.accountId, one])).values()].sort((a, b) => (a.accountId < b.accountId ? -1 : 1))

/** What tells who is erased, besides the database. */
interface Erasing {
  readonly tenantId: string
  readonly restoreId: string
  readonly facts: LedgerFacts
  readonly row: {
    readonly mode: RestoreMode
    readonly source_tenant_id: string
    readonly erased: readonly KeptErased[]
  }
}

/** Everybody of the source who is erased, as far as is known now. In the workspace's role. */
export async function erasedOf(
  { tx }: Ctx,
  { tenantId, facts, row }: Omit<Erasing, 'restoreId'>,
): Promise<readonly Erased[]> {
  const rows = await tx<{ account_id: string; began_at: string; choices: unknown }[]>`
    select account_id, began_at, choices from erasure where tenant_id = ${tenantId} and account_id is not null`
  const own = rows.map(({ account_id, began_at, choices }) => ({
    accountId: account_id,
    at: began_at,
    choices: Choices.parse(choices),
  }))
  // The workspace that a NEW becomes has erased nobody of the source.
  const ofDatabase = row.mode === 'NEW' ? [] : own
  return onceEach([...row.erased.map(asErased), ...ofDatabase, ...facts.erased(row.source_tenant_id)])
}

export interface KeptErased extends Pick<Erased, 'at'> {
  readonly account_id: string
  readonly choices: unknown
}

/** As the row of the restore keeps what its target lists. */
export const keptErased = ({ accountId, at, choices }: Erased): KeptErased => ({ account_id: accountId, at, choices })
const asErased = ({ account_id, at, choices }: KeptErased): Erased => ({
  accountId: account_id,
  at,
  choices: Choices.parse(choices),
})

/**
 * Repeats erasures on the staged rows of a restore, in the workspace's role. `staged`: the tables that lie there, with their
 * columns. `isHeld`: what goes is copied into the staged copies of what holds keep, if these lie there.
 */
export async function eraseStaged(
  { tx }: Ctx,
  { tenantId, restoreId }: Pick<Erasing, 'tenantId' | 'restoreId'>,
  staged: StagedColumns,
  erased: readonly Erased[],
  isHeld = false,
): Promise<void> {
  const place: Staged = {
    tenantId,
    table: (name) => raw(stagedRows(restoreId, name)),
    shape: new Map(Object.entries(staged).filter(([, columns]) => columns.length > 0)),
    ask: async <Row extends object>(statement: Part) => {
      const { text, values } = statementOf(['', ''], [statement])
      return [
        ...(await tx.text<Row[]>(
          text,
          values.map((value) => (value instanceof Json ? value.text : value)),
        )),
      ]
    },
  }
  await applyErasures(place, erased, { isHeld: () => isHeld })
}

/** Behind the closing of the workspace: those who were erased since `before`. Nobody is while it is closed. */
export async function eraseSince(
  ctx: Ctx,
  work: Erasing,
  staged: StagedColumns,
  before: readonly Erased[],
): Promise<void> {
  const known = new Set(before.map(({ accountId }) => accountId))
  const since = (await erasedOf(ctx, work)).filter(({ accountId }) => !known.has(accountId))
  await eraseStaged(ctx, work, staged, since)
}
