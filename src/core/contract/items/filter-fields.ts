/**
 * The filter language as data: which fields of an item a condition may name, and which operators each takes.
 *
 * The schema of a filter, the OpenAPI document, docs/api/filters.md, the compiler, the interpreter and the tests read
 * these tables. A further field is one line of `itemFields`: the member of the item that it asks for, and its kind. The
 * member is also the column of the row, unless the line says that the values are rows of their own.
 *
 * Spec: Work on boards, 2; docs/decisions/0210.
 */
import { itemTypes } from '../item-types.ts'
import type { FieldKind } from '../structure/custom-fields.ts'

/** What a kind of field takes. */
interface FilterKind {
  readonly operators: readonly FilterOperator[]
  /** What the operators compare with, for people. */
  readonly takes: string
}

export const filterOperators = [
  'is',
  'is_not',
  'in',
  'not_in',
  'has_any',
  'has_all',
  'has_none',
  'starts_with',
  'contains',
  'lt',
  'lte',
  'gt',
  'gte',
  'between',
  'on',
  'before',
  'after',
  'has_no_access',
  'is_empty',
  'is_not_empty',
] as const
export type FilterOperator = (typeof filterOperators)[number]

/** Operators that take no value. */
export const bareOperators: readonly FilterOperator[] = ['is_empty', 'is_not_empty', 'has_no_access']
/** Operators that take a list of values. */
export const listOperators: readonly FilterOperator[] = ['in', 'not_in', 'has_any', 'has_all', 'has_none']

const one = ['is', 'is_not', 'in', 'not_in'] as const
const many = ['has_any', 'has_all', 'has_none'] as const
const unfilled = ['is_empty', 'is_not_empty'] as const
const ofPeople = ['has_no_access'] as const

export const filterKinds = {
  REFERENCE: { operators: [...one, ...unfilled], takes: 'an id' },
  PERSON: { operators: [...one, ...ofPeople, ...unfilled], takes: 'the id of an account, or `me`' },
  CHOICE: { operators: one, takes: 'one of the listed values' },
  OPTION: { operators: [...one, ...unfilled], takes: 'an option of the field' },
  REFERENCES: { operators: [...many, ...unfilled], takes: 'a list of ids' },
  PEOPLE: { operators: [...many, ...ofPeople, ...unfilled], takes: 'a list of ids of accounts, or `me`' },
  OPTIONS: { operators: [...many, ...unfilled], takes: 'a list of options of the field' },
  TEXT: {
    operators: ['is', 'is_not', 'starts_with', 'contains', ...unfilled],
    takes: 'a text of 1 to 500 characters, `starts_with` and `contains` of 1 to 200; case and accents do not count',
  },
  NUMBER: {
    operators: ['is', 'is_not', 'lt', 'lte', 'gt', 'gte', 'between', ...unfilled],
    takes: 'a number; `between` takes a list of two, and both ends belong to it',
  },
  MOMENT: {
    operators: ['on', 'before', 'after', 'between', ...unfilled],
    takes: 'a day, a moment, `now`, or a period; `between` takes a list of two, and both ends belong to it',
  },
  DAY: {
    operators: ['on', 'before', 'after', 'between', ...unfilled],
    takes: 'a day, a moment, `now`, or a period; `between` takes a list of two, and both ends belong to it',
  },
  FLAG: { operators: ['is'], takes: '`true` or `false`' },
} as const satisfies Record<string, FilterKind>
export type FilterKindName = keyof typeof filterKinds

/** What an id of a reference names: where it is looked up, and who sees it. */
export type Referenced = 'item' | 'container' | 'hub' | 'bucket' | 'label'

/** A field of every item. */
export type ItemField = {
  /** The member of the item, which is also the column of its row. */
  readonly member: string
  readonly says: string
  /** Whether there are any of these is asked of rows of their own: no item has it as a member. */
  readonly anyOf?: 'children' | 'attachments'
  /** The values are rows of their own: in this table, the item's id beside this column. */
  readonly rows?: { readonly table: string; readonly column: string }
} & (
  | { readonly kind: 'REFERENCE' | 'REFERENCES'; readonly of: Referenced }
  | { readonly kind: 'CHOICE'; readonly values: readonly string[] }
  | { readonly kind: 'PERSON' | 'PEOPLE' | 'TEXT' | 'MOMENT' | 'FLAG' }
)

