/**
 * Whether the caller could grant by itself what a group has. Whoever puts an account into a group gives it the roles of the
 * group, and so must be able to give each of them: otherwise an ADMIN would join a group that opens a private board.
 * Spec: people 2, Groups; people 10.
 */
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { holdsIn, isSeen, seesAll } from './access.ts'

/**
 * The caller is ADMIN of the workspace, which suffices for all roles but those in containers where it counts for nothing.
 * Deleted containers count, because they can be restored. Refuses auth.role_required: OWNER where the caller does not see
 * the container, ADMIN where it has too low a role there.
 */
export async function demandGrantable(ctx: Ctx, groupId: string): Promise<void> {
  if (seesAll(ctx)) return
  const { tx, account } = ctx
  const { tenantId } = account
  const [above] = await tx<{ is_seen: boolean }[]>`
    select ${isSeen(ctx)} as is_seen from membership given
    join container c on c.tenant_id = given.tenant_id and c.id = given.container_id
    left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
    where given.tenant_id = ${tenantId} and given.holder_id = ${groupId} and given.container_id is not null
      and not ${holdsIn(tx, account, 'ADMIN')}
    order by is_seen limit 1`
  if (above) refuse('auth.role_required', { role: above.is_seen ? 'ADMIN' : 'OWNER' })
}
