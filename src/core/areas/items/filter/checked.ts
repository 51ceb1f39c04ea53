/**
 * A filter as it is carried out: fields found, ids looked up, dates made to periods, texts folded.
 *
 * A condition on what is gone, or on what the caller does not see, is unknown: neither it nor its `not` holds. Of a list
 * each value counts for itself: `in [a, gone]` holds for what is in a, and is unknown for all else.
 *
 * Spec: Work on boards, 2, Meaning; docs/decisions/0210.
 */

import type { ItemType } from '../../../contract/item-types.ts'
import type { FilterKindName, FilterOperator, ItemField } from '../../../contract/items/filter-fields.ts'
import type { FieldKind } from '../../../contract/structure/custom-fields.ts'
import type { Period } from './periods.ts'

export type Checked =
  | { readonly all: readonly Checked[] }
  | { readonly any: readonly Checked[] }
  | { readonly not: Checked }
  | { readonly leaf: Leaf }
  /** A condition on a field that is gone. */
  | { readonly unknown: true }

export interface Leaf {
  readonly field: LeafField
  readonly op: FilterOperator
  readonly operand: Operand
}

export type LeafField =
  | { readonly kind: FilterKindName; readonly item: ItemField }
  | { readonly kind: FilterKindName; readonly custom: CustomField }

/** A definition that is in force, and where its values show. */
export interface CustomField {
  readonly id: string
  readonly key: string
  readonly kind: FieldKind
  readonly collection_id: string | null
  readonly applies_to: readonly ItemType[]
  /** Of a workspace's field: the collections whose own field of the same key shows in its place. */
  readonly shadowed_in: readonly string[]
}

/** What a condition compares with, in the form that its kind and its operator take. */
export interface Operand {
  /** Ids, options or choices that are there. */
  readonly values?: readonly string[]
  /** Whether one of the values is gone. */
  readonly hasGone?: boolean
  /** Folded. */
  readonly text?: string
  readonly numbers?: readonly number[]
  readonly periods?: readonly Period[]
  readonly flag?: boolean
}

/** A condition that is unknown, or a value of one, by its place in the filter. */
export interface Unknown {
  readonly pointer: string
  readonly code: 'reference.unknown'
}
