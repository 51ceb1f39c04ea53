/**
 * Mails about requests: to whoever it is about, and to the administrators; each with its notification. Ids and moments alone.
 * Spec: Keeping, 2; people 3, SECURITY.
 */
import type { Ctx } from '../../kernel/transaction/context.ts'
import { accountIdOf } from '../../kernel/values/actor.ts'
import { show, tellAccount, tellAdministrators } from '../mail/jobs.ts'
import type { MailName } from '../mail/kinds.ts'

export interface Told {
  readonly tenantId: string
  readonly requestId: string
  /** Null: somebody without an account, who is written to by people. */
  readonly accountId: string | null
  /** The moment that the mail states. */
  readonly at: string
}

/** Each mail has its entry in the trail, which is its proof. The workspace's role is in force. */
export async function tellSubject(
  ctx: Ctx,
  name: MailName,
  { tenantId, requestId, accountId, at }: Told,
): Promise<void> {
  if (accountId === null) return
  const noticeId = await ctx.audit('privacy_request.told', {
    subject: { kind: 'privacy_request', id: requestId },
    params: { mail: name },
  })
  await tellAccount(ctx, { tenantId, accountId, noticeId, name, at })
  const told = { category: 'SECURITY', accounts: [accountId] } as const
  const subject = `/privacy/requests/${requestId}`
  await show(ctx, { tenantId, noticeId, name }, { told, subject, actorId: accountIdOf(ctx.actor) })
}

export async function tellHandlers(ctx: Ctx, name: MailName, { tenantId, requestId, at }: Told): Promise<void> {
  const noticeId = await ctx.audit('privacy_request.told', {
    subject: { kind: 'privacy_request', id: requestId },
    params: { mail: name },
  })
  await ctx.enqueue(tellAdministrators, { tenantId, noticeId, name, at })
}
