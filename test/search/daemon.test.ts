/** A daemon that works finds what was changed without being asked to. Spec: Work on boards, 9, "found in 2 s". */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { SearchAnswer } from '../../src/core/contract/search/operations.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Home, setUp } from '../kit/people.ts'

let daemon: TestDaemon
let home: Home
beforeAll(async () => {
  daemon = await testDaemon({ role: 'all' })
  home = await setUp(daemon)
})
afterAll(() => daemon.close())

const call = (method: string, path: string, body?: unknown) =>
  daemon.call(method, `/api/v1${path}`, { token: home.session, body })

test('a new item, and a changed one, are found soon', async () => {
  const { json: containers } = await call('GET', '/containers?kind=COLLECTION')
  const containerId = containers.data[0].id as string
  const found = async (query: string) => {
    const { json } = await call('POST', '/search', { query })
    return (json as SearchAnswer).data.map(({ title }) => title)
  }
  const made = await call('POST', '/items', { container_id: containerId, title: 'Axolotl' })
  await expect.poll(() => found('axolotl'), { timeout: 5_000, interval: 20 }).toEqual(['Axolotl'])
  await call('PATCH', `/items/${made.json.id}`, '{"title":"Blobfish"}')
  await expect.poll(() => found('blobfish'), { timeout: 5_000, interval: 20 }).toEqual(['Blobfish'])
  expect(await found('axolotl')).toEqual([])
  const isBehind = async () => (await call('POST', '/search', { query: 'blobfish' })).json.is_behind as boolean
  await expect.poll(isBehind, { timeout: 5_000, interval: 20 }).toBe(false)
})
