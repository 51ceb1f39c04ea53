/**
 * Reconciliation: the ledgers against the database, and what has to be done again.
 *
 *    plan ──▶ steps, each one possible now or hindered (and by what)
 *    apply ─▶ holds, operators added, operators removed, departures, tokens, purges (apply.ts)
 *
 * Every step is one that has happened before; nothing is decided anew. What is there already
 * is no step, so a second run finds none, but for those that stay hindered: they are
 * findings of `svc recovery check`. Ours: The obligation ledger; T-46.
 */

import { type LedgerContents, readLedger } from '../../kernel/ledger/ledger.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { type DesiredState, desiredStateOf } from './desired-state.ts'
import { pulledFiles } from './ledger/ledger-pull.ts'

export type Hindrance =
  /** The workspace was made in the rewound period and is gone with it. */
  | 'workspace_lost'
  | 'account_lost'
  | 'account_not_active'
  /** A hold in force is stronger than a purge. */
  | 'held'
  /** Nobody would be left in the register. */
  | 'last_operator'
  /** The workspace would be left without an OWNER who can sign in. */
  | 'last_owner'
  /** Nobody knows whether the purge had ended. */
  | 'uncertain'

export interface Step {
  readonly what: 'hold.place' | 'operator.add' | 'operator.remove' | 'account.leave' | 'token.revoke' | 'purge.repeat'
  readonly tenant_id: string
  /** The hold's, account's, token's or workspace's. */
  readonly id: string
  readonly hindered_by: Hindrance | null
  /** The ledger does not know whether it had happened; it is done because it protects. */
  readonly is_uncertain: boolean
}

export interface LedgerState {
  readonly desired: DesiredState
  readonly faults: readonly { readonly file: string; readonly fault: string }[]
  readonly lines: number
  readonly unsettled: number
  /** How far each ledger was read: the mac of its first line, and the number of the last that is believed. */
  readonly read: readonly { readonly lineage: string; readonly last: number }[]
}

interface Reading {
  /** Ledgers of other hosts, or copies. */
  readonly others?: readonly string[]
  /** Only lines written after this moment. */
  readonly since?: string | null
}

/** The ledger of this host, those that were taken from a target, and others where they are given. */
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

/** A copy has the lines of its ledger once more, and perhaps without their outcome; each counts once, and an outcome that any of them knows counts. */
function linesOf(ledgers: readonly LedgerContents[], since: string | null) {
  const voided = new Set(ledgers.flatMap((ledger) => [...ledger.voided]))
  const lines = new Map<string, LedgerContents['obligations'][number]>()
  for (const line of ledgers.flatMap(({ obligations }) => obligations)) {
    if (voided.has(line.mac) || (since !== null && line.at <= since)) continue
    if (line.isSettled || !lines.has(line.mac)) lines.set(line.mac, line)
  }
  return [...lines.values()]
}

const batch = 500

async function* batches<T>(all: Iterable<T>): AsyncGenerator<T[]> {
  const rest = [...all]
  while (rest.length > 0) yield rest.splice(0, batch)
}

const system = { kind: 'SYSTEM', job: 'reconcile' } as const

const read = <T>(installation: Installation, work: (ctx: Ctx) => Promise<T>) =>
  installation.transaction(system, { readOnly: true }, work)

/** What the ledgers want and the database lacks. Changes nothing. */
export async function planReconciliation(installation: Installation, desired: DesiredState): Promise<readonly Step[]> {
  const { present, certified } = await presentTenants(installation, desired)
  const holds = await holdSteps(installation, desired, present, certified)
  const toBeHeld = new Set(holds.map((step) => step.tenant_id))
  return [
    ...holds,
    ...(await operatorSteps(installation, desired)),
    ...(await departureSteps(installation, desired)),
    ...(await tokenSteps(installation, desired)),
    ...(await purgeSteps(installation, desired, present, toBeHeld)),
  ]
}

async function presentTenants(installation: Installation, { holds, purged, perhapsPurged }: DesiredState) {
  const named = new Set([...[...holds.values()].map(({ tenantId }) => tenantId), ...purged, ...perhapsPurged])
  const present = new Set<string>()
  const certified = new Set<string>()
  for await (const ids of batches(named)) {
    const [there, gone] = await read(installation, ({ tx }) =>
      Promise.all([
        tx<{ id: string }[]>`select id from tenant where id in ${tx.list(ids)}`,
        tx<{ id: string }[]>`select workspace_id as id from purge_certificate where workspace_id in ${tx.list(ids)}`,
      ]),
    )
    for (const { id } of there) present.add(id)
    for (const { id } of gone) certified.add(id)
  }
  return { present, certified }
}

/** A workspace with a purge certificate was purged, whichever host's ledger says so. */
async function holdSteps(
  installation: Installation,
  desired: DesiredState,
  present: ReadonlySet<string>,
  certified: ReadonlySet<string>,
): Promise<Step[]> {
  const steps: Step[] = []
  for await (const holds of batches(desired.holds.values())) {
    const rows = await read(
      installation,
      ({ tx }) =>
        tx<
          { tenant_id: string; id: string }[]
        >`select tenant_id, id from legal_hold where id in ${tx.list(holds.map(({ id }) => id))}`,
    )
    const there = new Set(rows.map(({ id }) => id))
    for (const { id, tenantId, isCertain } of holds) {
      const isGoneForGood = !present.has(tenantId) && (desired.purged.has(tenantId) || certified.has(tenantId))
      if (there.has(id) || isGoneForGood) continue
      steps.push({
        what: 'hold.place',
        tenant_id: tenantId,
        id,
        hindered_by: present.has(tenantId) ? null : 'workspace_lost',
        is_uncertain: !isCertain,
      })
    }
  }
  return steps
}

