/**
 * Mails to administrators about deadlines: seven days and one day before, the day after, and then each week.
 *
 *    open ──7 days──▶ WEEK ──1 day──▶ DAY ──past──▶ OVERDUE ──each 7 days──▶ OVERDUE
 *
 * What was mailed stands in the row, so two daemons mail once. Spec: Keeping, 2, Deadline.
 */
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { SystemActor } from '../../kernel/values/actor.ts'
import { tellHandlers } from './telling.ts'

const reminder: SystemActor = { kind: 'SYSTEM', job: 'remind_privacy' }
/** Of one run; the next one goes on. */
const most = 500

/** What is to be mailed of the request now; null: nothing. */
const dueReminder = ({ part }: Pick<Tx, 'part'>): Part => part`case
  when state not in ('RECEIVED', 'GRANTED') or due_at > now() + interval '7 days' then null
  when due_at < now() then case when reminded is distinct from 'OVERDUE' or reminded_at <= now() - interval '7 days' then 'OVERDUE' end
  when due_at < now() + interval '1 day' then case when reminded is null or reminded = 'WEEK' then 'DAY' end
  when reminded is null then 'WEEK' end`

export async function remindOfDeadlines(installation: Installation): Promise<void> {
  const due = await installation.transaction(
    reminder,
    { readOnly: true },
    ({ tx }) => tx.last<{ tenant_id: string; id: string }[]>`
      select tenant_id, id from privacy_request
      where state in ('RECEIVED', 'GRANTED') and due_at <= now() + interval '7 days' and ${dueReminder(tx)} is not null
      order by due_at limit ${most}`,
  )
  for (const { tenant_id: tenantId, id } of due)
    await installation.transaction(reminder, { tenantId }, async (ctx) => {
      const { tx } = ctx
      const [row] = await tx<{ due_at: string; reminder: string | null }[]>`
        select due_at, ${dueReminder(tx)} as reminder from privacy_request
        where tenant_id = ${tenantId} and id = ${id} for update`
      if (!row?.reminder) return
      await tx`
        update privacy_request set reminded = ${row.reminder}, reminded_at = now() where tenant_id = ${tenantId} and id = ${id}`
      await tellHandlers(ctx, 'privacy_due', { tenantId, requestId: id, accountId: null, at: row.due_at })
    })
}
