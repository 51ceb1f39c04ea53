/**
 * Nobody's sight is asked for what is done in a board that the change holds and that everybody sees: neither the board nor
 * its hub is hidden before the commit (docs/decisions/0184).
 */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { lockWritable, writableContainer } from '../../src/core/areas/access/access.ts'
import { setContainerPrivacy } from '../../src/core/areas/containers/privacy.ts'
import type { NewEvent } from '../../src/core/contract/event-catalog.ts'
import type { Ctx } from '../../src/core/kernel/transaction/context.ts'
import type { Entry } from '../../src/core/kernel/transaction/installation.ts'
import { adminOf } from '../kit/events.ts'
import { type Person, person } from '../kit/people.ts'
import { type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

const labelType = 'svc.work.label.created.v1'
const types = [
  ...['svc.work.item.created.v1', 'svc.work.item.changed.v1', 'svc.work.container.privacy_changed.v1'],
  labelType,
]

let world: WebhookWorld
let owner: Person
let admin: Person
let board: string
let hub: string
beforeAll(async () => {
  world = await webhookWorld({}, { dispatches: false })
  owner = await somebody('OWNER')
  admin = await somebody('ADMIN')
  await made(admin, '/integrations/webhooks', { target_url: 'http://127.0.0.1:9/in', event_types: types })
})
beforeEach(async () => {
  hub = await made(owner, '/containers', { kind: 'HUB', name: 'Everybody’s' })
  board = await made(owner, '/containers', { kind: 'COLLECTION', name: 'Inside', parent_id: hub })
  await world.sql`truncate delivery, outbox_event`
})
afterAll(() => world.close())

const somebody = (role: 'OWNER' | 'ADMIN') =>
  person(world.daemon, world.home.tenantId, { role, expires: "now() + interval '1 day'" })

async function done(as: Person, method: string, path: string, body: object) {
  const { status, json, text } = await world.call(method, path, body, { token: as.token })
  if (status >= 300) throw new Error(`${method} ${path} was answered with ${status}: ${text}`)
  return json
}
const made = async (as: Person, path: string, body: object): Promise<string> => (await done(as, 'POST', path, body)).id
const item = (container_id: string, title: string) => made(owner, '/items', { container_id, title })
const hide = (id: string) => done(owner, 'PUT', `/containers/${id}/privacy`, { is_private: true })

/** What the ADMIN's webhook is told of, in the order of the events: titles, or types where there is none. */
async function told(): Promise<string[]> {
  const rows = await world.sql<{ what: string }[]>`
    select coalesce(e.body::jsonb #>> '{data,title}', e.type) as what
    from delivery d join outbox_event e on e.tenant_id = d.tenant_id and e.id = d.event_id
    where d.tenant_id = ${world.home.tenantId} order by e.tx, e.seq`
  return rows.map(({ what }) => what)
}

const isWaiting = async (count: number): Promise<boolean> => {
  const rows = await world.sql`
    select 1 from pg_locks l join pg_stat_activity a using (pid) where not l.granted and a.datname = current_database()`
  return rows.length === count
}

/** Hides the container while a change of the item waits for its row, which then commits. */
async function hideDuringChange(itemId: string, title: string, hidden: string): Promise<void> {
  const other = await world.sql.reserve()
  try {
    await other`begin`
    await other`select 1 from item where tenant_id = ${world.home.tenantId} and id = ${itemId} for update`
    const path = `/items/${itemId}`
    const changing = world.call('PATCH', path, { title }, { token: owner.token, headers: { 'if-match': '*' } })
    await world.until('the change waits', () => isWaiting(1))
    let isHidden = false
    const hiding = hide(hidden).finally(() => {
      isHidden = true
    })
    await world.until('hiding waits for the change', () => isWaiting(2))
    expect(isHidden).toBe(false)
    await other`rollback`
    expect((await changing).status).toBe(200)
    await hiding
  } finally {
    await other`rollback`
    other.release()
  }
}

/** In a transaction as that of a call in one's own workspace. `isApart`: its caller was looked up in another one. */
const within = (work: (ctx: Ctx) => Promise<void>, isApart = false) =>
  world.installation.transaction(
    { ...adminOf(world.home.tenantId), accountId: admin.accountId },
    { tenantId: world.home.tenantId, admits: true, ...(isApart ? {} : { entry }) },
    work,
  )
const entry: Entry = async (tx) => (await tx`select 1`) && { hasWebhooks: true }
const labelled = (container_id: string): NewEvent => ({
  name: 'work.label.created',
  data: { id: randomUUIDv7(), container_id, name: 'Label', color_token: 'red' },
})

test('a board is hidden after the changes that hold it, which are told; later ones are not', async () => {
  let hiding: Promise<unknown> | undefined
  await within(async (ctx) => {
    await writableContainer(ctx, board, 'MEMBER')
    hiding = hide(board)
    await world.until('hiding waits for the change', () => isWaiting(1))
    await ctx.emit(labelled(board))
  })
  await hiding
  // The first one's caller is looked up apart, because hiding made her a member; then nothing is relied on.
  for (const title of ['later', 'later still']) await item(board, title)
  expect(await told()).toEqual([labelType])
})

test('a hub is hidden after the changes in its boards that are under way, which are told; later ones are not', async () => {
  await hideDuringChange(await item(board, 'first'), 'second', hub)
  await item(board, 'third')
  expect(await told()).toEqual(['first', 'second'])
})

test('whoever comes to hide a hub behind the look at it waits for the changes under way, too', async () => {
  await world.sql`
    insert into membership (tenant_id, id, account_id, container_id, role)
    values (${world.home.tenantId}, ${randomUUIDv7()}, ${admin.accountId}, ${hub}, 'OWNER')`
  let hiding: Promise<unknown> | undefined
  await within(async (ctx) => {
    await writableContainer(ctx, board, 'MEMBER')
    const received = { containerId: hub, body: { is_private: true } }
    hiding = within(async (other) => void (await setContainerPrivacy(other, received, false)), true)
    await world.until('hiding waits for the change', () => isWaiting(1))
    await ctx.emit(labelled(board))
  })
  await hiding
  expect(await told()).toEqual([labelType, 'svc.work.container.privacy_changed.v1']) // he is a member of the hub
})

test('a change whose caller was looked up apart keeps no hub open, and looks', async () => {
  await within(async (ctx) => {
    await writableContainer(ctx, board, 'MEMBER')
    await hide(hub)
    await ctx.emit(labelled(board))
  }, true)
  expect(await told()).toEqual([])
})

test('a board that is hidden after a savepoint gave its lock back is looked at', async () => {
  await within(async (ctx) => {
    const failing = ctx.savepoint(async () => {
      await writableContainer(ctx, board, 'MEMBER')
      throw new Error('given back')
    })
    await expect(failing).rejects.toThrow('given back')
    await hide(board)
    await ctx.emit(labelled(board))
  })
  expect(await told()).toEqual([])
})

test('a board that a transaction writes in, then locks for a change and hides, is looked at', async () => {
  await within(async (ctx) => {
    await writableContainer(ctx, board, 'MEMBER')
    await lockWritable(ctx, board, 'ADMIN')
    await ctx.tx`update container set is_private = true where id = ${board}`
    await ctx.emit(labelled(board))
  })
  expect(await told()).toEqual([])
})

test('an event of a held board and one of a board that is not held, in one transaction, are each told to who sees them', async () => {
  const secret = await made(owner, '/containers', {
    kind: 'COLLECTION',
    name: 'Secret',
    parent_id: hub,
    is_private: true,
  })
  await within(async (ctx) => {
    await writableContainer(ctx, board, 'MEMBER')
    await ctx.emit(labelled(board), labelled(secret))
  })
  expect(await told()).toEqual([labelType])
})
