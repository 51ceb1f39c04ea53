/** Items for people. */
import type { Item } from '../../core/contract/items/operations.ts'
import { details } from './details.ts'
import { moment } from './moment.ts'
import type { Column } from './table.ts'

const dueOf = ({ due_on, due_at }: Item): string => due_on ?? (due_at === null ? '' : moment(due_at))

export const itemColumns: readonly Column<Item>[] = [
  { head: 'TITLE', cell: ({ title }) => title },
  { head: 'STATE', cell: ({ state, archived_at }) => (archived_at === null ? state : 'archived'), whole: true },
  { head: 'DUE', cell: dueOf },
  { head: 'ID', cell: ({ id }) => id, whole: true },
]

export const itemDetails = (item: Item): string =>
  details([
    ['title', item.title],
    ['state', item.state],
    ['due', dueOf(item)],
    ['collection', item.container_id],
    ['bucket', item.bucket_id],
    ['assignee', item.assignee_id],
    ['labels', item.label_ids.join(', ')],
    ['values', valuesOf(item)],
    ['archived', item.archived_at === null ? '' : moment(item.archived_at)],
    ['created', moment(item.created_at)],
    ['updated', moment(item.updated_at)],
    ['version', item.version],
    ['id', item.id],
    ['description', item.description],
  ])

const valuesOf = ({ custom_fields: fields }: Item): string =>
  Object.entries(fields)
    .map(([key, value]) => `${key}=${Array.isArray(value) ? value.join('|') : value}`)
    .join(', ')
