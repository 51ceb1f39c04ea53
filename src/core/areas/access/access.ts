/**
 * Who sees a container, and with which role.
 *
 *    a membership of the container itself     always counts
 *    a membership of the hub that holds it    counts unless the collection is private
 *    the role on the workspace                counts unless the collection or its hub is private
 *    OWNER of the workspace                   sees every container, also private ones
 *
 * The roles are the caller's own and those of its groups (kernel/database/role-holders.ts). The highest role that counts is
 * the caller's role in the container. If none counts, the caller gets the same answer as for an id that does not exist. A collection of an archived hub is
 * archived, and a collection of a deleted hub is deleted, whatever its own row says.
 *
 * Nothing is cached: memberships are read with the container, so a change takes effect at the next
 * request. Spec: decisions 1 (not visible), 2 (roles); people 2; docs/decisions/0101, 0390.
 */

import {
  type ContainerPolicies,
  type EffectivePolicies,
  policyNames,
  productPolicies,
} from '../../contract/containers/policies.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import { type Role, rankOf, roles } from '../../contract/vocabulary.ts'
import { holdersOf } from '../../kernel/database/role-holders.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import { hasWaited } from '../../kernel/database/waited.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import type { AccountActor } from '../../kernel/values/actor.ts'

/** What a container decides itself, and what it takes from its hub, or from the workspace. */
export type PolicyColumns = ContainerPolicies & {
  readonly [Name in keyof ContainerPolicies as `hub_${Name}`]: ContainerPolicies[Name]
}

/** The columns of `PolicyColumns`, of the container `c` and its hub `h`. */
const policyColumns = (tx: Pick<Tx, 'part'>, tenantId: string): Part => tx.part`
  c.trash_days, c.archive_done_after_days, c.delete_role, c.comment_role, c.complete_needs_children, c.complete_children,
  c.auto_assign_group_id, ${hubPolicyColumns(tx, tenantId)}`

/** Those of the hub `h`; behind it stands what the workspace decides by its rules of retention. */
export const hubPolicyColumns = (tx: Pick<Tx, 'part'>, tenantId: string): Part => tx.part`
  coalesce(h.trash_days, ${daysOfRule(tx, tenantId, 'TRASH')}) as hub_trash_days,
  coalesce(h.archive_done_after_days, ${daysOfRule(tx, tenantId, 'DONE_ITEMS')}) as hub_archive_done_after_days,
  h.delete_role as hub_delete_role,
  h.comment_role as hub_comment_role, h.complete_needs_children as hub_complete_needs_children,
  h.complete_children as hub_complete_children, h.auto_assign_group_id as hub_auto_assign_group_id`

/** The days that the workspace decided; null: none (areas/retention-rules). Its id is a value: the statement may lock `c`. */
const daysOfRule = ({ part }: Pick<Tx, 'part'>, tenantId: string, kind: 'TRASH' | 'DONE_ITEMS'): Part =>
  part`(select r.days from retention_rule r where r.tenant_id = ${tenantId} and r.kind = ${kind})`

/** A container as a rule needs it: its row, the state that it takes from its hub, and the caller's role in it. */
export type ContainerRow = PolicyColumns & {
  readonly id: string
  readonly kind: 'HUB' | 'COLLECTION'
  readonly parent_id: string | null
  readonly name: string
  readonly description: string | null
  readonly rank: string
  readonly is_private: boolean
  readonly archived_at: string | null
  readonly deleted_at: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly version: number
  /** The container or its hub is archived, so nothing in it may be written. */
  readonly is_archived: boolean
  /** Its hub is deleted, so the container is deleted too. */
  readonly is_parent_deleted: boolean
  /** Its lock was waited for: what was read before may be old. */
  readonly has_waited: boolean
  readonly role: Role
}

type FoundRow = Omit<ContainerRow, 'role'> & {
  readonly hub_id: string | null
  readonly is_hub_private: boolean
  /** A role of the caller in the container or its hub, and in which of them. */
  readonly held_role: Role | null
  readonly held_in: string | null
}

