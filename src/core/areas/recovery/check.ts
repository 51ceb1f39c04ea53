/**
 * The conditions under which a recovered installation may admit traffic again.
 *
 * Every check is `ok` or a `finding` with its remedy. A finding has a code; an operator may
 * accept the finding by this code. A `note` is something to look at and does not prevent
 * the admission. The checks change nothing.
 *
 * Ours: `svc recovery check`; T-46.
 */

import { type CheckedObligation, checkedObligations } from '../../contract/recovery-checks.ts'
import { measureClock, noticeableMs } from '../../kernel/database/clock.ts'
import { asQueue } from '../../kernel/database/roles.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { timeNow } from '../../kernel/values/time.ts'
import { trySamples } from '../keyring/keyring-check.ts'
import { countByKey } from '../keyring/keyring-use.ts'
import { type Check, finding, ok } from './finding.ts'
import { lookAtGate } from './gate.ts'
import { findUnread } from './ledger/copy-state.ts'
import { checkMedia } from './media.ts'
import { type DesiredState, obligations, stepsOf } from './obligations/all.ts'
import type { Checking, Step } from './obligations/obligation.ts'
import { type LedgerState, planReconciliation, readLedgers } from './reconcile.ts'

const system = { kind: 'SYSTEM', job: 'recovery_check' } as const

const read = <T>(installation: Installation, work: (ctx: Ctx) => Promise<T>) =>
  installation.transaction(system, { readOnly: true }, work)

/** All checks, in the order of a run-book. */
export async function checkRecovery(installation: Installation, ledgers: readonly string[] = []): Promise<Check[]> {
  const state = await readLedgers(installation, { others: ledgers })
  const steps = await planReconciliation(installation, state.desired)
  const { recovery_point } = await lookAtGate(installation)
  const checking = { installation, recoveryPoint: recovery_point }
  return [
    await checkGate(installation),
    await checkMigrations(installation),
    await checkKeyring(installation),
    checkLedger(installation, state),
    await checkCopies(installation, state),
    ...(await checkObligations(checking, state.desired, steps)),
    await checkMedia(installation),
    await checkOutbox(installation),
    await checkJobs(installation),
    await checkClock(installation, recovery_point),
  ]
}

async function checkGate(installation: Installation): Promise<Check> {
  const { gated_at, recovery_point } = await lookAtGate(installation)
  const begin = 'svc recovery begin --recovery-point MOMENT'
  if (gated_at === null) return finding('gate', 'open: workspaces are served', begin)
  return recovery_point === null
    ? finding('gate', `closed since ${gated_at}, but the recovery point is not known`, begin)
    : ok('gate', `closed since ${gated_at}, recovered to ${recovery_point}`)
}

async function checkMigrations({ address }: Installation): Promise<Check> {
  const { migrationStatus } = await import('../../kernel/database/migrate.ts')
  const { applied, pending, unknown } = await migrationStatus(address)
  if (unknown.length > 0)
    return finding('migrations', `migrated by a newer release: ${unknown.join(', ')}`, 'Run the newer release.')
  return pending.length > 0
    ? finding('migrations', `${pending.length} pending, the first is ${pending[0]}`, 'svc db migrate')
    : ok('migrations', `${applied.length} applied, none pending`)
}

/** Decrypts some values of each key and kind: a keyring with the same names but other keys could decrypt none. */
async function checkKeyring(installation: Installation): Promise<Check> {
  const samples = await read(installation, async ({ tx, keyring }) => trySamples(tx, keyring, await countByKey(tx)))
  const closed = samples.filter(({ tried, opened }) => opened < tried)
  return closed.length > 0
    ? finding(
        'keyring',
        `cannot be decrypted: ${closed.map(({ key_id, kind, tried, opened }) => `${tried - opened} of ${tried} ${kind} under ${key_id}`).join(', ')}`,
        'docs/runbooks/keyring.md',
      )
    : ok('keyring', `decrypts values of all ${samples.length} key(s) and kind(s)`)
}

function checkLedger({ ledger }: Installation, { lines, faults, unsettled }: LedgerState): Check {
  const [fault] = faults
  if (fault)
    return finding(
      'ledger',
      `${fault.file}: ${fault.fault}`,
      'Restore it from its copy; the lines after that are ignored.',
    )
  if (lines === 0)
    return finding(
      'ledger',
      `${ledger.file} has no obligation: the file was lost, or there never was an obligation`,
      'Restore it from its copy, or accept this finding.',
    )
  return unsettled > 0
    ? finding(
        'ledger',
        `${unsettled} of ${lines} line(s) have no known outcome`,
        'The ones that protect are treated as done. Check the others, then accept this finding.',
      )
    : ok('ledger', `${lines} obligations, intact and with known outcomes`)
}

