/**
 * Notifications: what it costs a change that somebody is to be told of it, a page of notifications against its own statements run
 * bare, and how many events a second are told.
 */
import { randomUUIDv7 } from 'node:crypto'
import postgres from 'postgres'
import { perform } from '../src/core/app/perform.ts'
import { makeItems, type NewItem } from '../src/core/areas/items/making.ts'
import { tellAll } from '../src/core/areas/notifications/notifier.ts'
import { itemOperations } from '../src/core/contract/items/operations.ts'
import { notificationOperations } from '../src/core/contract/notifications/operations.ts'
import { postgresOptions } from '../src/core/kernel/database/address.ts'
import { openBarePool } from './bare-pool.ts'
import type { Ground } from './ground.ts'
import { recorded } from './recording.ts'
import { compare, elapsedMs } from './rounds.ts'
import { ceilingLine, type Line, ratioLine } from './table.ts'

const rounds = 15
const changesARound = 200
const pagesARound = 100

export async function notifying(ground: Ground): Promise<Line[]> {
  const watcher = randomUUIDv7()
  const sql = postgres({ ...postgresOptions(ground.superuser), max: 1, onnotice: () => undefined })
  try {
    await sql`
      insert into account (tenant_id, id, kind, state, email, email_fold)
      values (${ground.tenantId}, ${watcher}, 'PERSON', 'ACTIVE', 'watcher@example.org', 'watcher@example.org')`
    await sql`
      insert into membership (tenant_id, id, account_id, role) values (${ground.tenantId}, ${randomUUIDv7()}, ${watcher}, 'MEMBER')`
    return [
      await creations(ground, watcher),
      await changes(ground, watcher),
      await telling(ground),
      await pages(ground, watcher),
    ]
  } finally {
    await sql.end()
  }
}

/** Items that are made with one member: somebody who is told, or the maker. The rows of the item are as many. */
async function creations(ground: Ground, watcher: string): Promise<Line> {
  const { installation, actor, tenantId, collectionId } = ground
  const made = (member: string) => () =>
    elapsedMs(async () => {
      for (let n = 0; n < changesARound; n += 1)
        await installation.transaction(actor, { tenantId, admits: true }, async (ctx) => {
          await makeItems(ctx, collectionId, [newItem(member)], new Date().toISOString())
        })
    })
  const compared = await compare(made(watcher), made(actor.accountId), rounds)
  const what = `notifying: ${changesARound} × an item made with somebody to tell, against with nobody`
  return ratioLine(what, { ...compared, unit: 'ms' }, 'at most', 1.15)
}

const newItem = (member: string): NewItem => ({
  ...{
    title: 'An item',
    type: 'TASK',
    description: null,
    bucket_id: null,
    position: `a${randomUUIDv7().replaceAll('-', '')}V`,
  },
  ...{ label_ids: [], start_at: null, due_at: null, start_on: null, due_on: null, time_zone: null, values: [] },
  people: { member_ids: [member], assignee_id: null },
})

/** A title is changed, of an item with a member who is told, and of one's own. */
async function changes(ground: Ground, watcher: string): Promise<Line> {
  const { installation, actor, tenantId, collectionId } = ground
  const itemOf = (member: string) =>
    installation.transaction(actor, { tenantId, admits: true }, async (ctx) => {
      const [item] = await makeItems(ctx, collectionId, [newItem(member)], new Date().toISOString())
      return item!.id
    })
  const [told, own] = [await itemOf(watcher), await itemOf(actor.accountId)]
  let count = 0
  const changed = (itemId: string) => () =>
    elapsedMs(async () => {
      for (let n = 0; n < changesARound; n += 1) {
        count += 1
        await perform(installation, itemOperations.updateItem, actor, {
          params: { itemId },
          body: { title: `Title ${count}` },
        })
      }
    })
  const compared = await compare(changed(told), changed(own), rounds)
  const what = `notifying: ${changesARound} × an item changed with somebody to tell, against with nobody`
  return ratioLine(what, { ...compared, unit: 'ms' }, 'at most', 1.15)
}

/** All that the lines above left to be told. */
async function telling({ installation, tenantId }: Ground): Promise<Line> {
  const waits = await installation.transaction(
    { kind: 'SYSTEM', job: 'bench' },
    { tenantId, readOnly: true },
    async ({ tx }) => {
      const [row] = await tx<{ count: number }[]>`
      select count(*)::int as count from notification_pending where tenant_id = ${tenantId}`
      return row?.count ?? 0
    },
  )
  const ms = await elapsedMs(() => tellAll(installation))
  return ceilingLine(`notifying: an event of ${waits} that are told one after another`, ms / waits, 'ms', 5)
}

/** A page of 50 of a thousand, all of them unread. */
async function pages({ installation, actor }: Ground, watcher: string): Promise<Line> {
  const reader = { ...actor, accountId: watcher, role: 'MEMBER' as const, isOperator: false }
  const read = (on: typeof installation) =>
    perform(on, notificationOperations.listNotifications, reader, { query: { size: '50' } })
  const bare = openBarePool(installation.address, 1)
  const statements = await recorded(installation, read)
  const page = () =>
    elapsedMs(async () => {
      for (let n = 0; n < pagesARound; n += 1) await read(installation)
    })
  const bareRound = () =>
    elapsedMs(async () => {
      for (let n = 0; n < pagesARound; n += 1) await bare.run(statements)
    })
  const compared = await compare(page, bareRound, rounds)
  await bare.close()
  return ratioLine(
    `notifying: ${pagesARound} × a page of 50 of a thousand`,
    { ...compared, unit: 'ms' },
    'at most',
    1.25,
  )
}