/** How the container's row is locked: `share` keeps it unchanged, `no key update` also makes writers in it wait. */
type Lock = 'share' | 'no key update'

/**
 * The container, for reading. Refuses not_found: unknown, another workspace's, deleted, or not
 * visible to the caller; auth.role_required where the caller's role in it is lower.
 */
export async function visibleContainer(ctx: Ctx, containerId: string, role: Role = 'VIEWER'): Promise<ContainerRow> {
  const container = alive(await findContainer(ctx, known(ctx, containerId)))
  demandRole(container, role)
  return container
}

/**
 * The container, for writing in it. It does not change until the commit. Refuses not_found, auth.role_required where the
 * caller's role in it is lower, container.archived.
 */
export async function writableContainer(
  ctx: Ctx,
  containerId: string,
  role: Role | DecidedRole,
): Promise<ContainerRow> {
  const held = heldBy.get(ctx)
  if (!held?.has(containerId)) return writableContainerOf(ctx, known(ctx, containerId), role)
  return writable(held.get(containerId), role)
}

/** A role that the container's policies decide. */
export type DecidedRole = 'delete_role' | 'comment_role'

/** The same for a container that a query finds. */
export async function writableContainerOf(
  ctx: Ctx,
  containerId: Part,
  role: Role | DecidedRole,
): Promise<ContainerRow> {
  return writable(await findContainer(ctx, containerId, 'share'), role)
}

/** Containers that a call about many items has locked; undefined: the caller does not see it. */
const heldBy = new WeakMap<Ctx, ReadonlyMap<string, ContainerRow | undefined>>()

/**
 * Locks the containers, and finds them here until the commit: what the caller may in them is asked once for a call about many
 * items, and not for each of these. Not within a savepoint, which gives the locks back (docs/decisions/0513).
 */
export async function holdContainers(ctx: Ctx, containerIds: readonly string[]): Promise<void> {
  const ids = [...new Set(containerIds)].sort()
  const found = await together(...ids.map((id) => findContainer(ctx, known(ctx, id), 'share')))
  // What is read from now on is read behind the lock.
  heldBy.set(ctx, new Map(found.map((row, at) => [ids[at]!, row && { ...row, has_waited: false }])))
}

/** Whether the call holds the containers of its items. */
export const holdsContainers = (ctx: Ctx): boolean => heldBy.has(ctx)

function writable(found: ContainerRow | undefined, role: Role | DecidedRole): ContainerRow {
  const container = alive(found)
  const isDecided = role === 'delete_role' || role === 'comment_role'
  demandRole(container, isDecided ? effectivePolicies(container)[role] : role)
  if (container.is_archived) refuse('container.archived')
  return container
}

/**
 * The same for a container that a body names. Refuses request.invalid at the pointer where the caller does not see it,
 * auth.role_required, container.archived.
 */
export async function referencedContainer(
  ctx: Ctx,
  containerId: string,
  role: Role,
  pointer: string,
): Promise<ContainerRow> {
  const container = await findContainer(ctx, known(ctx, containerId), 'share')
  if (!container || isGone(container)) refuseMember(pointer, 'reference.unknown')
  demandRole(container, role)
  if (container.is_archived)
    refuse('container.archived', undefined, { errors: [{ pointer, code: 'container.archived', params: {} }] })
  return container
}

/**
 * The container, for changing the container itself. Writers in it wait. Refuses not_found, auth.role_required,
 * precondition.failed.
 */
export async function lockUnchanged(ctx: Ctx, containerId: string, role: Role): Promise<ContainerRow> {
  const container = alive(await findContainer(ctx, known(ctx, containerId), 'no key update'))
  demandRole(container, role)
  ctx.unchanged(container.version)
  return container
}

/** The same, for a change that an archived container does not allow. Refuses container.archived as well. */
export async function lockWritable(ctx: Ctx, containerId: string, role: Role): Promise<ContainerRow> {
  const container = await lockUnchanged(ctx, containerId, role)
  if (container.is_archived) refuse('container.archived')
  return container
}

