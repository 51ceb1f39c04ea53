/** Items and views from a terminal. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { emptyTrashJob } from '../../src/core/areas/items/trash/emptying.ts'
import { type Desk, openDesk } from '../items/desk.ts'
import { type Home, type Ran, temporaryHome } from '../kit/svc.ts'

let desk: Desk
let home: Home
let name: string
beforeAll(async () => {
  desk = await openDesk()
  home = temporaryHome({ SVC_API_URL: desk.daemon.address, SVC_TOKEN: desk.people.MEMBER.token })
  name = (await desk.ask(`GET /containers/${desk.collectionId}`)).json.name
})
afterAll(async () => {
  await desk.close()
  home.remove()
})

const svc = (...args: string[]): Promise<Ran> => home.svc(args)
async function json(...args: string[]) {
  const ran = await svc(...args, '--json')
  expect([args, ran.code, ran.stderr]).toEqual([args, 0, ''])
  return JSON.parse(ran.stdout)
}
const open = '{"field":"state","op":"is","value":"OPEN"}'

test('an item is created in a collection that is named, shown and listed', async () => {
  const made = await json(
    'items',
    'create',
    'Order \u001b[31mpaint',
    '--collection',
    name,
    '--due',
    '2030-05-02T10:00:00Z',
  )
  expect(made).toMatchObject({ title: 'Order \u001b[31mpaint', container_id: desk.collectionId })
  const shown = await svc('items', 'show', made.id)
  expect(shown.stdout).toContain(made.id)
  expect(shown.stdout).not.toContain('\u001b[31m')
  const listed = await svc('items', 'list', name)
  expect([listed.code, listed.stdout]).toEqual([0, expect.stringContaining(made.id)])
  expect((await json('items', 'list', '--max', '1')).data).toHaveLength(1)
})

test('a query by a filter on the line, in a file, and by a view', async () => {
  const file = join(home.folder, 'open.json')
  writeFileSync(file, open)
  const item = await desk.item({ title: 'Zebra' })
  await desk.item({ title: 'Aardvark' })
  const titles = async (...args: string[]) =>
    (await json('items', 'query', '--collection', name, ...args)).data.map(({ title }: { title: string }) => title)
  expect((await titles('--filter', open, '--sort', 'title:desc'))[0]).toBe('Zebra')
  expect((await titles('--filter', `@${file}`, '--sort', 'title'))[0]).toBe('Aardvark')
  await desk.act(item, 'complete')
  const body = { name: 'Done ones', visibility: 'SHARED', filter: { not: JSON.parse(open) } }
  expect((await desk.ask('POST /views', body)).status).toBe(201)
  expect(await titles('--archived', 'ONLY')).toEqual([])
  const ran = await svc('items', 'query', '--view', 'Done ones', '--count')
  expect([ran.code, ran.stdout, ran.stderr]).toEqual([
    0,
    expect.stringContaining(item.id),
    expect.stringContaining('1 match.'),
  ])
  expect((await svc('views', 'list')).stdout).toContain('Done ones')
})

test('many items at once: what refuses is a table, and the command ends with 8', async () => {
  const items = [await desk.item(), await desk.item(), await desk.item()]
  await desk.act(items[1]!, 'archive')
  const ids = items.map(({ id }) => id)
  const ran = await svc(
    'items',
    'bulk',
    '--action',
    'complete',
    '--action',
    '{"action":"set_due","due_on":"2030-05-02"}',
    ...ids,
  )
  expect([ran.code, ran.stdout]).toEqual([8, expect.stringMatching(/item\.archived[\s\S]*2 of 3 items were changed/)])
  expect(await desk.read(items[0]!)).toMatchObject({ state: 'DONE', due_on: '2030-05-02' })
  const refused = await svc('items', 'bulk', '--atomic', '--action', 'reopen', ...ids)
  expect([refused.code, refused.stderr]).toEqual([5, expect.stringContaining('/items/1')])
  expect(await desk.read(items[0]!)).toMatchObject({ state: 'DONE' })
})

test('ids come from stdin, in as many calls as it takes', async () => {
  const item = await desk.item()
  const ids = [item.id, ...Array.from({ length: 250 }, () => crypto.randomUUID())]
  const ran = await home.svc(['items', 'bulk', '--action', 'archive', '-', '--json'], { input: ids.join('\n') })
  expect(ran.code).toBe(8)
  expect(JSON.parse(ran.stdout).results.map(({ status }: { status: number }) => status)).toEqual([
    200,
    ...Array(250).fill(404),
  ])
})

describe('the trash', () => {
  const trash = (...args: string[]) => home.svc(['trash', ...args], { env: { SVC_TOKEN: desk.people.OWNER.token } })

  test('is listed, counted, and emptied after the number was confirmed', async () => {
    const { collectionId } = await desk.shelf(1)
    const items = [1, 2].map((n) => desk.item({ container_id: collectionId, title: `Old \u001b[31m${n}` }))
    for (const { id } of await Promise.all(items)) await desk.ask(`DELETE /items/${id}`)
    const of = ['--collection', collectionId]
    const listed = await trash('list', ...of)
    expect([listed.code, listed.stdout]).toEqual([0, expect.stringMatching(/TITLE +KIND +ITEMS[\s\S]*Old /)])
    expect(listed.stdout).not.toContain('\u001b[31m')
    expect(JSON.parse((await trash('list', ...of, '--json')).stdout).data).toHaveLength(2)
    expect((await trash('empty', ...of, '--plan')).stdout).toContain('2 rows of the trash would be purged.')
    const unconfirmed = await trash('empty', ...of)
    expect([unconfirmed.code, unconfirmed.stderr]).toEqual([2, expect.stringContaining('--confirm 2')])
    const wrong = await trash('empty', ...of, '--confirm', '3')
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('differs from 2')])
    expect(JSON.parse((await trash('list', ...of, '--json')).stdout).data).toHaveLength(2)
  })

  test('empties by a job that a worker does, and says how much', async () => {
    const { sql } = desk.daemon.db
    const { collectionId } = await desk.shelf(1)
    const item = await desk.item({ container_id: collectionId })
    await desk.ask(`DELETE /items/${item.id}`)
    await sql`update credential set scopes = 'workspace:read workspace:write' where account_id = ${desk.people.OWNER.accountId}`
    const running = trash('empty', '--collection', collectionId, '--confirm', '1')
    const queued = async () =>
      (await sql`select id from job where kind = 'TRASH_EMPTY' and state = 'QUEUED'`)[0]?.['id']
    await expect.poll(queued, { timeout: 20_000 }).toBeDefined()
    const { installation, close } = await bootInstallation(desk.daemon.config, {
      works: false,
      applicationName: 'svc test',
    })
    await emptyTrashJob.run(installation, { tenantId: desk.tenantId, jobId: await queued() })
    await close()
    const ran = await running
    expect([ran.code, ran.stdout]).toEqual([0, 'Purged 1 row.\n'])
    const none = await trash('empty', '--collection', collectionId)
    expect([none.code, none.stdout]).toEqual([0, 'Nothing of this is in the trash.\n'])
  })
})

test.each([
  [['items', 'list', 'Nowhere'], 3, 'There is no collection "Nowhere"'],
  [['items', 'query', '--view', 'None'], 3, 'There is no view "None"'],
  [['items', 'query', '--filter', '{'], 2, 'The filter is not JSON.'],
  [['items', 'query', '--filter', '@/nowhere'], 2, 'cannot be read'],
  [['items', 'query', '--sort', 'due:up'], 2, '"due:up" is no order.'],
  [['items', 'query', '--filter', '{"field":"colour","op":"is"}'], 2, '/filter/field'],
  [['items', 'bulk', '--action', 'explode', crypto.randomUUID()], 2, '/actions/0/action'],
])('%j says what is wrong', async (args, code, said) => {
  const ran = await svc(...args)
  expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(said)])
})
