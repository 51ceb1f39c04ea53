/** The end of every session of the account but the one of the call, and of its other tokens. Spec: people 4, N16. */

import type { sessionOperations as ops } from '../../../contract/auth/operations.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { endOtherTokens, lockAccount } from '../token/ending.ts'
import { endOtherSessions } from './session.ts'

export async function revokeOtherSessions(
  ctx: Ctx,
  { body }: Received<typeof ops.revokeOtherSessions>,
): Promise<Answer<typeof ops.revokeOtherSessions>> {
  const { tenantId, accountId, sessionId, credentialId } = ctx.account
  const holder = { tenantId, accountId }
  // As everything that ends credentials: the account, its sessions, its credentials.
  await lockAccount(ctx, holder)
  const sessions = await endOtherSessions(ctx, { ...holder, except: sessionId, because: 'revoked_by_account' })
  const tokens = body.tokens ? await endOtherTokens(ctx, holder, credentialId) : 0
  return { sessions, tokens, apps: 0 }
}
