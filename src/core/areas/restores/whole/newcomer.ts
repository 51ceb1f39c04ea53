/** What hinders a workspace to be made from an archive: as another one, or as itself again. Spec: Keeping, 3, N19. */
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { newTenant, refuseBlockedSlug } from '../../tenants/provision.ts'
import type { LedgerFacts } from '../erasures.ts'
import type { NewTenantFacts } from '../row.ts'

/** As the installation. Refuses request.invalid, admin.slug_taken, admin.multi_mode_required. */
export async function vetNewTenant(ctx: Ctx, { slug, display_name }: NewTenantFacts): Promise<void> {
  // Language and zone are the archive's.
  const asked = { slug, display_name, default_locale: 'en', default_time_zone: 'UTC' }
  await newTenant(ctx, asked, { locale: 'en', time_zone: 'UTC', week_start: 'MONDAY' }, '/new')
  await demandSlug(ctx, slug)
}

/**
 * As the installation: the workspace is not there, and nobody removed it for good. Refuses restore.workspace_present,
 * restore.purged, admin.slug_taken, admin.multi_mode_required.
 */
export async function demandAbsent(
  ctx: Ctx,
  { id, slug }: { readonly id: string; readonly slug: string },
  { isPurged }: LedgerFacts,
): Promise<void> {
  const { tx, config } = ctx
  const [present] = await tx`select from tenant where id = ${id}`
  if (present) refuse('restore.workspace_present')
  const [certificate] = await tx`select from purge_certificate where workspace_id = ${id}`
  if (certificate || isPurged(id)) refuse('restore.purged')
  if (config.mode === 'single') {
    await tx`select from installation for update`
    const [other] = await tx`select from tenant limit 1`
    if (other) refuse('admin.multi_mode_required')
  }
  await demandSlug(ctx, slug)
}

async function demandSlug(ctx: Ctx, slug: string): Promise<void> {
  const [taken] = await ctx.tx`select from tenant where slug = ${slug}`
  if (taken) refuse('admin.slug_taken')
  await refuseBlockedSlug(ctx, slug)
}
