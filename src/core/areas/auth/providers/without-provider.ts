/**
 * People who can sign in through none of the providers that the workspace has switched on. Spec: Index, Auth, `GET
 * /tenant/accounts-without-provider`.
 */

import type { Answer, Received } from '../../../contract/operation.ts'
import type { providerOperations as ops } from '../../../contract/providers/operations.ts'
import type { Role } from '../../../contract/vocabulary.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { firstId, pageOfRows, pageStart } from '../../../kernel/transaction/page.ts'
import { isRestrictedFor } from '../../access/restriction.ts'
import { roleOnWorkspace } from '../../access/workspace-role.ts'
import { providersInForce } from './in-force.ts'

const list = { operation: 'listAccountsWithoutProvider' }

interface PersonRow {
  readonly id: string
  readonly email: string | null
  readonly display_name: string | null
  readonly role: Role | null
  readonly has_password: boolean
}

/** Active people without a connection to a provider in force, oldest first. Refuses cursor.invalid. */
export async function listAccountsWithoutProvider(
  ctx: Ctx,
  { cursor, size }: Received<typeof ops.listAccountsWithoutProvider>,
): Promise<Answer<typeof ops.listAccountsWithoutProvider>> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const after = pageStart(ctx, list, cursor)
  const inForce = (await providersInForce(ctx, tenantId)).map(({ id }) => id)
  const isHidden = isRestrictedFor(ctx)
  const rows = await tx<PersonRow[]>`
    select a.id, case when not ${isHidden} then coalesce(a.email, a.sign_in_name) end as email,
      case when not ${isHidden} then a.display_name end as display_name, ${roleOnWorkspace(tx)} as role, a.password_hash is not null as has_password
    from account a
    where a.tenant_id = ${tenantId} and a.id > ${after ?? firstId}::uuid and a.kind = 'PERSON' and a.state = 'ACTIVE'
      and not exists (select from connected_identity c where c.tenant_id = a.tenant_id and c.account_id = a.id
                      and c.provider_id in ${tx.list(inForce)})
    order by a.id limit ${size + 1}`
  return pageOfRows(ctx, list, rows, size)
}
