/** A restore and its plan, for people. */
import type { Restore, RestorePlan } from '../../core/contract/backup/restores.ts'
import { details } from './details.ts'
import { moment } from './moment.ts'
import { table } from './table.ts'

export const restoreDetails = (restore: Restore) =>
  details([
    ['id', restore.id],
    ['into', restore.into],
    ['workspace', restore.tenant?.slug ?? 'not there yet'],
    ['state', restore.state],
    ['failure', restore.failure],
    ['backup of', moment(restore.source.snapshot_at)],
    ['backup', restore.source.backup_id],
    ['target', restore.source.target_id],
    ['path', restore.source.path],
    ['signed by', restore.source.origin === 'OWN' ? 'this installation' : 'another one, or nobody'],
    ['closed for', restore.result && `${restore.result.closed_seconds} s`],
    ['files brought back', restore.result?.media],
    ['edits that stayed', restore.result?.kept_edits],
    ['can be undone until', restore.undo_until && moment(restore.undo_until)],
    ['asked for', moment(restore.created_at)],
    ['job', restore.job_id],
  ])

const whys: Readonly<Record<string, string>> = {
  'account.left': 'people who left',
  'media.unfinished': 'files that were not whole',
  'key.missing': 'secrets that no key here opens',
}

/** What would come back, change back and go, in numbers; and what stays as it is now. */
export async function planned(plan: RestorePlan): Promise<string> {
  const changes = await table(
    Object.entries(plan.by_entity),
    [
      { head: 'WHAT', cell: ([entity]) => entity, whole: true },
      { head: 'COMES BACK', cell: ([, { comes_back }]) => String(comes_back), align: 'right' },
      { head: 'CHANGES BACK', cell: ([, { changes_back }]) => String(changes_back), align: 'right' },
      { head: 'GOES', cell: ([, { goes_away }]) => String(goes_away), align: 'right' },
    ],
    'Nothing differs.',
  )
  const { kept, dropped } = plan
  const facts = details([
    ['as of', moment(plan.snapshot_at)],
    ['closed for about', `${plan.closed_seconds} s`],
    ['people', plan.people],
    ['legal holds in force', `${kept.holds}; what they cover stays as it is now`],
    ['erased since', `${kept.erasures_repeated} account(s), who stay erased`],
    ['restricted', kept.restrictions],
    ['left out', dropped.map(({ what, count, why }) => `${count} ${what} (${whys[why] ?? why})`).join(', ')],
    ['above a quota', plan.over_quota.join(', ')],
    ['as it is now', 'accounts, roles, groups, credentials, providers, webhooks, quotas, suspension, trail'],
    ['plan', plan.hash],
  ])
  return `${changes}\n\n${facts}`
}