/** The container, locked, also when it is deleted. Refuses not_found, auth.role_required. */
export async function restorableContainer(ctx: Ctx, containerId: string, role: Role): Promise<ContainerRow> {
  const container = await findContainer(ctx, known(ctx, containerId), 'no key update')
  if (!container) refuse('not_found')
  demandRole(container, role)
  return container
}

/**
 * The container of something in the trash, also when the container is deleted itself. It does not change until the commit.
 * `containerId`: a query for the id. Refuses not_found, auth.role_required.
 */
export async function containerOfTrashed(ctx: Ctx, containerId: Part, role: Role): Promise<ContainerRow> {
  const container = await findContainer(ctx, containerId, 'share')
  if (!container) refuse('not_found')
  demandRole(container, role)
  return container
}

/** The container if the caller sees it and it is not deleted: for an id in a body, which is refused by its pointer. */
export async function findVisibleContainer(ctx: Ctx, containerId: string): Promise<ContainerRow | undefined> {
  const container = await findContainer(ctx, known(ctx, containerId))
  return container && !isGone(container) ? container : undefined
}

/** The ids of the containers that the caller sees and that are not deleted, as the inside of an `in (…)`. */
export function visibleContainerIds(ctx: Ctx): Part {
  const { tenantId } = ctx.account
  return ctx.tx.part`
    select c.id from container c left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
    where c.tenant_id = ${tenantId} and c.deleted_at is null and h.deleted_at is null and ${isSeen(ctx)}`
}

/** Whether the caller sees every container of the workspace. */
export const seesAll = ({ account }: Ctx): boolean => !account.isGuest && account.role === 'OWNER'

/** Whether the caller sees the container `c`, whose hub is `h`: for a statement that reads many. */
export const isSeen = (ctx: Ctx): Part => holdsIn(ctx.tx, ctx.account, 'VIEWER')

/** Who holds a role: the caller, or whoever asked for a job. */
export type Holder = Pick<AccountActor, 'tenantId' | 'accountId' | 'role' | 'isGuest'>

/** Whether an account has the role, or a higher one, in the container `c`, whose hub is `h`: for a statement that reads many. */
export function holdsIn(
  tx: Pick<Tx, 'part' | 'list'>,
  { tenantId, accountId, role, isGuest }: Holder,
  needed: Role,
): Part {
  if (!isGuest && role === 'OWNER') return tx.part`true`
  const enough = roles.filter((one) => rankOf[one] >= rankOf[needed])
  const ofRole = needed === 'VIEWER' ? tx.part`` : tx.part`and m.role in ${tx.list(enough)}`
  const named = tx.part`exists (
    select from membership m where m.tenant_id = ${tenantId} and m.holder_id = any (${holders(tx, tenantId, accountId)}) ${ofRole}
      and (m.container_id = c.id or (m.container_id = c.parent_id and not c.is_private)))`
  const isGeneral = !isGuest && rankOf[role] >= rankOf[needed]
  return isGeneral ? tx.part`(not (c.is_private or coalesce(h.is_private, false)) or ${named})` : named
}

const holders = (tx: Pick<Tx, 'part'>, tenantId: string, accountId: string): Part =>
  holdersOf(tx, tx.part`${tenantId}`, tx.part`${accountId}::uuid`)

const known = ({ tx }: Ctx, containerId: string): Part => tx.part`${containerId}::uuid`

