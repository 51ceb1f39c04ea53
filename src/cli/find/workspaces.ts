/** Workspaces by the name people give: the slug, or the id; and the caller's own. */

import { identityOperations } from '../../core/contract/identity/operations.ts'
import { Problem } from '../../core/contract/problem.ts'
import { type AdminTenant, tenantOperations } from '../../core/contract/tenants/operations.ts'
import type { Caller } from '../call/caller.ts'
import { isId } from './pick.ts'

/** The workspace of that slug or id. Refuses not_found. */
export async function findWorkspace(caller: Caller, name: string): Promise<AdminTenant> {
  if (isId(name)) return caller.call(tenantOperations.getTenant, { tenantId: name.toLowerCase() })
  const found = await findBySlug(caller, name)
  if (!found) throw new Problem('not_found')
  return found
}

async function findBySlug(caller: Caller, slug: string): Promise<AdminTenant | undefined> {
  const { data } = await caller.call(tenantOperations.listTenants, { slug })
  return data.find((tenant) => tenant.slug === slug)
}

/** The same for people of a workspace, who name their own. Refuses not_found. */
export async function findOwnOrAny(
  caller: Caller,
  name: string,
): Promise<{ readonly id: string; readonly slug: string }> {
  if (caller.way === 'api') {
    const { workspace } = await caller.call(identityOperations.getOwnAccount, {})
    if (name === workspace.slug || name.toLowerCase() === workspace.id) return workspace
  }
  return findWorkspace(caller, name)
}

/** The id of the workspace of the caller's own account; undefined at the database. */
export async function ownWorkspaceId(caller: Caller): Promise<string | undefined> {
  if (caller.way === 'database') return undefined
  const { workspace } = await caller.call(identityOperations.getOwnAccount, {})
  return workspace.id
}
