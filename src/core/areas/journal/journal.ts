/** Reads the installation's record. Spec: Admin, rule 4; decisions 4, JournalEntry. */

import type { JournalEntry, journalOperations as ops } from '../../contract/journal/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { lastId, pageOfRows, pageStart } from '../../kernel/transaction/page.ts'

const list = { operation: 'listJournal' }

/** Newest first: ids are UUIDv7. A page costs the same at any length of the record. Refuses cursor.invalid. */
export async function listJournal(
  ctx: Ctx,
  { cursor, size }: Received<typeof ops.listJournal>,
): Promise<Answer<typeof ops.listJournal>> {
  const before = pageStart(ctx, list, cursor)
  const rows = await ctx.tx.last<JournalEntry[]>`
    select id, at, action,
           json_build_object('kind', actor_kind, 'account_id', actor_account_id, 'via', via) as actor,
           case when workspace_id is not null then json_build_object('id', workspace_id, 'slug', workspace_slug) end as tenant,
           case when subject_id is not null then json_build_object('kind', subject_kind, 'id', subject_id) end as subject,
           params
    from journal
    where id < ${before ?? lastId}::uuid
    order by id desc
    limit ${size + 1}`
  return pageOfRows(ctx, list, rows, size)
}
