/**
 * What has to hold before a recovered installation admits traffic again.
 *
 * Every check says `ok` or `finding`, with what to do. A finding has a code, which whoever
 * admits may name to accept it. `note` tells what people should look at and nothing hinders.
 * Nothing is changed.
 *
 * Ours: `svc recovery check`; T-46.
 */

import type { CheckCode } from '../../contract/recovery-checks.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { trySamples } from '../keyring/keyring-check.ts'
import { countByKey } from '../keyring/keyring-use.ts'
import { lookAtGate } from './gate.ts'
import { findUnread } from './ledger/copy-state.ts'
import { type LedgerState, planReconciliation, readLedgers, type Step } from './reconcile.ts'

export interface Check {
  readonly code: CheckCode
  readonly state: 'ok' | 'note' | 'finding'
  readonly says: string
  /** What to do; null where nothing is to be done. */
  readonly remedy: string | null
}

const ok = (code: CheckCode, says: string): Check => ({ code, state: 'ok', says, remedy: null })
const note = (code: CheckCode, says: string, remedy: string): Check => ({ code, state: 'note', says, remedy })
const finding = (code: CheckCode, says: string, remedy: string): Check => ({ code, state: 'finding', says, remedy })

const system = { kind: 'SYSTEM', job: 'recovery_check' } as const

const read = <T>(installation: Installation, work: (ctx: Ctx) => Promise<T>) =>
  installation.transaction(system, { readOnly: true }, work)

/** All checks, in the order of a run-book. */
export async function checkRecovery(installation: Installation, ledgers: readonly string[] = []): Promise<Check[]> {
  const state = await readLedgers(installation, { others: ledgers })
  const steps = await planReconciliation(installation, state.desired)
  const { recovery_point } = await lookAtGate(installation)
  return [
    await checkGate(installation),
    await checkMigrations(installation),
    await checkKeyring(installation),
    checkLedger(installation, state),
    await checkCopies(installation, state),
    checkSteps('holds', ['hold.place'], steps),
    checkSteps('purges', ['purge.repeat'], steps),
    await checkOperators(installation, state, steps, recovery_point),
    await checkTokens(installation, state, steps, recovery_point),
    await checkOutbox(installation),
    await checkJobs(installation),
    await checkClock(installation, recovery_point),
  ]
}

async function checkGate(installation: Installation): Promise<Check> {
  const { gated_at, recovery_point } = await lookAtGate(installation)
  const begin = 'svc recovery begin --recovery-point MOMENT'
  if (gated_at === null) return finding('gate', 'it is open: workspaces are served', begin)
  return recovery_point === null
    ? finding('gate', `closed since ${gated_at}, but nobody has said to which moment was recovered`, begin)
    : ok('gate', `closed since ${gated_at}, recovered to ${recovery_point}`)
}

async function checkMigrations({ address }: Installation): Promise<Check> {
  const { migrationStatus } = await import('../../kernel/database/migrate.ts')
  const { applied, pending, unknown } = await migrationStatus(address)
  if (unknown.length > 0)
    return finding('migrations', `migrated by a newer svc: ${unknown.join(', ')}`, 'Run the newer release.')
  return pending.length > 0
    ? finding('migrations', `${pending.length} pending, the first is ${pending[0]}`, 'svc db migrate')
    : ok('migrations', `${applied.length} applied, none pending`)
}

/** Some values of each key and kind are opened: a ring of the same names and other keys would open none. */
async function checkKeyring(installation: Installation): Promise<Check> {
  const samples = await read(installation, async ({ tx, keyring }) => trySamples(tx, keyring, await countByKey(tx)))
  const closed = samples.filter(({ tried, opened }) => opened < tried)
  return closed.length > 0
    ? finding(
        'keyring',
        `cannot be opened: ${closed.map(({ key_id, kind, tried, opened }) => `${tried - opened} of ${tried} ${kind} under ${key_id}`).join(', ')}`,
        'docs/runbooks/keyring.md',
      )
    : ok('keyring', `opens a value of each of ${samples.length} key(s) and kind(s)`)
}

