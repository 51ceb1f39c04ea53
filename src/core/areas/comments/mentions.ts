/**
 * Mentions in a comment: `<@id>` anywhere in the source text.
 *
 * An account that is mentioned sees the item at that moment. An edit asks this only of those that are new, so that a comment can
 * be changed after one of them has lost its access. Of a group those are told who see the item when they are told.
 * Spec: items 4; docs/decisions/0225, 0517.
 */
import { mostMentions } from '../../contract/comments/operations.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { type AccountAccess, accessOfEach } from '../access/account-access.ts'

const mention = /<@([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})>/gi

/** The ids that a text mentions, each once, in their order as text. Refuses request.invalid. */
export function mentionedIn(body: string): readonly string[] {
  const ids = new Set([...body.matchAll(mention)].map(([, id = '']) => id.toLowerCase()))
  if (ids.size > mostMentions) refuseMember('/body', 'list.maximum', { maximum: mostMentions })
  return [...ids].sort()
}

export interface Mentioned {
  readonly accountIds: readonly string[]
  readonly groupIds: readonly string[]
}

/**
 * What the ids are of. An id that was never given out and one of another workspace are refused alike. Refuses request.invalid,
 * mention.no_access.
 */
export async function mentionedOf(ctx: Ctx, containerId: Part, ids: readonly string[]): Promise<Mentioned> {
  if (ids.length === 0) return { accountIds: [], groupIds: [] }
  const { tx, account } = ctx
  const [found, groups] = await together(
    accessOfEach(ctx, containerId, ids),
    tx<{ id: string }[]>`
      select id from account_group where tenant_id = ${account.tenantId} and id in ${tx.list(ids)} order by id`,
  )
  const groupIds = groups.map(({ id }) => id)
  const accountIds = ids.filter((id) => !groupIds.includes(id))
  const unknown = accountIds.find((id) => !found.has(id))
  if (unknown !== undefined) refuseMember('/body', 'reference.unknown', { id: unknown })
  const blind = accountIds.find((id) => !sees(found.get(id)))
  if (blind === undefined) return { accountIds, groupIds }
  const params = { account_id: blind }
  refuse('mention.no_access', params, { errors: [{ pointer: '/body', code: 'mention.no_access', params }] })
}

const sees = (access: AccountAccess | undefined): boolean =>
  access?.role !== undefined && (access.state === 'ACTIVE' || access.state === 'INVITED')

export function insertMentions({ tx, account: { tenantId } }: Ctx, commentId: string, ids: readonly string[]): void {
  if (ids.length === 0) return
  const rows = ids.map((accountId) => ({ tenant_id: tenantId, comment_id: commentId, account_id: accountId }))
  void tx`insert into comment_mention ${tx.rows(rows, 'tenant_id', 'comment_id', 'account_id')}`
}
