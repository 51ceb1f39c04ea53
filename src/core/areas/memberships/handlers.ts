/** The rules of this area, by operation. */
import type { membershipOperations } from '../../contract/memberships/operations.ts'
import type { HandlersOf } from '../../kernel/request/handler.ts'
import { grantMembership, listMemberships, removeMembership } from './membership.ts'

export const membershipsHandlers = {
  listMemberships,
  grantMembership,
  removeMembership,
} satisfies HandlersOf<typeof membershipOperations>
