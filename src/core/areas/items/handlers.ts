/** The rules of this area, by operation. */
import type { itemArchiveOperations } from '../../contract/items/archive.ts'
import type { itemAutoAssignOperations } from '../../contract/items/auto-assign.ts'
import type { itemBulkOperations } from '../../contract/items/bulk.ts'
import type { itemCoverOperations } from '../../contract/items/cover.ts'
import type { itemDateOperations } from '../../contract/items/dates.ts'
import type { itemOperations } from '../../contract/items/operations.ts'
import type { itemPeopleOperations } from '../../contract/items/people.ts'
import type { itemTrashOperations } from '../../contract/items/trash.ts'
import type { itemTreeOperations } from '../../contract/items/tree.ts'
import type { viewOperations } from '../../contract/items/views.ts'
import { type HandlersOf, ofOneMoment } from '../../kernel/request/handler.ts'
import { listItemActivity } from './activity.ts'
import { archiveItem, unarchiveItem } from './archive.ts'
import { autoAssignItem } from './auto-assign.ts'
import { readBoard } from './board.ts'
import { bulkItems } from './bulk/bulk.ts'
import { deleteItem, getItem, updateItem } from './change.ts'
import { completeItem, reopenItem } from './completion.ts'
import { removeItemCover, setItemCover } from './cover.ts'
import { createItem } from './creation.ts'
import { clearItemDue, setItemDue } from './dates.ts'
import { duplicateItem } from './duplicate/duplicate.ts'
import { setItemField } from './field-values.ts'
import { addItemLabel, removeItemLabel } from './labels.ts'
import { listItems } from './list.ts'
import { moveItem } from './move.ts'
import { addItemMember, assignItem, removeItemMember, unassignItem } from './people.ts'
import { queryItems } from './query/query.ts'
import { reorderItem } from './reorder.ts'
import { emptyTrash } from './trash/emptying.ts'
import { listTrash } from './trash/list.ts'
import { purgeItem } from './trash/purge.ts'
import { restoreItem } from './trash/restore.ts'
import { listViews } from './views/list.ts'
import { createView, deleteView, updateView } from './views/view.ts'

export const itemsHandlers = {
  getBoard: ofOneMoment(readBoard),
  listItems,
  queryItems: ofOneMoment(queryItems),
  createItem,
  getItem,
  updateItem,
  deleteItem,
  moveItem,
  completeItem,
  reopenItem,
  addItemLabel,
  removeItemLabel,
  setItemField,
  listItemActivity,
  setItemDue,
  clearItemDue,
  setItemCover,
  removeItemCover,
  assignItem,
  unassignItem,
  addItemMember,
  removeItemMember,
  archiveItem,
  unarchiveItem,
  reorderItem,
  duplicateItem,
  autoAssignItem,
  bulkItems,
  listTrash,
  emptyTrash,
  restoreItem,
  purgeItem,
  listViews,
  createView,
  updateView,
  deleteView,
} satisfies HandlersOf<
  typeof itemOperations &
    typeof itemDateOperations &
    typeof itemCoverOperations &
    typeof itemPeopleOperations &
    typeof itemArchiveOperations &
    typeof itemBulkOperations &
    typeof itemTreeOperations &
    typeof itemAutoAssignOperations &
    typeof itemTrashOperations &
    typeof viewOperations
>
