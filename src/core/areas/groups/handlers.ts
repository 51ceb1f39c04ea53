/** The rules of this area, by operation. */
import type { groupOperations } from '../../contract/groups/operations.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { createGroup, deleteGroup, updateGroup } from './group.ts'
import { getGroup, listGroupMembers, listGroups } from './list.ts'
import { addGroupMember, removeGroupMember } from './members.ts'

export const groupsHandlers = {
  listGroups,
  createGroup,
  getGroup,
  updateGroup,
  deleteGroup,
  listGroupMembers,
  addGroupMember,
  removeGroupMember,
} satisfies HandlersOf<typeof groupOperations>
