/**
 * Actions on many items in one transaction, each as its own operation does it.
 *
 *    lock the items that are seen, by id, then their containers
 *      └─▶ read fifty, unless an action changes other items, too
 *            └─▶ item by item, in the order sent: its version, then each action
 *                EACH: behind a savepoint   ATOMIC: the first refusal ends all
 *
 * Items are locked by id before anything is done, so two calls about the same items wait for each other and do not end each
 * other. What else two of them lock in different orders, PostgreSQL ends and the pool repeats. Spec: items 1, N6.
 */
import type { BulkAction, BulkResult } from '../../../contract/items/bulk.ts'
import type { Item } from '../../../contract/items/operations.ts'
import { Problem, problemOf, refuse, type Violation } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { etagOf } from '../../../kernel/values/etag.ts'
import { holdContainers, isSeen } from '../../access/access.ts'
import { archiveItem, unarchiveItem } from '../archive.ts'
import { deleteItem, updateItem } from '../change.ts'
import { completeItem, reopenItem } from '../completion.ts'
import { clearItemDue, setItemDue } from '../dates.ts'
import { setItemField } from '../field-values.ts'
import { readAhead } from '../item.ts'
import { addItemLabel, removeItemLabel } from '../labels.ts'
import { moveItem } from '../move.ts'
import { addItemMember, assignItem, removeItemMember, unassignItem } from '../people.ts'
import { restoreItem } from '../trash/restore.ts'
import { holdTreesOf } from '../tree/reading.ts'

export interface Sent {
  readonly id: string
  readonly version?: number | undefined
}

/** Each item for itself, behind a savepoint; the results are in the order sent. */
export function doEach(ctx: Ctx, items: readonly Sent[], actions: readonly BulkAction[]): Promise<BulkResult[]> {
  return doAll(
    ctx,
    items,
    actions,
    (work) => ctx.savepoint(work),
    (at, refusal) => refusedAt(items, at, refusal),
  )
}

/** All or none. Refuses bulk.refused, at the item that was refused. */
export function doTogether(ctx: Ctx, items: readonly Sent[], actions: readonly BulkAction[]): Promise<BulkResult[]> {
  return doAll(
    ctx,
    items,
    actions,
    (work) => work(),
    (at, { code, params, errors = [] }) =>
      refuse('bulk.refused', undefined, { errors: [{ pointer: `/items/${at}`, code, params }, ...errors] }),
  )
}

/** Items that are read in one statement. */
const atOnce = 50

async function doAll(
  ctx: Ctx,
  items: readonly Sent[],
  actions: readonly BulkAction[],
  behind: (work: () => Promise<number | null>) => Promise<number | null>,
  refused: (at: number, refusal: Problem) => BulkResult,
): Promise<BulkResult[]> {
  // Held before the items are locked, as in a call of its own.
  if (actions.some(({ action }) => ofTrees.has(action))) void holdTreesOf(ctx, ...items.map(({ id }) => id))
  const seen = await lockSeen(ctx, items)
  const containerIds = Array.from(seen.values(), (item) => item.container_id)
  await holdContainers(ctx, containerIds)
  // None changes another item, so many can be read before the first is changed.
  const areAlone = !actions.some(({ action }) => ofTrees.has(action))
  const results: BulkResult[] = []
  for (const [at, sent] of items.entries()) {
    if (areAlone && at % atOnce === 0) {
      const next = items.slice(at, at + atOnce).map(({ id }) => id)
      await readAhead(
        ctx,
        next.filter((id) => seen.has(id)),
      )
    }
    try {
      const version = await behind(() => act(ctx, sent, actions, seen))
      results.push({ id: sent.id, status: 200, code: null, params: {}, errors: [], version })
    } catch (thrown) {
      const refusal = problemOf(thrown)
      // What the database is too busy for is no refusal of an item.
      if (!refusal || refusal.code === 'service.unavailable') throw thrown
      results.push(refused(at, refusal))
    }
  }
  return results
}

function refusedAt(items: readonly Sent[], at: number, { status, code, params, errors = [] }: Problem): BulkResult {
  return {
    id: items[at]?.id ?? '',
    status,
    code,
    params,
    errors: errors.map((one) => ({ ...one, pointer: one.pointer ?? '' })),
    version: null,
  }
}

/** Actions that take what is below an item along, or look at it. */
const ofTrees: ReadonlySet<BulkAction['action']> = new Set([
  'move',
  'complete',
  'archive',
  'unarchive',
  'delete',
  'restore',
])

interface Seen {
  readonly id: string
  readonly version: number
  readonly container_id: string
  readonly is_deleted: boolean
}

