/**
 * What is in the trash, as the list shows it and `:empty` counts and purges it.
 *
 * An item is in it while its container is there and not archived, a collection while its hub is there: what had been
 * deleted in a container before goes and comes back with the container. Spec: items 3; docs/decisions/0203.
 */
import type { Role } from '../../../contract/vocabulary.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'
import { type Holder, holdsIn } from '../../access/access.ts'

export interface Trash {
  /** Whose trash it is: what is in containers in which this account has the role. */
  readonly holder: Holder
  readonly role: Role
  /** Only items of this collection, or collections of this hub. */
  readonly containerId?: string | undefined
  /** Only what was deleted before this moment, as PostgreSQL writes it. */
  readonly before?: string | undefined
}

type Writer = Pick<Tx, 'part' | 'list'>

/** The items `i` that it lists: what was deleted with one of them goes and comes back with it. */
export function trashedItems(tx: Writer, { holder, role, containerId, before }: Trash): Part {
  const { tenantId } = holder
  return tx.part`
    from item i
    where i.tenant_id = ${tenantId} and i.deleted_at is not null and i.purged_at is null and i.deleted_with is null ${deletedBefore(tx, tx.part`i`, before)}
      ${containerId === undefined ? tx.part`` : tx.part`and i.container_id = ${containerId}`}
      and i.container_id in (
        select c.id from container c left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
        where c.tenant_id = ${tenantId} and c.deleted_at is null and h.deleted_at is null
          and c.archived_at is null and h.archived_at is null and ${holdsIn(tx, holder, role)})`
}

/** The containers `c`. */
export function trashedContainers(tx: Writer, { holder, containerId, before }: Omit<Trash, 'role'>): Part {
  return tx.part`
    from container c left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
    where c.tenant_id = ${holder.tenantId} and c.deleted_at is not null and c.purged_at is null and h.deleted_at is null
      ${deletedBefore(tx, tx.part`c`, before)}
      ${containerId === undefined ? tx.part`` : tx.part`and c.parent_id = ${containerId}`}
      and ${holdsIn(tx, holder, 'ADMIN')}`
}

const deletedBefore = (tx: Writer, row: Part, before: string | undefined): Part =>
  before === undefined ? tx.part`` : tx.part`and ${row}.deleted_at < ${before}::timestamptz`