const labelRows = { table: 'item_label', column: 'label_id' }
const memberRows = { table: 'item_member', column: 'account_id' }

export const itemFields = {
  id: { kind: 'REFERENCE', of: 'item', member: 'id', says: 'the item itself' },
  container: { kind: 'REFERENCE', of: 'container', member: 'container_id', says: 'its collection' },
  hub: { kind: 'REFERENCE', of: 'hub', member: 'container_id', says: 'the hub that holds its collection' },
  bucket: { kind: 'REFERENCE', of: 'bucket', member: 'bucket_id', says: 'its bucket; empty: in none' },
  parent: { kind: 'REFERENCE', of: 'item', member: 'parent_id', says: 'the item that it is a part of; empty: a root' },
  has_children: {
    kind: 'FLAG',
    member: 'parent_id',
    anyOf: 'children',
    says: 'whether it has children that are not in the trash',
  },
  has_attachments: {
    kind: 'FLAG',
    member: 'id',
    anyOf: 'attachments',
    says: 'whether it carries files, also those of its comments',
  },
  archived: {
    kind: 'FLAG',
    member: 'archived_at',
    says: 'whether it is in the archive, where `archived` asks for both',
  },
  assignee: { kind: 'PERSON', member: 'assignee_id', says: 'who is responsible; empty: nobody' },
  creator: { kind: 'PERSON', member: 'created_by', says: 'who created it' },
  type: { kind: 'CHOICE', values: itemTypes, member: 'type', says: 'its type' },
  state: { kind: 'CHOICE', values: ['OPEN', 'DONE'], member: 'state', says: 'open or done' },
  label: { kind: 'REFERENCES', of: 'label', member: 'label_ids', rows: labelRows, says: 'the labels that it shows' },
  member: { kind: 'PEOPLE', member: 'member_ids', rows: memberRows, says: 'who takes part' },
  title: { kind: 'TEXT', member: 'title', says: 'its title' },
  start: { kind: 'MOMENT', member: 'start_at', says: 'when it starts' },
  due: { kind: 'MOMENT', member: 'due_at', says: 'when it is due' },
  created: { kind: 'MOMENT', member: 'created_at', says: 'when it was created' },
  updated: { kind: 'MOMENT', member: 'updated_at', says: 'when it was last changed' },
  completed: { kind: 'MOMENT', member: 'completed_at', says: 'when it was completed' },
} as const satisfies Record<string, ItemField>
export type ItemFieldName = keyof typeof itemFields

export const findItemField = (name: string): ItemField | undefined =>
  Object.hasOwn(itemFields, name) ? itemFields[name as ItemFieldName] : undefined

/** The kind of a condition on a custom field. */
export const kindOfCustom = {
  TEXT: 'TEXT',
  URL: 'TEXT',
  NUMBER: 'NUMBER',
  DATE: 'DAY',
  SELECT: 'OPTION',
  MULTI_SELECT: 'OPTIONS',
  BOOL: 'FLAG',
  USER: 'PERSON',
} as const satisfies Record<FieldKind, FilterKindName>

/** The bounds of a filter. */
export const filterBounds = {
  depth: 5,
  conditions: 50,
  values: 100,
  bytes: 16 * 1024,
  /** Code points of a whole text, and of a part of one. */
  text: 500,
  part: 200,
  option: 200,
  /** Periods from now, in either direction. */
  offset: 10_000,
} as const

export const periodUnits = ['DAY', 'WEEK', 'MONTH', 'QUARTER', 'YEAR'] as const
export type PeriodUnit = (typeof periodUnits)[number]

/** What items are sorted by, beside `custom.<key>`, and the member that has it. Nothing sorts last, and then the id. */
export const itemSorts = {
  created: { member: 'id', says: 'the order of creation' },
  board: { member: 'position', says: 'the buckets of one collection from the left, and each in its order' },
  updated: { member: 'updated_at', says: 'when it was last changed' },
  start: { member: 'start_at', says: 'when it starts' },
  due: { member: 'due_at', says: 'when it is due' },
  completed: { member: 'completed_at', says: 'when it was completed' },
  siblings: { member: 'sibling_position', says: 'the order among the children of one parent; roots come last' },
  title: { member: 'title', says: 'the title; case and accents do not count' },
} as const
export type ItemSort = keyof typeof itemSorts
