/**
 * Reads the installation's record, newest first.
 *
 * In the order of the moments, then of the ids, as the trail (audit/trail.ts). Each filter alone has an index in that order
 * (migration 0155), so a page costs the same at any length of the record. Several actions are read one by one, each in its
 * order, and then merged.
 *
 * Spec: Admin, rule 4; decisions 4, JournalEntry; docs/decisions/0372.
 */
import type { JournalEntry, journalOperations as ops } from '../../contract/journal/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { lastId, pageOfRows } from '../../kernel/transaction/page.ts'

interface EntryRow extends JournalEntry {
  /** To the microsecond, which an answer's `at` is not. */
  readonly exact: string
}

/** Refuses cursor.invalid. */
export async function listJournal(
  ctx: Ctx,
  { cursor, size, ...filters }: Received<typeof ops.listJournal>,
): Promise<Answer<typeof ops.listJournal>> {
  const { tx } = ctx
  // The order is bound, too: a cursor of a release that read by ids is invalid.
  const list = { operation: 'listJournal', filters: { ...filters, order: 'at' } }
  const place = cursor === undefined ? [] : ctx.cursor.read(list.operation, list.filters, cursor)
  const [at = 'infinity', id = lastId] = place
  const behind = tx.part`(at, id) < (${at}::timestamptz, ${id}::uuid) ${narrowed(ctx, filters)}`
  const order = tx.part`order by at desc, id desc limit ${size + 1}`
  const actions = actionsOf(filters.action)
  const rows = await (actions.length > 1
    ? tx.last<EntryRow[]>`
      select e.* from jsonb_to_recordset(${tx.json(actions)}) as w(action text, family text)
      cross join lateral (
        (select ${columns(ctx)} from journal where w.family is null and action = w.action and ${behind} ${order})
        union all
        (select ${columns(ctx)} from journal
         where split_part(action, '.', 1) = w.family and starts_with(action, w.action) and ${behind} ${order})
      ) e ${order}`
    : tx.last<EntryRow[]>`select ${columns(ctx)} from journal where ${behind} ${only(ctx, actions[0])} ${order}`)
  return pageOfRows(ctx, list, rows, size, (last) => [last.exact, last.id])
}

const columns = ({ tx }: Ctx): Part => tx.part`
  id, at, at::text as exact, action,
  json_build_object('kind', actor_kind, 'account_id', actor_account_id, 'via', via) as actor,
  case when workspace_id is not null then json_build_object('id', workspace_id, 'slug', workspace_slug) end as tenant,
  case when subject_id is not null then json_build_object('kind', subject_kind, 'id', subject_id) end as subject,
  params`

type Filters = Omit<Received<typeof ops.listJournal>, 'cursor' | 'size'>

function narrowed({ tx }: Ctx, { from, until, tenant_id, slug, actor_id, actor_kind }: Filters): Part {
  return tx.part`
    ${from === undefined ? tx.part`` : tx.part`and at >= ${from}::timestamptz`}
    ${until === undefined ? tx.part`` : tx.part`and at < ${until}::timestamptz`}
    ${tenant_id === undefined ? tx.part`` : tx.part`and workspace_id = ${tenant_id}`}
    ${slug === undefined ? tx.part`` : tx.part`and workspace_slug = ${slug}`}
    ${actor_id === undefined ? tx.part`` : tx.part`and actor_account_id = ${actor_id}`}
    ${actor_kind === undefined ? tx.part`` : tx.part`and actor_kind = ${actor_kind}`}`
}

interface WantedAction {
  /** The action, or what its name begins with. */
  readonly action: string
  /** Of what begins alike. */
  readonly family: string | null
}

function only({ tx }: Ctx, wanted: WantedAction | undefined): Part {
  if (wanted === undefined) return tx.part``
  const { action, family } = wanted
  return family === null
    ? tx.part`and action = ${action}`
    : tx.part`and split_part(action, '.', 1) = ${family} and starts_with(action, ${action})`
}

/** The actions asked for, such that no entry is of two of them. */
function actionsOf(text: string | undefined): WantedAction[] {
  const wanted = [...new Set(text?.split(','))]
  const prefixes = wanted.filter((one) => one.endsWith('*')).map((one) => one.slice(0, -1))
  const widest = prefixes.filter((one) => !prefixes.some((other) => one !== other && one.startsWith(other)))
  const alone = wanted.filter((one) => !one.endsWith('*') && !widest.some((prefix) => one.startsWith(prefix)))
  return [
    ...widest.map((action) => ({ action, family: action.slice(0, action.indexOf('.')) })),
    ...alone.map((action) => ({ action, family: null })),
  ]
}
