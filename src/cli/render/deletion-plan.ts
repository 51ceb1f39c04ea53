/** The plan of a deletion, for people. */
import type { DeletionPlan } from '../../core/contract/retention/operations.ts'
import { details } from './details.ts'
import { moment } from './moment.ts'
import { table } from './table.ts'

export async function planned(plan: DeletionPlan): Promise<string> {
  const rows = Object.entries(plan.counts).filter(([, count]) => count > 0)
  const counts = await table(
    rows,
    [
      { head: 'WHAT', cell: ([entity]) => entity, whole: true },
      { head: 'ROWS', cell: ([, count]) => String(count), align: 'right' },
    ],
    'The workspace holds nothing.',
  )
  const backups = await table(
    plan.backups,
    [
      { head: 'REMAINING ARCHIVE', cell: ({ path }) => path, whole: true },
      { head: 'TARGET', cell: ({ target_id, target_name }) => target_name ?? target_id },
      { head: 'MADE', cell: ({ created_at }) => moment(created_at) },
    ],
    'No archive of the workspace is known. Backups of the database contain its data until they are removed.',
  )
  const facts = details([
    ['workspace', plan.slug],
    ['name', plan.display_name],
    ['id', plan.tenant_id],
    ['state', plan.state],
    ['purged after', moment(plan.purge_after)],
    ['legal holds in force', plan.holds_in_force.length],
    ['operators in it', plan.operators],
    ['queued jobs', plan.queued_jobs],
    ['slug blocked for', `${plan.slug_blocked_days} days`],
    ['plan', plan.hash],
  ])
  return `${facts}\n\n${counts}\n\n${backups}`
}
