/**
 * The items that a query looks at, in the order of their ids, and the conditions that they are held against.
 *
 * One condition that an index serves may lead to them: the id, a parent, a value, a label, a person, the container, the state. Only
 * `and` stands above it, so no item that the filter takes is missed. What leads is read in the order of items behind one
 * key; conditions on a range, and texts that are contained somewhere, only filter. Spec: Work on boards, 2, Cost.
 */
import type { Part } from '../../../kernel/database/statement.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { firstId, lastId } from '../../../kernel/transaction/page.ts'
import { visibleContainerIds } from '../../access/access.ts'
import type { Checked, CustomField, Leaf } from '../filter/checked.ts'
import { compile } from '../filter/compile.ts'
import { beginningOf, numberKey } from '../filter/keys.ts'
import { type Normal, normalForm } from '../filter/normal-form.ts'
import { inArchive, inShelf, onBoard, shelfOf } from '../shelf.ts'
import type { Asked } from './asked.ts'

/** Items `i` behind an id, by id: at most so many. */
export type Candidates = (after: string | undefined, most: number, isDescending: boolean) => Part

export interface Source {
  readonly candidates: Candidates
  /** Whether what leads is likely to lead to few. */
  readonly isNarrow: boolean
  /** How many items one statement looks at. */
  readonly mostLooked: number
  /** What an item `i` has to be, the filter included. */
  readonly where: Part
}

export function sourceOf(ctx: Ctx, asked: Asked): Source {
  const { tx } = ctx
  const inContainer = asked.containerId === undefined ? tx.part`true` : tx.part`i.container_id = ${asked.containerId}`
  const where = tx.part`i.container_id in (${visibleContainerIds(ctx)}) and ${inContainer} and ${compile(ctx, asked.filter, asked)}`
  const mostLooked = mostFor(ctx, asked.filter)
  const leads = conjuncts(asked.filter).flatMap((leaf) => leadOf(ctx, asked, leaf) ?? [])
  const [best] = leads.sort((a, b) => a.rank - b.rank)
  if (best && (best.rank < 4 || asked.containerId === undefined))
    return { candidates: best.candidates, isNarrow: best.rank < 4, mostLooked, where }
  return {
    candidates: plain(ctx, asked, asked.containerId && tx.part`i.container_id = ${asked.containerId}`),
    isNarrow: false,
    mostLooked,
    where,
  }
}

/** How many items may be looked at, so that a page costs no more than it may. */
const mostFor = (ctx: Ctx, filter: Checked): number =>
  Math.ceil(ctx.config.queryScanRows / Math.max(1, (1 + costOf(normalForm(filter))) / pageCost))

/** What a page may cost for each of `SVC_QUERY_SCAN_ROWS` items, where reading one costs 1. */
const pageCost = 3
/** To look up what belongs to an item: an index is descended for it. */
const lookUpCost = 3
/** Whether somebody sees a container: his account, the container and his roles. */
const accessCost = 3 * lookUpCost

/** What a filter costs for each item, beside reading it. So a page of fifty conditions takes as long as one of a few. */
function costOf(filter: Normal): number {
  if ('all' in filter) return filter.all.reduce((sum, one) => sum + costOf(one), 0)
  if ('any' in filter) return filter.any.reduce((sum, one) => sum + costOf(one), 0)
  if ('key' in filter)
    return filter.key.conditions.reduce((sum, { op }) => sum + (op === 'has_no_access' ? accessCost : 0.25), lookUpCost)
  const { field, op, operand } = filter.holds
  if (op === 'has_no_access') return accessCost
  if (op === 'has_all') return lookUpCost * Math.max(1, operand.values?.length ?? 0)
  return 'custom' in field || field.item.rows || field.item.anyOf ? lookUpCost : 0.5
}

/** Conditions that each item of the answer meets. */
function conjuncts(filter: Checked): readonly Leaf[] {
  if ('leaf' in filter) return [filter.leaf]
  return 'all' in filter ? filter.all.flatMap(conjuncts) : []
}

interface Lead {
  /** Less leads to fewer. */
  readonly rank: number
  readonly candidates: Candidates
}

type Asking = Pick<Asked, 'archived' | 'isLoose'>

