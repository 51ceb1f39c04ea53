/**
 * Mail to the operators: who acts on the installation, what it decides and where its archives go has changed.
 *
 *    rule ──tellOperators──▶ one send_mail for each operator who is a person with an address
 *
 * Who is told is read in the transaction of the act, not by a later job: whoever acts with a stolen token must not remove
 * the readers before the mail is made. What a mail says is read from the journal's entry when the mail goes.
 *
 * Spec: decisions 7, Probation; docs/decisions/0131.
 */
import type { Ctx } from '../../kernel/transaction/context.ts'
import { sendMail } from './jobs.ts'
import type { MailName } from './kinds.ts'

/** Queues a mail to each operator of this moment. `noticeId` is the entry of the journal that says the same. For a transaction of the installation. */
export async function tellOperators(ctx: Ctx, name: MailName, noticeId: string): Promise<void> {
  const readers = await ctx.tx<{ tenantId: string; accountId: string; at: string }[]>`
    select o.workspace_id as "tenantId", o.account_id as "accountId", now() as at
    from operator o join account a on a.tenant_id = o.workspace_id and a.id = o.account_id
    where a.kind = 'PERSON' and a.email is not null
    order by o.account_id`
  for (const reader of readers) await ctx.enqueue(sendMail, { ...reader, noticeId, name })
}
