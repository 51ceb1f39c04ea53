/** Comments from a terminal. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { type Desk, openDesk } from '../items/desk.ts'
import { type Home, temporaryHome } from '../kit/svc.ts'

let desk: Desk
let home: Home
let item: Item
beforeAll(async () => {
  desk = await openDesk()
  home = temporaryHome({ SVC_API_URL: desk.daemon.address, SVC_TOKEN: desk.people.COMMENTER.token })
  item = await desk.item()
})
afterAll(async () => {
  await desk.close()
  home.remove()
})

const hostile = '<script>alert(1)</script> \u001b[31mred\u001b[0m\r\u202eand back'

test('a comment is added, replied to and listed; escapes come as they are, and never reach the terminal', async () => {
  expect((await home.svc(['comments', 'list', item.id])).stdout).toContain('There is no comment yet.')
  const added = await home.svc(['comments', 'add', item.id, hostile])
  expect([added.code, added.stderr]).toEqual([0, ''])
  expect(added.stdout).toContain('\\u001b[31mred')
  const [{ id }] = (await desk.ask(`GET /items/${item.id}/comments`)).json.data
  const options = { input: 'read from\nstdin\n' }
  const reply = await home.svc(['comments', 'add', item.id, '-', '--reply-to', id, '--json'], options)
  expect(JSON.parse(reply.stdout)).toMatchObject({ body: 'read from\nstdin', reply_to_id: id })

  const listed = await home.svc(['comments', 'list', item.id])
  expect(listed.stdout).toContain('<script>alert(1)</script> \\u001b[31mred\\u001b[0m\\u000d\\u202eand back')
  expect(listed.stdout).toContain('> read from\\u000astdin')
  for (const { stdout } of [added, listed]) expect(stdout).not.toMatch(/[\u001b\r\u202e]/)
  const json = await home.svc(['comments', 'list', item.id, '--newest', '--max', '1', '--json'])
  expect(JSON.parse(json.stdout).data).toEqual([JSON.parse(reply.stdout)])
})

test('a comment brings files that were uploaded', async () => {
  const as = desk.people.COMMENTER
  const begin = async (filename: string) => (await desk.ask('POST /media', { filename, size_bytes: 1 }, { as })).json.id
  const [a, b] = [await begin('a'), await begin('b')]
  const added = await home.svc(['comments', 'add', item.id, '--media', a, '--media', b, 'See both.'])
  expect([added.code, added.stdout]).toEqual([0, expect.stringContaining(`${a}, ${b}`)])
  const { data } = (await desk.ask(`GET /items/${item.id}/attachments`)).json
  expect(data.map(({ media }: { media: { id: string } }) => media.id).sort()).toEqual([a, b].sort())
})

test.each([
  [['comments', 'add', crypto.randomUUID(), 'x'], 3, 'Nothing with this name or id'],
  [['comments', 'add', 'THE-ITEM', `<@${crypto.randomUUID()}>`], 2, '/body'],
  [['comments', 'list', crypto.randomUUID()], 3, 'Nothing with this name or id'],
])('%j says what is wrong', async (args, code, said) => {
  const ran = await home.svc(args.map((arg) => (arg === 'THE-ITEM' ? item.id : arg)))
  expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(said)])
})
