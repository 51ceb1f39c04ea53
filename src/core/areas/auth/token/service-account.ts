/** Service accounts: credentials of a platform, not of a person. Spec: Authentication, 7; decisions 2. */

import type { serviceAccountOperations as ops } from '../../../contract/auth/tokens.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import { type Role, rankOf } from '../../../contract/vocabulary.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { firstId, pageOfRows, pageStart } from '../../../kernel/transaction/page.ts'
import { newId } from '../../../kernel/values/id.ts'
import { writeWords } from '../../access/account-words.ts'
import { roleOnWorkspace } from '../../access/workspace-role.ts'
import { checkScopes, isShown, writeToken } from './access-token.ts'
import { holdBearer } from './ending.ts'

const list = { operation: 'listServiceAccounts' }

/** The workspace's service accounts, oldest first. Refuses cursor.invalid. */
export async function listServiceAccounts(
  ctx: Ctx,
  { cursor, size }: Received<typeof ops.listServiceAccounts>,
): Promise<Answer<typeof ops.listServiceAccounts>> {
  const { tenantId } = ctx.account
  const after = pageStart(ctx, list, cursor)
  const rows = await ctx.tx.last<
    { id: string; account_id: string; name: string; role: Role | null; created_at: string }[]
  >`
    select a.id, a.id as account_id, a.display_name as name, ${roleOnWorkspace(ctx.tx)} as role, a.created_at
    from account a
    where a.tenant_id = ${tenantId} and a.kind = 'SERVICE' and a.id > ${after ?? firstId}::uuid
    order by a.id limit ${size + 1}`
  return pageOfRows(ctx, list, rows, size)
}

/**
 * Creates a service account with its first token, which is shown once. Refuses request.invalid, auth.role_required,
 * admin.operator_required, auth.unauthenticated where the caller's credential has just ended.
 */
export async function createServiceAccount(
  ctx: Ctx,
  { body }: Received<typeof ops.createServiceAccount>,
): Promise<Answer<typeof ops.createServiceAccount>> {
  const actor = ctx.account
  const parentId = isShown(actor) ? null : actor.credentialId
  if (rankOf[body.role] > rankOf[actor.role]) refuse('auth.role_required', { role: body.role })
  await Promise.all([holdBearer(ctx, actor), checkScopes(ctx, actor, body.scopes)])
  const { tenantId } = actor
  const accountId = newId()

  const [created] = await ctx.tx<{ created_at: string }[]>`
    insert into account (tenant_id, id, kind, state, display_name, joined_at) values (${tenantId}, ${accountId}, 'SERVICE', 'ACTIVE', ${body.name}, now()) returning created_at`
  writeWords(ctx, tenantId, accountId, { display_name: body.name, email: null })
  await ctx.tx`insert into membership (tenant_id, id, account_id, role) values (${tenantId}, ${newId()}, ${accountId}, ${body.role})`
  const { role } = body
  await ctx.record('identity.service_account.created', { id: accountId, kind: 'SERVICE', role }, { role })
  const { token, row } = await writeToken(ctx, tenantId, {
    accountId,
    kind: 'service',
    name: body.name,
    scopes: body.scopes,
    expiresAt: body.expires_at,
    parentId,
  })

  return {
    account_id: accountId,
    name: body.name,
    role: body.role,
    created_at: created?.created_at ?? '',
    token_id: row.id,
    scopes: body.scopes,
    expires_at: row.expires_at,
    token,
  }
}
