/**
 * The compiler and the interpreter say the same of random filters and items. test/campaigns/filters.test.ts asks 100,000.
 * Spec: Work on boards, 9.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FilterWorld, filterWorld } from './filter-world.ts'

let world: FilterWorld
beforeAll(async () => {
  world = await filterWorld(60)
}, 60_000)
afterAll(() => world.close())

test('300 random filters over 60 random items', { timeout: 60_000 }, async () => {
  expect(await world.differences(7, 300)).toBeUndefined()
})
