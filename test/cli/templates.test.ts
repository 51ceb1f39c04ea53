/** Templates from a terminal. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Desk, openDesk } from '../items/desk.ts'
import { type Home, temporaryHome } from '../kit/svc.ts'

let desk: Desk
let home: Home
let collection: string
let hub: string
beforeAll(async () => {
  desk = await openDesk()
  home = temporaryHome({ SVC_API_URL: desk.daemon.address, SVC_TOKEN: desk.people.MEMBER.token })
  const { name, parent_id } = (await desk.ask(`GET /containers/${desk.collectionId}`)).json
  collection = name
  hub = parent_id
  const items = [{ title: 'Call {{who}}\u001b[31m', labels: ['no\u001b[31mne'], due_in_days: 1 }]
  await desk.ask('POST /templates', { name: 'A call', kind: 'ITEM', content: { items } })
  await desk.ask('POST /templates', {
    name: 'A board',
    kind: 'BOARD',
    content: { buckets: [{ name: 'a' }], items: [] },
  })
})
afterAll(async () => {
  await desk.close()
  home.remove()
})

test('a template is listed, and applied by its name; what was left out is told, and the command ends with 8', async () => {
  const listed = await home.svc(['templates', 'list'])
  expect([listed.code, listed.stdout]).toEqual([
    0,
    expect.stringMatching(/A call +ITEM +who +all[\s\S]*A board +BOARD/),
  ])
  expect(JSON.parse((await home.svc(['templates', 'list', '--kind', 'BOARD', '--json'])).stdout).data).toHaveLength(1)
  const ran = await home.svc([
    'templates',
    'apply',
    'A call',
    '--collection',
    collection,
    '--value',
    'who=Ada=Bob',
    '--anchor',
    '2030-05-01',
  ])
  expect(ran.code).toBe(8)
  expect(ran.stdout).toMatch(/Call Ada=Bob\\u001b\[31m[\s\S]*2030-05-02/)
  expect(ran.stderr).toContain('left out: /items/0/labels/0 (reference.unknown)')
  for (const text of [ran.stdout, ran.stderr]) expect(text).not.toContain('\u001b[31m')
  const board = await home.svc(['templates', 'apply', 'A board', '--hub', hub, '--name', 'Acme', '--json'])
  expect([board.code, JSON.parse(board.stdout).container]).toEqual([
    0,
    expect.objectContaining({ name: 'Acme', parent_id: hub }),
  ])
})

test.each([
  [['templates', 'apply', 'None'], 3, 'There is no template "None"'],
  [['templates', 'apply', 'A call', '--value', 'who'], 2, '"who" is no value'],
  [['templates', 'apply', 'A call', '--collection', 'THE-COLLECTION'], 2, '/values/who'],
])('%j says what is wrong', async (args, code, said) => {
  const ran = await home.svc(args.map((arg) => (arg === 'THE-COLLECTION' ? collection : arg)))
  expect([ran.code, ran.stderr]).toEqual([code, expect.stringContaining(said)])
})
