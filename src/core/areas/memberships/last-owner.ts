/**
 * A workspace keeps an OWNER that is a person and can sign in. The operator register keeps an operator that can act.
 *
 * These accounts do not count as the OWNER that is left: a service account (nobody can sign in with it), an invited
 * account, and a person whose password the sign-in settings refuse and who has no identity at a provider in force.
 * Every rule that takes a role from an OWNER calls this module, under the lock of the workspace's memberships.
 *
 * Spec: decisions 7, Removed means out.
 */

import { refuse } from '../../contract/problem.ts'
import type { Role } from '../../contract/vocabulary.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { providersInForce } from '../auth/providers/in-force.ts'
import { passwordsServe } from '../auth/sign-in/sign-in-methods.ts'
import { canAct } from '../operators/can-act.ts'

/** Whether the account itself is OWNER of the workspace; a group never is. */
export async function isOwner(
  { tx }: Ctx,
  { tenantId, accountId }: { readonly tenantId: string; readonly accountId: string },
): Promise<boolean> {
  const [held] = await tx<{ role: Role }[]>`
    select role from membership where tenant_id = ${tenantId} and holder_id = ${accountId} and container_id is null`
  return held?.role === 'OWNER'
}

/** Refuses membership.last_owner where nobody but this account could give the workspace its next OWNER. */
export async function keepAnOwner(ctx: Ctx, tenantId: string, leavingId: string): Promise<void> {
  const { tx } = ctx
  const serves = await passwordsServe(ctx, tenantId)
  const inForce = (await providersInForce(ctx, tenantId)).map(({ id }) => id)
  const [other] = await tx`
    select 1 from membership m join account a on a.tenant_id = m.tenant_id and a.id = m.account_id
    where m.tenant_id = ${tenantId} and m.container_id is null and m.role = 'OWNER' and m.account_id <> ${leavingId}
      and a.kind = 'PERSON' and a.state = 'ACTIVE'
      and ((${serves} and a.password_hash is not null)
           or exists (select from connected_identity c where c.tenant_id = a.tenant_id and c.account_id = a.id
                      and c.provider_id in ${tx.list(inForce)}))
    limit 1`
  if (!other) refuse('membership.last_owner')
}

/** Refuses admin.operator_last where nobody else in the register could act; it stays so until the commit. */
export const keepAnOperator = (ctx: Ctx, leavingId: string): Promise<void> =>
  ctx.asInstallation(async () => {
    const { tx } = ctx
    const [, [other]] = await Promise.all([
      tx`select 1 from installation for update`,
      tx`
        select 1 from operator o
        join account a on a.tenant_id = o.workspace_id and a.id = o.account_id
        join tenant t on t.id = a.tenant_id
        where o.account_id <> ${leavingId} and ${canAct(tx)} limit 1`,
    ])
    if (!other) refuse('admin.operator_last')
  })
