/**
 * The bounds that the page about people writes, against the schemas: what is as long is taken, and what is one longer is not. The
 * matrices of this folder follow from the schemas, so a bound that moves there is missed by none of them. People 1 to 4 and 7.
 */
import { randomUUIDv7 } from 'node:crypto'
import { expect, test } from 'vitest'
import type { z } from 'zod'
import { operations } from '../../src/core/contract/operations.ts'

const texts = (length: number) => 'x'.repeat(length)
const ids = (length: number) => Array.from({ length }, () => randomUUIDv7())
const email = 'ada@acme.example'
const managed = { sign_in_name: 'lathe', display_name: 'Lathe' }
const memberships = (length: number) => ids(length).map((container_id) => ({ container_id, role: 'VIEWER' }))
const overrides = (length: number) => ids(length).map((container_id) => ({ container_id, delivery: 'OFF' }))
const names = (length: number) => `a${'b'.repeat(length - 1)}`

type Bound = readonly [operation: keyof typeof operations, of: 'body' | 'query', most: number, (size: number) => object]
const bounds: readonly Bound[] = [
  ['inviteAccount', 'body', 50, (size) => ({ email, memberships: memberships(size) })],
  ['inviteAccount', 'body', 20, (size) => ({ email, group_ids: ids(size) })],
  ['inviteAccount', 'body', 200, (size) => ({ email, external_id: texts(size) })],
  ['createManagedAccount', 'body', 64, (size) => ({ ...managed, sign_in_name: names(size) })],
  ['createManagedAccount', 'body', 50, (size) => ({ ...managed, memberships: memberships(size) })],
  ['createManagedAccount', 'body', 20, (size) => ({ ...managed, group_ids: ids(size) })],
  ['listAccounts', 'query', 120, (size) => ({ q: texts(size) })],
  ['createGroup', 'body', 120, (size) => ({ name: texts(size) })],
  ['createGroup', 'body', 2000, (size) => ({ name: 'g', description: texts(size) })],
  ['createGroup', 'body', 200, (size) => ({ name: 'g', member_ids: ids(size) })],
  ['updateGroup', 'body', 120, (size) => ({ name: texts(size) })],
  ['updateGroup', 'body', 2000, (size) => ({ description: texts(size) })],
  ['setNotificationPreference', 'body', 200, (size) => ({ delivery: 'OFF', overrides: overrides(size) })],
  ['markNotifications', 'body', 200, (size) => ({ ids: ids(size) })],
  ['putNotice', 'body', 1000, (size) => ({ message: texts(size) })],
  ['elevateSession', 'body', 15, (size) => ({ minutes: size })],
  ...(['listAccounts', 'listGroups', 'listGroupMembers', 'listNotifications'] as const).map(
    (operation): Bound => [operation, 'query', 200, (size) => ({ size })],
  ),
]

test.each(bounds)('%s: %s, at most %i', (operation, of, most, make) => {
  const schema = (operations[operation] as { readonly body?: z.ZodType; readonly query?: z.ZodType })[of]
  const isTaken = (size: number) => schema?.safeParse(make(size)).success
  expect([isTaken(most), isTaken(most + 1)]).toEqual([true, false])
})
