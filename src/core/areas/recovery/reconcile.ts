/**
 * Reconciliation: compares the ledgers with the database, and plans what must be repeated.
 *
 *    plan ──▶ steps, each one possible now or hindered (and by what)
 *    apply ─▶ holds, operators added, operators removed, departures, tokens, purges (apply.ts)
 *
 * Every step repeats something that happened before; nothing is decided again. What the
 * database already has needs no step, so a second run finds only the steps that stay
 * hindered. Those are findings of `svc recovery check`.
 *
 * Elsewhere: the desired state and the steps of each obligation (obligations/).
 * Ours: The obligation ledger; T-46.
 */

import { type LedgerContents, readLedger } from '../../kernel/ledger/ledger.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { pulledFiles } from './ledger/ledger-pull.ts'
import { type DesiredState, desiredStateOf, inOrder, obligations } from './obligations/all.ts'
import { batches, type Planning, read, type Step } from './obligations/obligation.ts'

export interface LedgerState {
  readonly desired: DesiredState
  readonly faults: readonly { readonly file: string; readonly fault: string }[]
  readonly lines: number
  readonly unsettled: number
  /** How far each ledger was read: the mac of its first line, and the number of its last valid line. */
  readonly read: readonly { readonly lineage: string; readonly last: number }[]
}

interface Reading {
  /** Ledgers of other hosts, or copies. */
  readonly others?: readonly string[]
  /** Only lines written after this moment. */
  readonly since?: string | null
}

/** Reads the ledger of this host, the ledgers pulled from targets, and the `others`. */
export async function readLedgers(
  installation: Installation,
  { others = [], since = null }: Reading = {},
): Promise<LedgerState> {
  const { ledger, keyring, identity } = installation
  const files = [...new Set([ledger.file, ...(await pulledFiles(installation.config)), ...others])]
  const all = await Promise.all(files.map(async (file) => ({ file, ...(await readLedger(file, keyring)) })))
  const faults = all.flatMap(({ file, fault, installationId }) => {
    if (installationId !== undefined && installationId !== identity.id)
      return [{ file, fault: 'it belongs to another installation' }]
    return fault === undefined ? [] : [{ file, fault }]
  })
  const ours = all.filter(({ installationId }) => installationId === identity.id)
  const lines = linesOf(ours, since)
  return {
    desired: desiredStateOf(lines),
    faults,
    lines: lines.length,
    unsettled: lines.filter(({ isSettled }) => !isSettled).length,
    read: ours.flatMap(({ lineage, last }) => (lineage === undefined ? [] : [{ lineage, last }])),
  }
}

/** Each line counts once, also if copies repeat it. Its outcome is known if any copy has it. */
function linesOf(ledgers: readonly LedgerContents[], since: string | null) {
  const voided = new Set(ledgers.flatMap((ledger) => [...ledger.voided]))
  const lines = new Map<string, LedgerContents['obligations'][number]>()
  for (const line of ledgers.flatMap(({ obligations }) => obligations)) {
    if (voided.has(line.mac) || (since !== null && line.at <= since)) continue
    if (line.isSettled || !lines.has(line.mac)) lines.set(line.mac, line)
  }
  return [...lines.values()]
}

/** Plans the steps from the database's state to the desired state. Changes nothing. */
export async function planReconciliation(installation: Installation, desired: DesiredState): Promise<readonly Step[]> {
  const workspaces = await workspacesOf(installation, desired)
  const plan = <Name extends keyof DesiredState>(name: Name, before: readonly Step[]) =>
    obligations[name].plan({ installation, workspaces, before }, desired[name])
  const steps: Step[] = []
  for (const name of inOrder) steps.push(...(await plan(name, steps)))
  return steps
}

async function workspacesOf(
  installation: Installation,
  { holds, purges: { certain, uncertain } }: DesiredState,
): Promise<Planning['workspaces']> {
  const named = new Set([...[...holds.values()].map(({ tenantId }) => tenantId), ...certain, ...uncertain])
  const present = new Set<string>()
  const certified = new Set<string>()
  for await (const ids of batches(named)) {
    const [there, gone] = await read({ installation }, ({ tx }) =>
      Promise.all([
        tx<{ id: string }[]>`select id from tenant where id in ${tx.list(ids)}`,
        tx<{ id: string }[]>`select workspace_id as id from purge_certificate where workspace_id in ${tx.list(ids)}`,
      ]),
    )
    for (const { id } of there) present.add(id)
    for (const { id } of gone) certified.add(id)
  }
  return { present, purged: certain, certified }
}
