/** What the people of a workspace learn about it: its release, its ceilings, what it may do. Spec: people 6, M2. */
import type { WorkspaceFacts } from '../../contract/meta/server.ts'
import { refuse } from '../../contract/problem.ts'
import { rankOf } from '../../contract/vocabulary.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { productVersion } from '../../kernel/values/product.ts'
import { readSettings } from '../settings/settings.ts'
import { resolvedQuotasOf } from './quotas.ts'

export async function getWorkspace(ctx: Ctx): Promise<WorkspaceFacts> {
  const { tenantId, role, isGuest } = ctx.account
  const isShown = !isGuest && rankOf[role] >= rankOf.ADMIN
  const { quotas: decided, signIn } = await readSettings(ctx)
  return ctx.asInstallation(async () => {
    const [workspace] = await ctx.tx<[WorkspaceFacts['workspace']]>`
      select id, slug, display_name, default_locale, default_time_zone from tenant where id = ${tenantId}`
    if (!workspace) refuse('not_found')
    const quotas = await resolvedQuotasOf(ctx, tenantId, decided, isShown)
    return {
      server_version: productVersion,
      workspace,
      quotas,
      managed_accounts: signIn.managed_accounts,
      private_hubs: signIn.private_hubs,
    }
  })
}