function checkLedger({ ledger }: Installation, { lines, faults, unsettled }: LedgerState): Check {
  const [fault] = faults
  if (fault)
    return finding(
      'ledger',
      `${fault.file}: ${fault.fault}`,
      'Restore it from its copy; nothing behind that is believed.',
    )
  if (lines === 0)
    return finding(
      'ledger',
      `${ledger.file} has no obligation: it is lost, or there never was one`,
      'Restore it from its copy, or accept.',
    )
  return unsettled > 0
    ? finding(
        'ledger',
        `${unsettled} of ${lines} line(s) have no known outcome`,
        'Those that protect are done; look at the others, then accept.',
      )
    : ok('ledger', `${lines} obligations, whole and settled`)
}

/** A host that is gone has left its ledger at the targets, and nobody else knows what it owed. */
async function checkCopies(installation: Installation, { read: known }: LedgerState): Promise<Check> {
  const { unread, failed } = await findUnread(installation, known)
  const [first] = unread
  if (first)
    return finding(
      'copies',
      `${unread.length} ledger(s) at targets were not read to their end, the first is ${first.lineage} at ${first.name}`,
      `svc recovery ledger pull --from ${first.name}`,
    )
  return failed.length > 0
    ? finding(
        'copies',
        `cannot be asked for ledgers: ${failed.map(({ name, reason }) => `${name} (${reason})`).join(', ')}`,
        'docs/runbooks/backup-targets.md; accept where every host still has its ledger.',
      )
    : ok('copies', 'no target has a line that was not read')
}

const reconcile = 'svc recovery reconcile --apply'

function checkSteps(
  code: 'holds' | 'purges' | 'operators' | 'tokens',
  kinds: readonly Step['what'][],
  steps: readonly Step[],
): Check {
  const open = steps.filter(({ what }) => kinds.includes(what))
  const possible = open.filter(({ hindered_by }) => hindered_by === null)
  if (possible.length > 0) return finding(code, `${possible.length} to be done again`, reconcile)
  if (open.length === 0) return ok(code, 'nothing is to be done again')
  const by = [...new Set(open.map(({ hindered_by }) => hindered_by))].join(', ')
  return finding(
    code,
    `${open.length} cannot be done again (${by})`,
    '`svc recovery reconcile` names them; decide, then accept.',
  )
}

const shown = 5
const listed = (ids: readonly string[]) =>
  `${ids.slice(0, shown).join(', ')}${ids.length > shown ? ` and ${ids.length - shown} more` : ''}`

async function checkOperators(
  installation: Installation,
  { desired }: LedgerState,
  steps: readonly Step[],
  point: string | null,
): Promise<Check> {
  const check = checkSteps('operators', ['operator.add', 'operator.remove'], steps)
  if (check.state === 'finding') return check
  const [register] = await read(
    installation,
    ({ tx }) => tx<{ count: number }[]>`select count(*)::int as count from operator`,
  )
  if (register?.count === 0) return finding('operators', 'the register is empty', 'svc operators add … --recovery')
  const changed = [...desired.operators].filter(([, { at }]) => point !== null && at > point).map(([id]) => id)
  return changed.length === 0
    ? ok('operators', `${register?.count} in the register, none changed after the point`)
    : note(
        'operators',
        `${changed.length} changed after the point: ${listed(changed)}`,
        'svc operators list --recovery',
      )
}

interface TokenRow {
  readonly tenant_id: string
  readonly id: string
}

async function checkTokens(
  installation: Installation,
  { desired }: LedgerState,
  steps: readonly Step[],
  point: string | null,
): Promise<Check> {
  const check = checkSteps('tokens', ['token.revoke'], steps)
  if (check.state === 'finding') return check
  const admins = await read(
    installation,
    ({ tx }) => tx<TokenRow[]>`
      select tenant_id, id from credential
      where kind in ('PERSONAL', 'SERVICE') and revoked_at is null and (expires_at is null or expires_at > now())
        and scopes like '%admin:tenants%' order by id desc`,
  )
  const says = `${admins.length} token(s) reach the installation, ${desired.revoked.size} revocation(s) hold`
  const recent = await read(
    installation,
    ({ tx }) => tx<TokenRow[]>`
      select tenant_id, id from credential
      where kind in ('PERSONAL', 'SERVICE') and revoked_at is null and created_at > ${point}::timestamptz`,
  )
  return recent.length === 0
    ? ok('tokens', says)
    : note('tokens', `${says}; made after the point: ${listed(recent.map(({ id }) => id))}`, 'Is the point right?')
}

