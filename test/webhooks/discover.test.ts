/** The look for what is due, in pages. What it finds at one webhook: delivery.test.ts and states.test.ts. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { discover, type Found, type Page, type Visited } from '../../src/core/areas/webhooks/dispatch/discover.ts'
import { type Subscribed, type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

const webhooks = 101
let world: WebhookWorld
const subscribed: Subscribed[] = []

beforeAll(async () => {
  world = await webhookWorld({}, { dispatches: false })
  for (let n = 0; n < webhooks; n += 1) subscribed.push(await world.subscribe('http://127.0.0.1:9/'))
})
afterAll(() => world.close())

async function pages(): Promise<readonly (readonly Found[])[]> {
  const found: (readonly Found[])[] = []
  let after: Visited | undefined
  do {
    const page: Page = await discover(world.installation, 30, world.ahead, after)
    found.push(page.found)
    after = page.end
  } while (after)
  return found
}
const idsOf = (found: readonly (readonly Found[])[]) => found.flat().map(({ webhook_id }) => webhook_id)

test('a look finds each webhook once, fifty to a page, across workspaces', async () => {
  const other = await world.subscribe('http://127.0.0.1:9/', { of: await world.another('second') })
  expect(await pages()).toEqual([[]])
  await world.emit(world.home.tenantId, 3)
  await world.emit(other.tenantId)

  const found = await pages()
  expect(found.map(({ length }) => length)).toEqual([50, 50, 2])
  expect(idsOf(found).sort()).toEqual([...subscribed, other].map(({ id }) => id).sort())
})

test('a page of webhooks that are not served ends no look', async () => {
  await world.sql`
    update webhook set state = 'PAUSED'
    where id in (select webhook_id from delivery group by tenant_id, webhook_id order by tenant_id, webhook_id limit 100)`
  const found = await pages()
  expect(found.map(({ length }) => length)).toEqual([0, 0, 2])
})
