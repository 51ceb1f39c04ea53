/**
 * Converts path templates to the router's form, and back.
 *
 *    /admin/tenants/{tenantId}:suspend   →   /api/v1/admin/tenants/:tenantId(^[^:/]+)::suspend
 *
 * For the router, a path parameter is a whole segment unless its end is given. Our parameters
 * end at a colon, so that `{id}` does not include an action, and two actions of one resource
 * are two routes. Spec: decisions 1, Conventions.
 */
import type { Operation } from '../core/contract/operation.ts'

export const root = '/api/v1'

const parameter = /\{([a-zA-Z]+)\}/g

/** The route of a path template in the router's form. */
export function routeOf(path: string): string {
  const [, resource = path, action] = /^(.*?)(?::([a-z-]+))?$/.exec(path) ?? []
  const route = resource.replace(parameter, ':$1(^[^:/]+)')
  return `${root}${route}${action === undefined ? '' : `::${action}`}`
}

/** The methods of a path in alphabetical order; empty for an unknown path. */
export function allowedMethods(operations: readonly Pick<Operation, 'path' | 'method'>[]): (path: string) => string[] {
  const served = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>()
  for (const { path, method } of operations) {
    const entry = served.get(path) ?? { pattern: patternOf(path), methods: new Set() }
    entry.methods.add(method)
    if (method === 'GET') entry.methods.add('HEAD')
    served.set(path, entry)
  }
  const entries = [...served.values()]
  return (path) =>
    [...new Set(entries.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => [...methods]))].sort()
}

const patternOf = (path: string) => new RegExp(`^${root}${path.replace(/[.]/g, '\\.').replace(parameter, '[^/:]+')}$`)
