/** The rules of this area, by operation. */
import type { containerOperations } from '../../contract/containers/operations.ts'
import { type HandlersOf, withWork } from '../../kernel/request/handler.ts'
import {
  archiveContainer,
  deleteContainer,
  getContainer,
  moveContainer,
  reorderContainer,
  restoreContainer,
  unarchiveContainer,
  updateContainer,
} from './change.ts'
import { createContainer } from './creation.ts'
import { listContainers } from './list.ts'
import { setContainerPolicies } from './policies.ts'
import { hidesHub, setContainerPrivacy } from './privacy.ts'

export const containersHandlers = {
  listContainers,
  createContainer,
  getContainer,
  updateContainer,
  setContainerPrivacy: withWork(hidesHub, setContainerPrivacy),
  setContainerPolicies,
  deleteContainer,
  moveContainer,
  reorderContainer,
  archiveContainer,
  unarchiveContainer,
  restoreContainer,
} satisfies HandlersOf<typeof containerOperations>