/** After a dump was restored elsewhere, events may carry transactions that are still to come: nobody would ever be answered them. */
async function checkOutbox(installation: Installation): Promise<Check> {
  const tenants = await read(installation, ({ tx }) => tx<{ id: string }[]>`select id from tenant order by id`)
  let ahead = 0
  for (let at = 0; at < tenants.length; at += 500) {
    ahead += await read(installation, async (ctx) => {
      let found = 0
      for (const { id } of tenants.slice(at, at + 500)) {
        const [row] = await ctx.inWorkspace(
          id,
          () => ctx.tx<{ is_ahead: boolean }[]>`
            select exists (select from outbox_event where tenant_id = ${id} and tx >= pg_snapshot_xmax(pg_current_snapshot()))
                or exists (select from outbox_watermark where tenant_id = ${id} and tx >= pg_snapshot_xmax(pg_current_snapshot())) as is_ahead`,
        )
        if (row?.is_ahead) found += 1
      }
      return found
    })
  }
  return ahead === 0
    ? ok('outbox', 'no event lies ahead; the epoch changes when traffic is admitted')
    : finding(
        'outbox',
        `events of ${ahead} workspace(s) lie ahead of the database's transactions`,
        'docs/runbooks/moving.md',
      )
}

interface DueRow {
  readonly name: string
  readonly count: number
}

/** What would fire the moment the gate opens; jobs that run by the clock fire anyway. */
async function checkJobs(installation: Installation): Promise<Check> {
  const jobs = await installation.pool.transaction(
    'set local role svc_queue',
    (tx) =>
      tx.text<DueRow[]>(
        `select name, count(*)::int as count from pgboss.job
         where state in ('created', 'retry', 'active') and start_after <= now() and name not like '\\_\\_%'
           and name not in (select name from pgboss.schedule)
         group by name order by name`,
      ),
    { readOnly: true },
  )
  const [purges] = await read(
    installation,
    ({ tx }) => tx<{ count: number }[]>`
      select count(*)::int as count from tenant
      where state = 'PENDING_DELETION' and (purge_after <= now() or purge_started_at is not null)`,
  )
  const due = [
    ...jobs.map(({ name, count }) => `${name} ${count}`),
    ...(purges?.count ? [`purges due ${purges.count}`] : []),
  ]
  return due.length === 0
    ? ok('jobs', 'none would fire at once')
    : finding(
        'jobs',
        `would fire at once: ${due.join(', ')}`,
        '`svc tenants list --state PENDING_DELETION --recovery`; cancel what must not go, then accept.',
      )
}

/** Deadlines go by the database's clock and by ours, so the two must agree. */
const clockToleranceMs = 2_000

async function checkClock(installation: Installation, point: string | null): Promise<Check> {
  const before = Date.now()
  const [row] = await read(
    installation,
    ({ tx }) => tx<{ now: string; newest: string | null }[]>`
      select clock_timestamp() as now, (select at from journal order by id desc limit 1) as newest`,
  )
  const now = Date.parse(row?.now ?? '')
  const apartMs = Math.round(Math.abs(now - (before + Date.now()) / 2))
  const remedy = 'Let both hosts keep their time by NTP.'
  if (apartMs > clockToleranceMs) return finding('clock', `${apartMs} ms apart from the database's`, remedy)
  if (row?.newest && Date.parse(row.newest) > now + clockToleranceMs)
    return finding('clock', `the journal's newest entry is of ${row.newest}, which is still to come`, remedy)
  return point !== null && Date.parse(point) > now
    ? finding('clock', `the recovery point ${point} is still to come`, remedy)
    : ok('clock', `${apartMs} ms apart from the database's`)
}
