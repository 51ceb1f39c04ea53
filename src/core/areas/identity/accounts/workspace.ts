/** The workspace of an account, for the operator at the database, who belongs to none. */
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { isAccount } from '../../../kernel/values/actor.ts'

/** Account ids are unique in the installation. Refuses not_found. */
export async function workspaceOfAccount({ tx }: Ctx, accountId: string): Promise<string> {
  const [row] = await tx<{ tenant_id: string }[]>`select tenant_id from account where id = ${accountId}`
  return row?.tenant_id ?? refuse('not_found')
}

/** Refuses not_found. */
export async function workspaceOfSlug({ tx }: Ctx, slug: string): Promise<string> {
  const [row] = await tx<{ id: string }[]>`select id from tenant where slug = ${slug}`
  return row?.id ?? refuse('not_found')
}

/** Runs work on an account in its workspace: the caller's own, or at the database that of the account. Refuses not_found. */
export async function inWorkspaceOf<T>(
  ctx: Ctx,
  accountId: string,
  work: (tenantId: string) => Promise<T>,
): Promise<T> {
  if (isAccount(ctx.actor)) return work(ctx.actor.tenantId)
  const tenantId = await workspaceOfAccount(ctx, accountId)
  return ctx.inWorkspace(tenantId, () => work(tenantId))
}
