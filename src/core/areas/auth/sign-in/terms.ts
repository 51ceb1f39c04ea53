/**
 * Agreeing to the installation's terms, in the version in force.
 *
 * A new `terms_version` blocks nobody: `GET /accounts/me` says that agreement is due, and the
 * client asks the person. Spec: InstanceSettings (legal).
 */

import type { sessionOperations as ops } from '../../../contract/auth/operations.ts'
import type { Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { readSettings } from '../../settings/settings.ts'

/**
 * Records that the account agrees; a second call changes nothing. Refuses legal.terms_changed for any version but the
 * one in force.
 */
export async function agreeToTerms(ctx: Ctx, { body }: Received<typeof ops.agreeToTerms>): Promise<void> {
  const { tenantId, accountId } = ctx.account
  const { legal } = await readSettings(ctx)
  if (body.terms_version !== legal.terms_version) refuse('legal.terms_changed', { terms_version: legal.terms_version })

  const agreed = await ctx.tx`
    update account set terms_version = ${body.terms_version}, terms_agreed_at = now(), updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${accountId} and terms_version is distinct from ${body.terms_version}`
  if (agreed.count === 0) return
  await ctx.audit('account.terms_agreed', {
    subject: { kind: 'account', id: accountId },
    params: { terms_version: body.terms_version },
  })
}