/** The items of containers that the caller sees, locked; those in the trash also where their container is, too. */
async function lockSeen(ctx: Ctx, items: readonly Sent[]): Promise<ReadonlyMap<string, Seen>> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const rows = await tx<Seen[]>`
    select i.id, i.version, i.container_id, i.deleted_at is not null as is_deleted from item i
    join container c on c.tenant_id = i.tenant_id and c.id = i.container_id
    left join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
    where i.tenant_id = ${tenantId} and i.id in ${tx.list(items.map(({ id }) => id))} and i.purged_at is null
      and c.purged_at is null and (i.deleted_at is not null or c.deleted_at is null and h.deleted_at is null) and ${isSeen(ctx)}
    order by i.id for update of i`
  return new Map(rows.map((row) => [row.id, row]))
}

/** The item's version behind the actions; null if it is deleted. Throws the refusal of an action, with pointers into the request. */
async function act(
  ctx: Ctx,
  { id, version: expected }: Sent,
  actions: readonly BulkAction[],
  seen: ReadonlyMap<string, Seen>,
): Promise<number | null> {
  const found = seen.get(id)
  if (!found || (found.is_deleted && actions[0]?.action !== 'restore')) refuse('not_found')
  const { version } = found
  if (expected !== undefined && expected !== version) refuse('precondition.failed', { current_etag: etagOf(version) })
  let now: number | null = version
  for (const [at, action] of actions.entries()) {
    if (now === null && action.action !== 'restore') refuse('not_found')
    now = await step(ctx, id, action).catch((thrown: unknown) => {
      throw thrown instanceof Problem ? pointed(thrown, action, at) : thrown
    })
  }
  return now
}

/** One action. The version of the item behind it; null if it is deleted. */
async function step(ctx: Ctx, itemId: string, action: BulkAction): Promise<number | null> {
  const of = ({ version: after }: Item) => after
  switch (action.action) {
    case 'update':
      return of(await updateItem(ctx, { itemId, body: bodyOf(action) }))
    case 'move':
      return of(await moveItem(ctx, { itemId, body: bodyOf(action) }))
    case 'complete':
      return of(await completeItem(ctx, { itemId }))
    case 'reopen':
      return of(await reopenItem(ctx, { itemId }))
    case 'assign':
      return of(await assignItem(ctx, { itemId, body: bodyOf(action) }))
    case 'unassign':
      return of(await unassignItem(ctx, { itemId, body: bodyOf(action) }))
    case 'add_member':
      return of(await addItemMember(ctx, { itemId, accountId: action.account_id }))
    case 'add_label':
      return of(await addItemLabel(ctx, { itemId, labelId: action.label_id }))
    case 'set_field':
      return of(await setItemField(ctx, { itemId, key: action.key, body: { value: action.value } }))
    case 'set_due':
      return of(await setItemDue(ctx, { itemId, body: bodyOf(action) }))
    case 'archive':
      return of(await archiveItem(ctx, { itemId }))
    case 'unarchive':
      return of(await unarchiveItem(ctx, { itemId }))
    case 'restore': {
      const restored = await restoreItem(ctx, { itemId })
      // The ceiling refuses at the commit otherwise, which would be all of the call.
      await ctx.tx.settled()
      return of(restored)
    }
    case 'delete':
      await deleteItem(ctx, { itemId })
      return null
    case 'remove_member':
      await removeItemMember(ctx, { itemId, accountId: action.account_id })
      return versionOf(ctx, itemId)
    case 'remove_label':
      await removeItemLabel(ctx, { itemId, labelId: action.label_id })
      return versionOf(ctx, itemId)
    case 'clear_due':
      await clearItemDue(ctx, { itemId })
      return versionOf(ctx, itemId)
  }
}

/** What an action has beside its name: the body of its operation. */
function bodyOf<Action extends BulkAction>({ action: _, ...body }: Action): Omit<Action, 'action'> {
  return body
}

async function versionOf({ tx, account: { tenantId } }: Ctx, itemId: string): Promise<number> {
  const [row] = await tx<{ version: number }[]>`
    select version from item where tenant_id = ${tenantId} and id = ${itemId}`
  return row?.version ?? refuse('not_found')
}

/** What a path names in a call of its own, an action names by a member. */
const named: Readonly<Partial<Record<BulkAction['action'], string>>> = {
  add_member: 'account_id',
  remove_member: 'account_id',
  add_label: 'label_id',
  remove_label: 'label_id',
  set_field: 'key',
}

/** The refusal of an action with its pointers into the request. */
function pointed(refusal: Problem, { action }: BulkAction, at: number): Problem {
  const place = `/actions/${at}`
  const member = named[action]
  if (refusal.code === 'not_found' && member !== undefined)
    return invalid([{ pointer: `${place}/${member}`, code: 'reference.unknown', params: {} }])
  const errors = (refusal.errors ?? []).map((one) => ({ ...one, pointer: `${place}${one.pointer}` }))
  return new Problem(refusal.code, refusal.params, { status: refusal.status, ...(errors.length > 0 ? { errors } : {}) })
}

const invalid = (errors: readonly Violation[]) => new Problem('request.invalid', {}, { errors })
