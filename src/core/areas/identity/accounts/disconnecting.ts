/** Takes an identity at a provider from an account. Nobody takes the own last way in. Spec: people 1, I5. */
import type { accountOperations as ops } from '../../../contract/identity/accounts.ts'
import type { Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { lockMemberships } from '../../access/held-role.ts'
import { providersInForce } from '../../auth/providers/in-force.ts'
import { tellIdentities } from '../../auth/providers/joining.ts'
import { passwordsServe } from '../../auth/sign-in/sign-in-methods.ts'
import { lockAccount } from '../../auth/token/ending.ts'
import { keepAnOwner } from '../../memberships/last-owner.ts'

/** Refuses not_found, account.last_way_in, membership.last_owner. */
export async function disconnectIdentity(
  ctx: Ctx,
  { accountId, identityId }: Received<typeof ops.disconnectIdentity>,
): Promise<void> {
  const { tenantId, accountId: own } = ctx.account
  // The last owner has a way in, so this takes its turn with the changes of roles.
  await lockMemberships(ctx, tenantId)
  await lockAccount(ctx, { tenantId, accountId })
  const [taken] = await ctx.tx<{ provider_id: string }[]>`
    delete from connected_identity where tenant_id = ${tenantId} and account_id = ${accountId} and id = ${identityId} returning provider_id`
  if (!taken) refuse('not_found')
  const { is_owner, has_way } = await readWays(ctx, tenantId, accountId)
  if (!has_way && accountId === own) refuse('account.last_way_in')
  if (!has_way && is_owner) await keepAnOwner(ctx, tenantId, accountId)
  const { provider_id } = taken
  const noticeId = await ctx.record('identity.account.disconnected', { id: accountId, provider_id }, { provider_id })
  await tellIdentities(ctx, tenantId, accountId, noticeId)
}

/** Whether the account has a way in that serves now. */
async function readWays(
  ctx: Ctx,
  tenantId: string,
  accountId: string,
): Promise<{ is_owner: boolean; has_way: boolean }> {
  const { tx } = ctx
  const serves = await passwordsServe(ctx, tenantId)
  const inForce = (await providersInForce(ctx, tenantId)).map(({ id }) => id)
  const [row] = await tx<{ is_owner: boolean; has_way: boolean }[]>`
    select exists (select from membership m where m.tenant_id = ${tenantId} and m.holder_id = a.id
                   and m.container_id is null and m.role = 'OWNER') as is_owner,
           (${serves} and a.password_hash is not null)
             or exists (select from connected_identity c where c.tenant_id = ${tenantId} and c.account_id = a.id
                        and c.provider_id in ${tx.list(inForce)}) as has_way
    from account a where a.tenant_id = ${tenantId} and a.id = ${accountId}`
  return row ?? refuse('not_found')
}
