/** The report of a drill, as tables for people: durations, losses and their remedies, and proofs. */
import type { DrillReport } from '../../core/drill/drill.ts'
import { moment } from './moment.ts'
import { type Column, table } from './table.ts'

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`

const stepColumns: readonly Column<DrillReport['steps'][number]>[] = [
  { head: 'STEP', cell: ({ name }) => name, whole: true },
  { head: 'TOOK', cell: ({ ms }) => seconds(ms), align: 'right' },
]

type Lost = DrillReport['lost'][number] & { readonly became: string }
const lostColumns: readonly Column<Lost>[] = [
  { head: 'LOST IN THE REWIND', cell: ({ what }) => what, whole: true },
  { head: 'COUNT', cell: ({ count }) => String(count), align: 'right' },
  { head: 'AFTER THE RECOVERY', cell: ({ became }) => became, whole: true },
]

const provedColumns: readonly Column<DrillReport['proved'][number]>[] = [
  { head: '', cell: ({ holds }) => (holds ? 'ok' : 'FAIL'), whole: true },
  { head: 'PROVED', cell: ({ claim }) => claim, whole: true },
]

/** What a recovery does about each kind of loss; a number says how often the reconciliation did it. */
const remedies: Readonly<Record<DrillReport['lost'][number]['what'], (replaced: DrillReport['replaced']) => string>> = {
  'holds placed': (replaced) => `${replaced['hold.place'] ?? 0} placed again`,
  'holds released': () => 'in force again, until they are released again',
  'tokens revoked': (replaced) => `${replaced['token.revoke'] ?? 0} revoked again`,
  'operators added': (replaced) => `${replaced['operator.add'] ?? 0} added again`,
  'workspaces purged': (replaced) => `${replaced['purge.repeat'] ?? 0} purged again`,
  'proofs spent': () => 'void, like every proof',
  'sessions ended': () => 'void, like every session',
}

export async function drillTables(report: DrillReport): Promise<string> {
  const { steps, took_ms, lost, replaced, second_run, proved, recovery_point } = report
  const all = [...steps, { name: 'total, with start and stop', ms: took_ms }]
  const losses = lost.map((one) => ({ ...one, became: remedies[one.what](replaced) }))
  const again = second_run === 0 ? 'found nothing to do' : `still found ${second_run} steps to do`
  return [
    `Recovered to ${moment(recovery_point)}.`,
    await table(all, stepColumns, ''),
    await table(losses, lostColumns, ''),
    `A second reconciliation ${again}.`,
    await table(proved, provedColumns, ''),
  ].join('\n\n')
}
