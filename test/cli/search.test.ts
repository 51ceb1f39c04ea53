/** Searching from a terminal. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Desk, openDesk } from '../items/desk.ts'
import { type Home, type Ran, temporaryHome } from '../kit/svc.ts'
import { type Indexing, openIndexing } from '../search/indexing.ts'

let desk: Desk
let home: Home
let indexing: Indexing
beforeAll(async () => {
  desk = await openDesk()
  indexing = await openIndexing(desk.daemon)
  home = temporaryHome({ SVC_API_URL: desk.daemon.address, SVC_TOKEN: desk.people.MEMBER.token })
  for (let n = 0; n < 3; n += 1)
    await desk.item({ title: `Paper jam ${n}`, description: `in \u001b[31mtray ${n}\nof the printer` })
  await indexing.catchUp()
})
afterAll(async () => {
  await indexing.close()
  await desk.close()
  home.remove()
})

const svc = (...args: string[]): Promise<Ran> => home.svc(args)

test('words need no quotes, and what is found is a table without escapes', async () => {
  const ran = await svc('search', 'jam', 'printer')
  expect([ran.code, ran.stderr]).toEqual([0, ''])
  expect(ran.stdout).toContain('Paper jam 2')
  expect(ran.stdout).toContain('description: in')
  expect(ran.stdout).not.toContain('\u001b[31m')
  expect((await svc('search', 'nothing', 'of', 'this')).stdout).toContain('Nothing has these words.')
})

test('--json is the answer, over pages, phrases, filters and kinds', async () => {
  const json = async (...args: string[]) => {
    const ran = await svc('search', ...args, '--json')
    expect([args, ran.code, ran.stderr]).toEqual([args, 0, ''])
    return JSON.parse(ran.stdout)
  }
  expect((await json('jam', '--max', '2')).data).toHaveLength(2)
  expect((await json('"paper jam"')).data).toHaveLength(3)
  expect((await json('"jam paper"')).data).toEqual([])
  expect((await json('jam', '--filter', '{"field":"state","op":"is","value":"DONE"}')).data).toEqual([])
  expect(await json('jam', '--kind', 'CONTAINER')).toEqual({ data: [], capped: false, is_behind: false, unknown: [] })
})

test('a question of too many words is refused', async () => {
  const ran = await svc('search', ...Array.from({ length: 17 }, () => 'word'))
  expect(ran.code).toBe(2)
  expect(ran.stderr).toContain('/query')
})
