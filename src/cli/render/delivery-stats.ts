/** Statistics of deliveries, for operators: one line for each workspace and host, and how long attempts took. */
import type { DeliveryStats } from '../../core/contract/webhooks/operator-view.ts'
import { moment } from './moment.ts'
import { bar } from './progress.ts'
import { type Column, table } from './table.ts'

type Class = DeliveryStats['duration_ms'][number]

/** The upper bound of the class that contains the quantile; `-` if there were no attempts. */
function quantile(classes: readonly Class[], share: number): string {
  const all = classes.reduce((sum, one) => sum + Number(one.attempts), 0)
  let seen = 0
  for (const { up_to_ms, attempts } of classes) {
    seen += Number(attempts)
    if (all > 0 && seen >= all * share) return up_to_ms === null ? 'longer' : `<= ${up_to_ms} ms`
  }
  return '-'
}

const columns: readonly Column<DeliveryStats>[] = [
  { head: 'WORKSPACE', cell: ({ slug }) => slug },
  { head: 'HOST', cell: ({ host }) => host },
  {
    head: 'WEBHOOKS',
    cell: ({ webhooks: { ACTIVE, PAUSED, DISABLED } }) => `${ACTIVE}/${PAUSED}/${DISABLED}`,
    align: 'right',
  },
  { head: 'WAITING', cell: ({ waiting }) => String(waiting), align: 'right' },
  { head: 'RETRYING', cell: ({ deliveries }) => String(deliveries.FAILED), align: 'right' },
  { head: 'DEAD', cell: ({ deliveries }) => String(deliveries.DEAD_LETTER), align: 'right' },
  { head: 'ATTEMPTS', cell: ({ attempts }) => String(attempts), align: 'right' },
  { head: 'FAILED', cell: ({ failed_attempts: failed }) => String(failed), align: 'right' },
  { head: 'MEDIAN', cell: ({ duration_ms }) => quantile(duration_ms, 0.5) },
  { head: 'P99', cell: ({ duration_ms }) => quantile(duration_ms, 0.99) },
  { head: 'OLDEST DUE', cell: ({ oldest_due_at }) => moment(oldest_due_at) },
]

export const statsTable = (rows: readonly DeliveryStats[]) => table(rows, columns, 'No workspace has a webhook.')

/** The attempts of all rows by duration, and the failures by kind. */
export function histogram(rows: readonly DeliveryStats[]): string {
  const classes = new Map<number | null, number>()
  for (const { up_to_ms, attempts } of rows.flatMap(({ duration_ms }) => duration_ms))
    classes.set(up_to_ms, (classes.get(up_to_ms) ?? 0) + Number(attempts))
  const most = Math.max(1, ...classes.values())
  const lines = [...classes].map(
    ([bound, count]) =>
      `${(bound === null ? 'longer' : `<= ${bound} ms`).padStart(11)}  ${bar(count, most).slice(0, 22)}  ${count}`,
  )
  const errors = new Map<string, number>()
  for (const [error, count] of rows.flatMap((row) => Object.entries(row.errors)))
    errors.set(error, (errors.get(error) ?? 0) + Number(count))
  const told = [...errors]
    .sort(([, one], [, other]) => other - one)
    .map(([error, count]) => `${String(count).padStart(11)}  ${error}`)
  return [...lines, ...(told.length > 0 ? ['', ...told] : [])].join('\n')
}