/** The ledger of a lost host is only at the targets, and only that ledger has its obligations. */
async function checkCopies(installation: Installation, { read: known }: LedgerState): Promise<Check> {
  const { unread, failed } = await findUnread(installation, known)
  const [first] = unread
  if (first)
    return finding(
      'copies',
      `${unread.length} ledger(s) at targets were not read completely, the first is ${first.lineage} at ${first.name}`,
      `svc recovery ledger pull --from ${first.name}`,
    )
  return failed.length > 0
    ? finding(
        'copies',
        `cannot be asked for ledgers: ${failed.map(({ name, reason }) => `${name} (${reason})`).join(', ')}`,
        'See docs/runbooks/backup-targets.md; accept this finding if every host still has its ledger.',
      )
    : ok('copies', 'every line at the targets was read')
}

async function checkObligations(checking: Checking, desired: DesiredState, steps: readonly Step[]): Promise<Check[]> {
  const checks: Check[] = []
  for (const name of checkedObligations) checks.push(await checkObligation(name, checking, desired, steps))
  return checks
}

/** Open steps come first. Without open steps, the obligation's own check answers. */
async function checkObligation<Name extends CheckedObligation>(
  name: Name,
  checking: Checking,
  desired: DesiredState,
  steps: readonly Step[],
): Promise<Check> {
  const open = stepsOf(name, steps)
  const possible = open.filter(({ hindered_by }) => hindered_by === null)
  if (possible.length > 0) return finding(name, `${possible.length} must be repeated`, 'svc recovery reconcile --apply')
  if (open.length > 0) {
    const by = [...new Set(open.map(({ hindered_by }) => hindered_by))].join(', ')
    return finding(
      name,
      `${open.length} cannot be repeated (${by})`,
      '`svc recovery reconcile` lists them; decide, then accept this finding.',
    )
  }
  return obligations[name].check?.(checking, desired[name]) ?? ok(name, 'nothing needs to be repeated')
}

/** An event with a number above its workspace's counter would not be answered once the counter reaches that number. */
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
            select exists (
              select from outbox_event e
              where e.tenant_id = ${id} and e.tx = '9223372036854775807'
                and e.seq > coalesce((select last from outbox_counter where tenant_id = ${id}), 0)) as is_ahead`,
        )
        if (row?.is_ahead) found += 1
      }
      return found
    })
  }
  return ahead === 0
    ? ok('outbox', "no event is ahead of its workspace's counter; the epoch changes when traffic is admitted")
    : finding(
        'outbox',
        `events of ${ahead} workspace(s) have numbers that the workspace's counter has not reached`,
        'Restore again: events and counter do not come from the same copy.',
      )
}

interface DueRow {
  readonly name: string
  readonly count: number
}

/** The jobs that would run as soon as the gate opens; jobs with a schedule run in any case. */
async function checkJobs(installation: Installation): Promise<Check> {
  const jobs = await installation.pool.transaction(
    asQueue,
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
    ? ok('jobs', 'no job would run at once')
    : finding(
        'jobs',
        `would run at once: ${due.join(', ')}`,
        'Run `svc tenants list --state PENDING_DELETION --recovery`, cancel deletions that must not continue, then accept this finding.',
      )
}

async function checkClock(installation: Installation, point: string | null): Promise<Check> {
  const apartMs = Math.round(Math.abs(await measureClock(installation.pool)))
  const [row] = await read(
    installation,
    ({ tx }) => tx<{ at: string }[]>`select at from journal order by id desc limit 1`,
  )
  const now = timeNow()
  const remedy = 'Synchronise the clocks of both hosts with NTP.'
  if (apartMs > noticeableMs) return finding('clock', `differs from the database's clock by ${apartMs} ms`, remedy)
  if (row && Date.parse(row.at) > now + noticeableMs)
    return finding('clock', `the journal's newest entry has the time ${row.at}, which is in the future`, remedy)
  return point !== null && Date.parse(point) > now
    ? finding('clock', `the recovery point ${point} is in the future`, remedy)
    : ok('clock', `differs from the database's clock by ${apartMs} ms`)
}
