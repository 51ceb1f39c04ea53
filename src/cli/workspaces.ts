/** Workspaces by the name people give: the slug, or the id. */
import { type AdminTenant, tenantOperations } from '../core/admin/tenants/contract.ts'
import { Problem } from '../core/problem.ts'
import type { Caller } from './caller.ts'

const idShape = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The workspace of that slug or id. Refuses not_found. */
export async function findWorkspace(caller: Caller, name: string): Promise<AdminTenant> {
  const id = idShape.test(name) ? name.toLowerCase() : undefined
  // No operation reads one workspace by its id, so the list is searched; an id is rare at a prompt.
  const { data } = await caller.call(tenantOperations.listTenants, id === undefined ? { slug: name } : {})
  const found = data.find((tenant) => (id === undefined ? tenant.slug === name : tenant.id === id))
  if (!found) throw new Problem('not_found')
  return found
}
