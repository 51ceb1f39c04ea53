/** What items are sorted by, with the custom fields that it names looked up. Spec: Work on boards, 2, N3. */
import { type ItemSort, kindOfCustom } from '../../../contract/items/filter-fields.ts'
import { refuseMember } from '../../../contract/problem.ts'
import type { CustomField, Unknown } from '../filter/checked.ts'
import type { Names } from '../filter/names.ts'

export type SortKey = { readonly isDescending: boolean } & (
  | { readonly by: ItemSort }
  | { readonly by: 'custom'; readonly custom: CustomField }
)

interface Sent {
  readonly by: string
  readonly order: 'ASC' | 'DESC'
}

/** A key that is gone orders nothing. Refuses request.invalid. */
export function sortKeysOf(
  sent: readonly Sent[],
  names: Names,
  containerId: string | undefined,
  unknown: Unknown[],
): SortKey[] {
  return sent.flatMap(({ by, order }, at): SortKey[] => {
    const isDescending = order === 'DESC'
    const pointer = `/sort/${at}/by`
    if (!by.startsWith('custom.')) {
      if (by === 'board' && containerId === undefined) refuseMember('/container_id', 'member.required')
      if (by === 'board' && (sent.length > 1 || isDescending)) refuseMember(pointer, 'value.not_taken')
      return [{ by: by as ItemSort, isDescending }]
    }
    const custom = names.field(by)
    if (custom === undefined) {
      unknown.push({ pointer, code: 'reference.unknown' })
      return []
    }
    if (!canSort(custom)) refuseMember(pointer, 'value.not_taken')
    return [{ by: 'custom', custom, isDescending }]
  })
}

/** Whether the values of a field have an order. */
export const canSort = ({ kind }: CustomField): boolean => kindOfCustom[kind] !== 'OPTIONS'
