/**
 * The compiler and the interpreter of filters agree: 100,000 random filters over random items with SVC_FAULTS=full, else
 * 3,000. Spec: Work on boards, 9; docs/decisions/0210.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type FilterWorld, filterWorld } from '../items/filter/filter-world.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const rounds = isFull ? 100 : 3
const filtersEach = 1_000

let world: FilterWorld
beforeAll(async () => {
  world = await filterWorld(isFull ? 200 : 100, Date.now())
}, 120_000)
afterAll(() => world.close())

test(`${rounds * filtersEach} random filters`, { timeout: 3_600_000 }, async () => {
  for (let round = 1; round <= rounds; round += 1)
    expect(await world.differences(Date.now() + round, filtersEach)).toBeUndefined()
})
