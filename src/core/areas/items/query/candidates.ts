/**
 * The items that a query looks at, in the order of their ids, and the conditions that they are held against.
 *
 * One condition that an index serves may lead to them: the id, a value, a label, a person, the container, the state. Only
 * `and` stands above it, so no item that the filter takes is missed. What leads is read in the order of items behind one
 * key; conditions on a range, and texts that are contained somewhere, only filter. Spec: Work on boards, 2, Cost.
 */
import { Part } from '../../../kernel/database/statement.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { firstId, lastId } from '../../../kernel/transaction/page.ts'
import { visibleContainerIds } from '../../access/access.ts'
import type { Checked, CustomField, Leaf } from '../filter/checked.ts'
import { compile } from '../filter/compile.ts'
import { beginningOf, numberKey } from '../filter/keys.ts'
import type { Asked } from './asked.ts'

/** Items `x` behind an id, by id: at most so many. */
export type Candidates = (after: string | undefined, most: number, isDescending: boolean) => Part

export interface Source {
  readonly candidates: Candidates
  /** Whether what leads is likely to lead to few. */
  readonly isNarrow: boolean
  /** What an item `i` has to be, the filter included. */
  readonly where: Part
}

export function sourceOf(ctx: Ctx, asked: Asked): Source {
  const { tx } = ctx
  const inContainer = asked.containerId === undefined ? tx.part`true` : tx.part`i.container_id = ${asked.containerId}`
  const where = tx.part`i.container_id in (${visibleContainerIds(ctx)}) and ${inContainer} and ${compile(ctx, asked.filter, asked)}`
  const leads = conjuncts(asked.filter).flatMap((leaf) => leadOf(ctx, leaf, asked.isLoose) ?? [])
  const [best] = leads.sort((a, b) => a.rank - b.rank)
  if (best && (best.rank < 4 || asked.containerId === undefined))
    return { candidates: best.candidates, isNarrow: best.rank < 4, where }
  return {
    candidates: plain(ctx, asked.containerId && tx.part`x.container_id = ${asked.containerId}`),
    isNarrow: false,
    where,
  }
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

const plain =
  ({ tx, account: { tenantId } }: Ctx, condition: Part | undefined | ''): Candidates =>
  (after, most, isDescending) =>
    tx.part`
    select x.* from item x
    where x.tenant_id = ${tenantId} and x.deleted_at is null and x.archived_at is null and ${behind(tx, tx.part`x.id`, after, isDescending)}
      and ${condition || tx.part`true`}
    order by x.id ${turned(tx, isDescending)} limit ${most}`

function leadOf(ctx: Ctx, { field, op, operand }: Leaf, isLoose: boolean): Lead | undefined {
  const { tx } = ctx
  if ('custom' in field) return isLoose ? undefined : valueLead(ctx, field.custom, { field, op, operand })
  const { values = [] } = operand
  const [value] = values
  if (value === undefined || !['is', 'in', 'has_any', 'has_all'].includes(op)) return undefined
  if (field.item.member === 'id') return { rank: 1, candidates: plain(ctx, tx.part`x.id in ${tx.list(values)}`) }
  if (values.length > 1 && op !== 'has_all') return undefined
  if (field.item.rows?.table === 'item_label') return { rank: 3, candidates: byLabel(ctx, value) }
  if (field.item.rows) return { rank: 3, candidates: byMember(ctx, value) }
  if (field.item.member === 'state') return { rank: 5, candidates: plain(ctx, tx.part`x.state = ${value}`) }
  const isContainer = 'of' in field.item && field.item.of === 'container'
  return isContainer ? { rank: 4, candidates: plain(ctx, tx.part`x.container_id = ${value}`) } : undefined
}

const byLabel =
  ({ tx, account: { tenantId } }: Ctx, labelId: string): Candidates =>
  (after, most, isDescending) =>
    tx.part`
    select x.* from item_label l join item x on x.tenant_id = l.tenant_id and x.id = l.item_id
    where l.tenant_id = ${tenantId} and l.label_id = ${labelId} and ${behind(tx, tx.part`l.item_id`, after, isDescending)} and x.deleted_at is null and x.archived_at is null
    order by l.item_id ${turned(tx, isDescending)} limit ${most}`

const byMember =
  ({ tx, account: { tenantId } }: Ctx, accountId: string): Candidates =>
  (after, most, isDescending) =>
    tx.part`
    select x.* from item_member m join item x on x.tenant_id = m.tenant_id and x.id = m.item_id
    where m.tenant_id = ${tenantId} and m.account_id = ${accountId} and ${behind(tx, tx.part`m.item_id`, after, isDescending)} and x.deleted_at is null and x.archived_at is null
    order by m.item_id ${turned(tx, isDescending)} limit ${most}`

function valueLead(ctx: Ctx, { id, kind }: CustomField, { op, operand }: Leaf): Lead | undefined {
  const key = leadingKey(kind, op, operand)
  if (key === undefined) return undefined
  const { tx } = ctx
  const { tenantId } = ctx.account
  return {
    rank: kind === 'BOOL' ? 3 : 2,
    candidates: (after, most, isDescending) => tx.part`
      select x.* from item_field_key k join item x on x.tenant_id = k.tenant_id and x.id = k.item_id
      where k.tenant_id = ${tenantId} and k.field_id = ${id} and k.key = ${key} and ${behind(tx, tx.part`k.item_id`, after, isDescending)}
        and x.deleted_at is null and x.archived_at is null
      order by k.item_id ${turned(tx, isDescending)} limit ${most}`,
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

/** The statement differs with the filter, so no plan of it is kept. */
export const once = ({ strings, values }: Part): Part => new Part(strings, values, false)
