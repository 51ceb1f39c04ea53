/** A workspace as operators see it, as a list of names and values. */
import type { AdminTenant } from '../../core/contract/tenants/operations.ts'
import { details } from './details.ts'
import { moment } from './moment.ts'

export function workspaceDetails(tenant: AdminTenant): string {
  const since = (at: string | null) => (at === null ? null : moment(at))
  return details([
    ['slug', tenant.slug],
    ['name', tenant.display_name],
    ['id', tenant.id],
    ['state', tenant.state],
    ['accounts', tenant.account_count],
    ['legal holds', tenant.hold_count],
    ['locale', tenant.default_locale],
    ['time zone', tenant.default_time_zone],
    ['created', moment(tenant.created_at)],
    ['suspended', since(tenant.suspended_at)],
    ['deletion asked', since(tenant.deletion_requested_at)],
    ['purge after', since(tenant.purge_after)],
    ['purge began', since(tenant.purge_started_at)],
    ['passwords until', since(tenant.password_opening?.until ?? null)],
    ['passwords asked by', tenant.password_opening?.requester],
    ['version', tenant.version],
  ])
}
