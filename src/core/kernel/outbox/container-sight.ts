/**
 * Visibility without a caller: whether an account in a row can see a container, by the current rows.
 *
 * access.ts has the same rules for callers, whose roles the gate has already read; test/webhooks/sight-model.test.ts
 * keeps the two equal. Spec: decisions 7, Sight of events; decisions 0101, 0155.
 */
import { ownHolders } from '../database/role-holders.ts'
import type { Part } from '../database/statement.ts'
import type { Tx } from '../database/transaction.ts'

type Writer = Pick<Tx, 'part'>

/** The container `c` of an id, and the hub `h` that holds it. The conditions below and `isSeen` use both. */
export const joinContainer = (tx: Writer, tenantId: Part, containerId: Part): Part => tx.part`
  left join container c on c.tenant_id = ${tenantId} and c.id = ${containerId}
  left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id`

/**
 * Whether the container `c`, with its hub `h`, is open to everybody with a role on the workspace. Null without a
 * container.
 */
export const isOpen = (tx: Writer): Part => tx.part`not (c.is_private or coalesce(h.is_private, false))`

/** Whether an account may see the private container `c`, with its hub `h`. An OWNER also sees removed ones. */
export const isLetIn = (tx: Writer, tenantId: Part, accountId: Part): Part => tx.part`exists (
  select from account a join membership m on m.tenant_id = a.tenant_id and m.holder_id = any (${ownHolders(tx)})
  where a.tenant_id = ${tenantId} and a.id = ${accountId} and a.state = 'ACTIVE'
    and (m.container_id is null and m.role = 'OWNER'
      or m.container_id = c.id or m.container_id = c.parent_id and not c.is_private))`