const plain =
  (ctx: Ctx, { archived }: Asking, condition: Part | undefined | ''): Candidates =>
  (after, most, isDescending) => {
    const { tx } = ctx
    const order = tx.part`order by id ${turned(tx, isDescending)} limit ${most}`
    const on = (shelf: Part) => tx.part`
    select i.* from item i
    where i.tenant_id = ${ctx.account.tenantId} and ${shelf} and ${behind(tx, tx.part`i.id`, after, isDescending)}
      and ${condition || tx.part`true`}
    ${order}`
    if (archived !== 'INCLUDE') return on(shelfOf(ctx, archived))
    // Each shelf has indexes of its own.
    return tx.part`select * from ((${on(onBoard(ctx))}) union all (${on(inArchive(ctx))})) i ${order}`
  }

/** The items of the rows `l` of a table that names items by `item_id`. */
const linked =
  (ctx: Ctx, { archived }: Asking, table: Part, condition: Part): Candidates =>
  (after, most, isDescending) => {
    const { tx } = ctx
    return tx.part`
    select i.* from ${table} l join item i on i.tenant_id = l.tenant_id and i.id = l.item_id
    where l.tenant_id = ${ctx.account.tenantId} and ${condition} and ${behind(tx, tx.part`l.item_id`, after, isDescending)}
      and ${inShelf(ctx, archived)}
    order by l.item_id ${turned(tx, isDescending)} limit ${most}`
  }

function leadOf(ctx: Ctx, asking: Asking, { field, op, operand }: Leaf): Lead | undefined {
  const { tx } = ctx
  if ('custom' in field)
    return asking.isLoose ? undefined : valueLead(ctx, asking, field.custom, { field, op, operand })
  const { values = [] } = operand
  const [value] = values
  if (value === undefined || !['is', 'in', 'has_any', 'has_all'].includes(op)) return undefined
  const { member, rows } = field.item
  const along = (rank: number, condition: Part): Lead => ({ rank, candidates: plain(ctx, asking, condition) })
  const by = (table: Part, condition: Part): Lead => ({ rank: 3, candidates: linked(ctx, asking, table, condition) })
  if (member === 'id') return along(1, tx.part`i.id in ${tx.list(values)}`)
  if (values.length > 1 && op !== 'has_all') return undefined
  if (member === 'parent_id') return along(2, tx.part`i.parent_id = ${value}`)
  if (rows?.table === 'item_label') return by(tx.part`item_label`, tx.part`l.label_id = ${value}`)
  // The assignee is a member (docs/decisions/0201).
  if (rows || member === 'assignee_id') return by(tx.part`item_member`, tx.part`l.account_id = ${value}`)
  if (member === 'state') return along(5, tx.part`i.state = ${value}`)
  return 'of' in field.item && field.item.of === 'container' ? along(4, tx.part`i.container_id = ${value}`) : undefined
}

function valueLead(ctx: Ctx, asking: Asking, { id, kind }: CustomField, { op, operand }: Leaf): Lead | undefined {
  const key = leadingKey(kind, op, operand)
  if (key === undefined) return undefined
  const { tx } = ctx
  return {
    rank: kind === 'BOOL' ? 3 : 2,
    candidates: linked(ctx, asking, tx.part`item_field_key`, tx.part`l.field_id = ${id} and l.key = ${key}`),
  }
}

/** The one key that every item of a condition has. */
function leadingKey(kind: CustomField['kind'], op: Leaf['op'], operand: Leaf['operand']): string | undefined {
  const { values = [], numbers: [number] = [], text, flag } = operand
  if (op === 'has_all') return values[0]
  if (op !== 'is' && !(values.length === 1 && (op === 'in' || op === 'has_any'))) return undefined
  if (kind === 'BOOL') return String(flag === true)
  if (kind === 'NUMBER') return number === undefined ? undefined : numberKey(number)
  return text === undefined ? values[0] : beginningOf(text)
}

const behind = (tx: Tx, id: Part, after: string | undefined, isDescending: boolean): Part =>
  isDescending ? tx.part`${id} < ${after ?? lastId}::uuid` : tx.part`${id} > ${after ?? firstId}::uuid`
export const turned = (tx: Tx, isDescending: boolean): Part => (isDescending ? tx.part`desc` : tx.part``)
