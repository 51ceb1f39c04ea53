/** The roles of transactions; each is set by a statement in the transaction's first packet. Spec: docs/architecture.md. */

const uuidShape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** The statement that binds a transaction to one workspace. */
export const asTenant = (tenantId: string) => asRoleIn('svc_tenant', tenantId)

/** The same for a purge, which alone may remove rows that are append-only for all other roles. */
export const asPurgeOf = (tenantId: string) => asRoleIn('svc_purge', tenantId)

const asRoleIn = (role: string, tenantId: string) =>
  `set local role ${role}; set local app.tenant_id = ${quotedId(tenantId)}`

/**
 * A workspace's id as a literal, for statements without parameters. Throws TypeError unless it is a lower-case UUID.
 */
export function quotedId(tenantId: string): string {
  if (!uuidShape.test(tenantId)) throw new TypeError('a workspace id is a lower-case UUID')
  return `'${tenantId}'`
}

export const asInstallation = "set local role svc_installation; set local app.tenant_id = ''"

/** The same where the transaction has not acted in a workspace yet: then none is in force. */
export const openAsInstallation = 'set local role svc_installation'

/** What is in force behind an opening, in the words of a switch: then to switch to the same takes no statement. */
export const inForceBehind = (opening: string): string => (opening === openAsInstallation ? asInstallation : opening)

/** The role that alone reads and writes the queue's tables. */
export const asQueue = 'set local role svc_queue'

/** The commit does not wait for the disk: for what a crash of the server may forget. */
export const withoutSync = "set local synchronous_commit = 'off'"
/** The same for a session that commits nothing else. */
export const sessionWithoutSync = "set synchronous_commit = 'off'"
