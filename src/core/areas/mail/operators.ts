/**
 * Mail to the operators about changes to the operator register, the installation's settings and its backup targets.
 *
 *    rule ──tellOperators──▶ one send_mail for each operator who is a person with an address
 *
 * The recipients are read in the transaction of the change, not by a later job: an attacker with a stolen token must
 * not remove them before the mail is queued. The text is read from the journal's entry when the mail is sent.
 *
 * Spec: decisions 7, Probation; docs/decisions/0131.
 */
import type { Ctx } from '../../kernel/transaction/context.ts'
import { sendMail } from './jobs.ts'
import type { MailName } from './kinds.ts'

/**
 * Queues a mail to each current operator. `noticeId` is the journal's entry about the same change. Needs a transaction
 * of the installation.
 */
export async function tellOperators(ctx: Ctx, name: MailName, noticeId: string): Promise<void> {
  const readers = await ctx.tx<{ tenantId: string; accountId: string; at: string }[]>`
    select o.workspace_id as "tenantId", o.account_id as "accountId", now() as at
    from operator o join account a on a.tenant_id = o.workspace_id and a.id = o.account_id
    where a.kind = 'PERSON' and a.email is not null
    order by o.account_id`
  for (const reader of readers) await ctx.enqueue(sendMail, { ...reader, noticeId, name })
}
