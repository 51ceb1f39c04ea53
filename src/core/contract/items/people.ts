/** People of items: one who is responsible, and those who take part. Spec: items 1, People. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { uuid } from '../vocabulary.ts'
import { change, writing } from './operations.ts'

const spec = 'items 1, People'
const withMember = z.strictObject({ itemId: uuid, accountId: uuid })
/** Every reader may take part and leave; other people's places are the MEMBERs' to change. */
const taking = { ...writing, role: 'VIEWER' } as const

export const ItemAssign = z.strictObject({ account_id: uuid }).meta({ id: 'ItemAssign' })
export const ItemUnassign = z
  .strictObject({ account_id: uuid.nullish().describe('only if this account is the assignee; absent: whoever is') })
  .meta({ id: 'ItemUnassign' })

export const itemPeopleOperations = defineOperations('items', {
  assignItem: {
    ...change,
    method: 'POST',
    path: '/items/{itemId}:assign',
    summary: 'Make one account responsible for an item; it becomes a member, too',
    spec,
    body: ItemAssign,
    refuses: ['container.archived', 'item.archived', 'item.account_no_access', 'structure.full'],
    assumed: [
      'the account is ACTIVE or INVITED and a MEMBER in the container',
      'an earlier assignee stays a member',
      'one event tells of both, `item.assigned`',
    ],
  },
  unassignItem: {
    ...change,
    method: 'POST',
    path: '/items/{itemId}:unassign',
    summary: 'Make nobody responsible for an item',
    spec,
    body: ItemUnassign,
    refuses: ['container.archived', 'item.archived'],
    assumed: ['the account stays a member', 'an account that is not the assignee changes nothing'],
  },
  addItemMember: {
    ...change,
    method: 'PUT',
    path: '/items/{itemId}/members/{accountId}',
    summary: 'Add an account to the members of an item',
    spec,
    params: withMember,
    needs: taking,
    refuses: ['container.archived', 'item.archived', 'item.account_no_access', 'structure.full'],
    assumed: ['VIEWER for oneself, MEMBER for others', 'the account is ACTIVE or INVITED and sees the container'],
  },
  removeItemMember: {
    ...change,
    method: 'DELETE',
    path: '/items/{itemId}/members/{accountId}',
    summary: 'Take an account off the members of an item; an assignee is then unassigned, too',
    spec,
    params: withMember,
    needs: taking,
    success: { status: 204 },
    refuses: ['container.archived', 'item.archived'],
    assumed: [
      'VIEWER for oneself, MEMBER for others',
      'an account that lost its access or was disabled stays a member until somebody takes it off',
      'one event tells of both, `item.member_removed`',
    ],
  },
})