interface RegisterRow {
  readonly account_id: string
  readonly added_at: string
}

async function operatorSteps(installation: Installation, { operators, purged }: DesiredState): Promise<Step[]> {
  const register = await read(installation, ({ tx }) => tx<RegisterRow[]>`select account_id, added_at from operator`)
  const addedAt = new Map(register.map(({ account_id, added_at }) => [account_id, added_at]))
  const toAdd: Step[] = []
  const toRemove: Step[] = []
  for (const [id, { tenantId, isRegistered, at, isCertain }] of operators) {
    const since = addedAt.get(id)
    if (isRegistered === (since !== undefined)) continue
    const step = { tenant_id: tenantId, id, is_uncertain: !isCertain }
    if (isRegistered) {
      const hindered = await hindranceToAdding(installation, tenantId, id, at)
      if (hindered === 'elsewhere' || (hindered === 'account_lost' && purged.has(tenantId))) continue
      toAdd.push({ ...step, what: 'operator.add', hindered_by: hindered })
    } else if (since !== undefined && Date.parse(since) <= Date.parse(at)) {
      toRemove.push({ ...step, what: 'operator.remove', hindered_by: null })
    }
  }
  const left = register.length + toAdd.filter(({ hindered_by }) => hindered_by === null).length
  const spared = toRemove.length >= left ? toRemove.at(-1) : undefined
  return [
    ...toAdd,
    ...toRemove.map((step) => (step === spared ? { ...step, hindered_by: 'last_operator' as const } : step)),
  ]
}

/** `elsewhere`: the journal knows of a later removal, from a host whose ledger is not here. */
async function hindranceToAdding(
  installation: Installation,
  tenantId: string,
  id: string,
  at: string,
): Promise<Hindrance | 'elsewhere' | null> {
  const [found] = await read(
    installation,
    ({ tx }) => tx<{ state: string | null; is_removed: boolean }[]>`
      select (select state from account where tenant_id = ${tenantId} and id = ${id}) as state,
             exists (select from journal where action = 'operator.removed' and subject_id = ${id} and at > ${at}::timestamptz) as is_removed`,
  )
  if (found?.is_removed) return 'elsewhere'
  if (!found?.state) return 'account_lost'
  return found.state === 'ACTIVE' ? null : 'account_not_active'
}

/** Its credentials ended with its last role, in one transaction: where the role is back, so are they. */
async function departureSteps(installation: Installation, { left }: DesiredState): Promise<Step[]> {
  const steps: Step[] = []
  for await (const departures of batches(left)) {
    const ids = departures.map(([id]) => id)
    const tenantIds = [...new Set(departures.map(([, { tenantId }]) => tenantId))]
    const held = await read(
      installation,
      ({ tx }) => tx<{ account_id: string; since: string }[]>`
        select account_id, min(created_at) as since from membership
        where tenant_id in ${tx.list(tenantIds)} and account_id in ${tx.list(ids)} group by account_id`,
    )
    for (const { account_id: id, since } of held) {
      const departure = left.get(id)
      if (!departure || Date.parse(since) > Date.parse(departure.at)) continue
      const { tenantId, isCertain } = departure
      steps.push({ what: 'account.leave', tenant_id: tenantId, id, hindered_by: null, is_uncertain: !isCertain })
    }
  }
  return steps
}

async function tokenSteps(installation: Installation, { revoked }: DesiredState): Promise<Step[]> {
  const steps: Step[] = []
  for await (const tokens of batches(revoked)) {
    const tenantIds = [...new Set(tokens.map(([, { tenantId }]) => tenantId))]
    const alive = await read(
      installation,
      ({ tx }) => tx<{ tenant_id: string; id: string }[]>`
        select tenant_id, id from credential
        where tenant_id in ${tx.list(tenantIds)} and id in ${tx.list(tokens.map(([id]) => id))}
          and kind in ('PERSONAL', 'SERVICE') and revoked_at is null`,
    )
    for (const { tenant_id, id } of alive)
      steps.push({
        what: 'token.revoke',
        tenant_id,
        id,
        hindered_by: null,
        is_uncertain: revoked.get(id)?.isCertain === false,
      })
  }
  return steps
}

async function purgeSteps(
  installation: Installation,
  { purged, perhapsPurged }: DesiredState,
  present: ReadonlySet<string>,
  toBeHeld: ReadonlySet<string>,
): Promise<Step[]> {
  const steps: Step[] = []
  for (const tenantId of [...purged, ...perhapsPurged]) {
    if (!present.has(tenantId)) continue
    const [found] = await read(
      installation,
      ({ tx }) => tx<{ is_held: boolean }[]>`
        select exists (select from legal_hold h where h.tenant_id = t.id and h.released_at is null) as is_held
        from tenant t where id = ${tenantId}`,
    )
    const isHeld = found?.is_held === true || toBeHeld.has(tenantId)
    steps.push({
      what: 'purge.repeat',
      tenant_id: tenantId,
      id: tenantId,
      hindered_by: purged.has(tenantId) ? (isHeld ? 'held' : null) : 'uncertain',
      is_uncertain: !purged.has(tenantId),
    })
  }
  return steps
}