/** `containerId`: a query for the id. */
async function findContainer(ctx: Ctx, containerId: Part, lock?: Lock): Promise<ContainerRow | undefined> {
  const actor = ctx.account
  const { tenantId, accountId } = actor
  const { tx } = ctx
  const locked =
    lock === undefined ? tx.part`` : lock === 'share' ? tx.part`for share of c` : tx.part`for no key update of c`
  // The outer query runs when the row is locked, and so tells the wait.
  const rows = await tx<FoundRow[]>`
    select f.*, ${hasWaited(tx)} as has_waited from (
      select c.id, c.kind, c.parent_id, c.name, c.description, c.rank, c.is_private, c.archived_at, c.deleted_at,
             c.created_at, c.updated_at, c.version, ${policyColumns(tx, tenantId)},
             (c.archived_at is not null or h.archived_at is not null) as is_archived,
             h.id as hub_id, h.deleted_at is not null as is_parent_deleted, coalesce(h.is_private, false) as is_hub_private,
             m.role as held_role, m.container_id as held_in
      from container c
      left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
      left join membership m on m.tenant_id = c.tenant_id and m.holder_id = any (${holders(tx, tenantId, accountId)})
        and m.container_id in (c.id, c.parent_id)
      where c.tenant_id = ${tenantId} and c.id = ${containerId} and c.purged_at is null ${locked}) f`
  const [row] = rows
  if (!row) return undefined
  // The container was moved while this statement waited for the lock, so the joined hub is the old one. Now that the
  // row is locked, a second read is correct.
  if (row.hub_id !== row.parent_id) return findContainer(ctx, containerId, lock)
  // What a transaction locks for a change it may be about to hide itself.
  if (lock !== undefined) ctx.staysOpen(row.id, lock === 'share' && !row.is_private && !row.is_hub_private)
  const role = roleIn(actor.isGuest ? undefined : actor.role, row, rows)
  return role === undefined ? undefined : { ...row, role }
}

/** What a role in a container depends on. */
type Place = Pick<FoundRow, 'id' | 'is_private' | 'is_hub_private'>
type Held = Pick<FoundRow, 'held_role' | 'held_in'>

/**
 * An account's role in a container; undefined if it does not see it. `general`: its role on the workspace, undefined for a
 * guest. `held`: a row for each membership of the container and its hub.
 */
export function roleIn(general: Role | undefined, place: Place, held: readonly Held[]): Role | undefined {
  const isOpen = !place.is_private && !place.is_hub_private
  const counting = [
    ...held.map(({ held_in, held_role }) => (held_in === place.id || !place.is_private ? held_role : null)),
    isOpen || general === 'OWNER' ? general : null,
  ]
  return highestOf(counting)
}

/** The highest of these roles; undefined: there is none. */
export const highestOf = (held: readonly (Role | null | undefined)[]): Role | undefined =>
  held.filter((one) => one !== null && one !== undefined).sort((a, b) => rankOf[b] - rankOf[a])[0]

/** What the container decides, or its hub, or the workspace, or the product. */
export function effectivePolicies(row: PolicyColumns): EffectivePolicies {
  const decided = policyNames.map((name) => [name, row[name] ?? row[`hub_${name}`] ?? productPolicies[name]])
  return Object.fromEntries(decided) as EffectivePolicies
}

/** For how many days the trash of the container `c`, whose hub is `h`, is kept: for a statement that reads many. 0: for ever. */
export const trashDaysOf = (tx: Pick<Tx, 'part'>, tenantId: string): Part =>
  tx.part`coalesce(c.trash_days, h.trash_days, ${daysOfRule(tx, tenantId, 'TRASH')}, ${productPolicies.trash_days})`

/** The same of what is done and stays on the board. */
export const archiveDaysOf = (tx: Pick<Tx, 'part'>, tenantId: string): Part => tx.part`
  coalesce(c.archive_done_after_days, h.archive_done_after_days, ${daysOfRule(tx, tenantId, 'DONE_ITEMS')}, ${productPolicies.archive_done_after_days})`

const isGone = ({ deleted_at, is_parent_deleted }: ContainerRow) => deleted_at !== null || is_parent_deleted

function alive(container: ContainerRow | undefined): ContainerRow {
  if (!container || isGone(container)) refuse('not_found')
  return container
}

function demandRole(container: ContainerRow, role: Role): void {
  if (rankOf[container.role] < rankOf[role]) refuse('auth.role_required', { role })
}
