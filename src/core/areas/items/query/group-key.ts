/** What items are grouped by: the key of a group in SQL, and the condition that an item is in one. Spec: Work on boards, 2. */
import { type ItemField, itemFields, type PeriodUnit } from '../../../contract/items/filter-fields.ts'
import { refuseMember } from '../../../contract/problem.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Checked, CustomField, LeafField, Unknown } from '../filter/checked.ts'
import { isShown } from '../filter/compile.ts'
import type { Names } from '../filter/names.ts'
import { type Around, periodFrom } from '../filter/periods.ts'

/** Groups by a field as it is. */
const plain = ['bucket', 'state', 'assignee', 'label'] as const

export type Group =
  | { readonly by: (typeof plain)[number] }
  | { readonly by: 'due'; readonly unit: PeriodUnit; readonly zone: string }
  | { readonly by: 'custom'; readonly custom: CustomField }

/** A field that is gone makes no groups. Refuses request.invalid. */
export function groupFor(
  { by, unit }: { readonly by: string; readonly unit?: PeriodUnit | undefined },
  names: Names,
  zone: string,
  unknown: Unknown[],
): Group | undefined {
  if ((by === 'due') !== (unit !== undefined))
    return refuseMember('/group_by/unit', by === 'due' ? 'member.required' : 'value.not_taken')
  if (unit !== undefined) return { by: 'due', unit, zone }
  const of = plain.find((one) => one === by)
  if (of) return { by: of }
  const custom = names.field(by)
  if (custom === undefined) {
    unknown.push({ pointer: '/group_by/by', code: 'reference.unknown' })
    return undefined
  }
  return custom.kind === 'SELECT' ? { by: 'custom', custom } : refuseMember('/group_by/by', 'value.not_taken')
}

/** The condition that an item is in the group of a key. */
export function groupLeaf(group: Group, key: string | null, around: Around): Checked {
  const field = fieldOf(group)
  if (key === null) return { leaf: { field, op: 'is_empty', operand: {} } }
  if (group.by === 'due')
    return { leaf: { field, op: 'on', operand: { periods: [periodFrom(key, group.unit, around.zone)] } } }
  return { leaf: { field, op: group.by === 'label' ? 'has_any' : 'is', operand: { values: [key] } } }
}

function fieldOf(group: Group): LeafField {
  if (group.by === 'custom') return { kind: 'OPTION', custom: group.custom }
  const item: ItemField = itemFields[group.by]
  return { kind: item.kind, item }
}

/** The keys of the item `i`, as rows `g.key`; one row of null where it has none. */
export function groupKeys(ctx: Ctx, group: Group): Part {
  const { tx } = ctx
  const { tenantId } = ctx.account
  switch (group.by) {
    case 'bucket':
      return tx.part`cross join lateral (select i.bucket_id::text as key) g`
    case 'state':
      return tx.part`cross join lateral (select i.state as key) g`
    case 'assignee':
      return tx.part`cross join lateral (select i.assignee_id::text as key) g`
    case 'label':
      return tx.part`left join lateral (
        select x.label_id::text as key from item_label x join label v on v.tenant_id = x.tenant_id and v.id = x.label_id
        where x.tenant_id = ${tenantId} and x.item_id = i.id and v.container_id = i.container_id and v.deleted_at is null
      ) g on true`
    case 'due':
      return tx.part`cross join lateral (
        select to_char(date_trunc(${group.unit.toLowerCase()}, i.due_at at time zone ${group.zone}), 'YYYY-MM-DD') as key) g`
    case 'custom':
      return tx.part`left join lateral (
        select w.value #>> '{}' as key from item_field_value w
        where w.tenant_id = ${tenantId} and w.field_id = ${group.custom.id} and w.item_id = i.id
          and ${isShown(ctx, group.custom)}) g on true`
  }
}
