/** The status of an installation on one screen: a line for each subject, and below what needs attention, with what to do. */
import type { Status } from '../follow/status.ts'
import { details } from './details.ts'
import { moment } from './moment.ts'
import { printable } from './printable.ts'

export interface Attention {
  readonly subject: string
  readonly says: string
  readonly remedy: string
}

/** A run each hour, and some that were missed: as `doctor` has it. */
const lateSweepSeconds = 3 * 3600
const lateJobSeconds = 300
const apartSeconds = 2

/** What a person should look at; empty if all is well. */
export function attentionIn(status: Status): Attention[] {
  const { failing, gate_closed_since: gated, deliveries, jobs, sweeps, ledger, clock_ahead_seconds: ahead } = status
  const found: (Attention | false)[] = [
    ...(failing ?? []).map(({ name, error }) =>
      attention('daemon', `not ready: ${name}: ${error}`, '`svc doctor` says more.'),
    ),
    gated !== null && attention('gate', `closed since ${moment(gated)}`, '`svc recovery status` says why.'),
    deliveries.dead > 0 &&
      attention(
        'deliveries',
        `${deliveries.dead} dead`,
        '`svc deliveries stats` says where; docs/runbooks/deliveries.md.',
      ),
    (jobs?.late_seconds ?? 0) > lateJobSeconds &&
      attention(
        'jobs',
        `the oldest waits for ${Math.round(jobs?.late_seconds ?? 0)} s`,
        'See that a daemon with the role worker or all runs.',
      ),
    (sweeps?.late_seconds ?? 0) > lateSweepSeconds &&
      attention(
        'sweeps',
        'what has expired is not removed',
        'See that a daemon with the role worker or all runs: docs/runbooks/daemon.md.',
      ),
    ledger !== null &&
      ledger.fault !== null &&
      attention('ledger', ledger.fault, 'docs/runbooks/point-in-time-recovery.md'),
    (ledger?.copies_behind ?? 0) > 0 &&
      attention(
        'ledger',
        `${ledger?.copies_behind} copies behind`,
        '`svc recovery status` says which: docs/runbooks/backup-targets.md.',
      ),
    ahead !== null &&
      Math.abs(ahead) > apartSeconds &&
      attention(
        'clock',
        `${ahead.toFixed(1)} s from the database's`,
        'Synchronise both hosts with NTP: docs/runbooks/clocks.md.',
      ),
  ]
  return found.filter((one) => one !== false)
}

const attention = (subject: string, says: string, remedy: string): Attention => ({ subject, says, remedy })

/** `before`: the status of the time before, for rates. */
export function statusScreen(status: Status, before?: Status): string {
  const { workspaces, deliveries } = status
  const lines = details([
    ['installation', status.where],
    ['at', moment(status.at)],
    ['daemon', daemonSays(status)],
    [
      'workspaces',
      `${workspaces.active} active, ${workspaces.suspended} suspended, ${workspaces.leaving} pending deletion; ${workspaces.accounts} accounts`,
    ],
    ['requests', requestsSay(status, before)],
    [
      'deliveries',
      `${deliveries.waiting} due, ${deliveries.retrying} retrying, ${deliveries.dead} dead${deliveries.oldest_due_at === null ? '' : `; the first ${Date.parse(deliveries.oldest_due_at) > Date.parse(status.at) ? 'is due at' : 'has been due since'} ${moment(deliveries.oldest_due_at)}`}`,
    ],
    [
      'jobs',
      status.jobs === null
        ? unknown
        : `${status.jobs.due} due, ${status.jobs.running} running; the oldest is ${Math.round(status.jobs.late_seconds)} s late`,
    ],
    [
      'sweeps',
      status.sweeps === null
        ? unknown
        : `${status.sweeps.rows} expired rows; the oldest is ${Math.round(status.sweeps.late_seconds)} s late`,
    ],
    ['ledger', ledgerSays(status.ledger)],
    [
      'clock',
      status.clock_ahead_seconds === null
        ? unknown
        : `${status.clock_ahead_seconds.toFixed(1).replace(/^-(0\.0)$/, '$1')} s ahead of the database's`,
    ],
  ])
  const attentions = attentionIn(status)
  if (attentions.length === 0) return `${lines}\n\nNothing needs attention.`
  return [
    lines,
    '',
    ...attentions.map(({ subject, says, remedy }) => printable(`! ${subject}: ${says}. ${remedy}`)),
  ].join('\n')
}

const unknown = 'not told here'

function daemonSays({ failing }: Status): string {
  if (failing === null) return unknown
  return failing.length === 0 ? 'ready' : `not ready: ${failing.map(({ name }) => name).join(', ')}`
}

function requestsSay({ requests, at }: Status, before: Status | undefined): string {
  if (requests === null) return unknown
  const seconds = before === undefined ? 0 : (Date.parse(at) - Date.parse(before.at)) / 1000
  const more = (requests.answered ?? 0) - (before?.requests?.answered ?? 0)
  // A daemon that was started again counts from 0.
  const rate = seconds > 0 && before?.requests && more >= 0 ? `${(more / seconds).toFixed(1)} a second, ` : ''
  return `${rate}${requests.in_flight ?? 0} under way; since its start ${requests.answered ?? 0} answered, ${requests.failed ?? 0} failed`
}

function ledgerSays(ledger: Status['ledger']): string {
  if (ledger === null) return unknown
  if (ledger.fault !== null) return ledger.fault
  return ledger.copies_behind === 0 ? 'no copy is behind' : `${ledger.copies_behind} copies behind`
}
