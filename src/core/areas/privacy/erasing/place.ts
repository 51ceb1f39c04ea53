/**
 * The database as the place of an erasure: its tables, and what legal holds cover in it.
 *
 *    TENANT               everything
 *    ACCOUNT              the account's rows, and what is covered because of it
 *    ITEM, CONTAINER      what belongs to the item, or is in the container
 *
 * Spec: Keeping, 1, A hold covers; items 3; docs/decisions/0203, 0270, 0461.
 */
import type { Part } from '../../../kernel/database/statement.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'
import { type Place, part, raw } from '../../erasure/rules.ts'
import type { Held } from '../../erasure/statement.ts'
import { isItemHeld } from '../../items/trash/holds.ts'

interface Whose {
  readonly tenantId: string
  readonly accountId: string | null
}

/** An id that no account has: of an erasure of somebody without one. */
const nobody = '00000000-0000-0000-0000-000000000000'

export const placeOf = ({ tenantId, accountId }: Whose): Place => ({
  ...{ tenantId, accountId: accountId ?? nobody, isArchive: false },
  table: raw,
})

const nothingHeld: Held = () => undefined

/** What holds cover now. None is placed before the commit: the workspace's lock is held. */
export async function heldNow(tx: Tx, whose: Whose): Promise<Held> {
  const [row] = await tx<{ is_held: boolean }[]>`select ${isAnyHeld(whose.tenantId)} as is_held`
  return row?.is_held ? heldIn(tx, whose) : nothingHeld
}

/** Whether a hold in force covers the row `x`. */
export const heldIn =
  (tx: Tx, { tenantId, accountId }: Whose): Held =>
  ({ item, container }) =>
    part`(${isAccountHeld(tenantId, part`${accountId ?? nobody}::uuid`)}
      ${item ? part`or ${isHeldByItem(tx, tenantId, item)}` : part``}
      ${container ? part`or ${isHeldByContainer(tenantId, container)}` : part``})`

/** Whether a hold in force covers the whole account. */
export const isAccountHeld = (tenantId: string, accountId: Part): Part => part`exists (
  select from legal_hold l where l.tenant_id = ${tenantId} and l.released_at is null
    and (l.scope_kind = 'TENANT' or l.scope_kind = 'ACCOUNT' and l.scope_id = ${accountId}))`

/** Whether a hold covers the whole account now. */
export async function isAccountHeldNow(
  tx: Tx,
  { tenantId, accountId }: { readonly tenantId: string; readonly accountId: string },
): Promise<boolean> {
  const [row] = await tx<{ is_held: boolean }[]>`
    select ${isAccountHeld(tenantId, part`${accountId}::uuid`)} as is_held`
  return row?.is_held === true
}

/** By a scalar, which is asked for each row: as an `exists` it would be asked of every item, to be looked up. */
const isHeldByItem = (tx: Tx, tenantId: string, itemId: Part): Part => part`coalesce((
  select true from item i where i.tenant_id = ${tenantId} and i.id = ${itemId} and ${isItemHeld(tx, tenantId)} limit 1), false)`

const isHeldByContainer = (tenantId: string, containerId: Part): Part => part`exists (
  select from legal_hold l where l.tenant_id = ${tenantId} and l.released_at is null and l.scope_kind = 'CONTAINER'
    and (l.scope_id = ${containerId}
      or l.scope_id = (select c.parent_id from container c where c.tenant_id = ${tenantId} and c.id = ${containerId})))`

/** Whether a hold in force covers the copy `h` of an erasure of the account. Which one keeps the bytes of a file, nothing says: any. */
export const isCopyHeld = (tx: Tx, { tenantId, accountId }: Whose): Part => part`(
  ${isAccountHeld(tenantId, part`${accountId ?? nobody}::uuid`)}
  or h.item_id is not null and ${isHeldByItem(tx, tenantId, part`h.item_id`)}
  or h.container_id is not null and ${isHeldByContainer(tenantId, part`h.container_id`)}
  or h.part = 'FILES' and ${isAnyHeld(tenantId)})`

export const isAnyHeld = (tenantId: string): Part =>
  part`exists (select from legal_hold l where l.tenant_id = ${tenantId} and l.released_at is null)`
