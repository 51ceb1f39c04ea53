/**
 * The particulars of a workspace: its name, and the locale and time zone that it gives to what says nothing else.
 *
 * A locale with another dictionary has the documents of search made anew (areas/search/indexing.ts). Dates that are set keep
 * their zone; the slug never changes. Spec: ours; docs/decisions/0290.
 */

import type { Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { AdminTenant, tenantOperations as ops } from '../../contract/tenants/operations.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { knownLocale, knownTimeZone } from '../../kernel/values/locale.ts'
import { rebuildForLocale } from '../search/reindex.ts'
import { changedMembers } from '../structure/changed-members.ts'
import { readTenant } from './list.ts'

type Particulars = Pick<AdminTenant, 'display_name' | 'default_locale' | 'default_time_zone'>
type TenantRow = Particulars & Pick<AdminTenant, 'slug' | 'state' | 'version'>

/** A patch that changes nothing writes nothing. Refuses not_found, precondition.failed, request.invalid, admin.tenant_leaving. */
export async function updateTenant(
  ctx: Ctx,
  { tenantId, body }: Received<typeof ops.updateTenant>,
): Promise<AdminTenant> {
  const [tenant] = await ctx.tx<TenantRow[]>`
    select slug, state, display_name, default_locale, default_time_zone, version
    from tenant where id = ${tenantId} for no key update`
  if (!tenant) refuse('not_found')
  ctx.unchanged(tenant.version)
  if (tenant.state === 'PENDING_DELETION') refuse('admin.tenant_leaving')
  const next = particularsFrom(body, tenant)
  const members = changedMembers<Particulars>(tenant, next)
  if (members.length === 0) return readTenant(ctx.tx, tenant.slug)

  await ctx.tx`
    update tenant set display_name = ${next.display_name}, default_locale = ${next.default_locale},
           default_time_zone = ${next.default_time_zone}, version = version + 1
    where id = ${tenantId}`
  const who = { id: tenantId, slug: tenant.slug }
  await ctx.journal('tenant.changed', who, { params: { members } })
  await ctx.inWorkspace(tenantId, async () => {
    await ctx.record('work.tenant.changed', { ...who, ...next, previous: valuesOf(tenant, members) }, { members })
    await rebuildForLocale(ctx, { tenantId, before: tenant.default_locale, now: next.default_locale })
  })
  return readTenant(ctx.tx, tenant.slug)
}

/** What is sent, in its canonical spelling; what is left out stays. */
const particularsFrom = (body: Received<typeof ops.updateTenant>['body'], tenant: Particulars): Particulars => ({
  display_name: body.display_name ?? tenant.display_name,
  default_locale:
    body.default_locale === undefined ? tenant.default_locale : knownLocale(body.default_locale, '/default_locale'),
  default_time_zone:
    body.default_time_zone === undefined
      ? tenant.default_time_zone
      : knownTimeZone(body.default_time_zone, '/default_time_zone'),
})

const valuesOf = (row: Particulars, members: readonly string[]): Partial<Particulars> =>
  Object.fromEntries(members.map((name) => [name, row[name as keyof Particulars]]))
