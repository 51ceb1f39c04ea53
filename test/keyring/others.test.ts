import { beforeEach, expect, test } from 'vitest'
import { othersOf } from '../../src/core/areas/keyring/others.ts'

/** As a pool tells it: counts that were read once stay as they were. */
let lent = 0
const pool = {
  get counts() {
    return { lent }
  },
}
let now = 0
let others: ReturnType<typeof othersOf>
beforeEach(() => {
  lent = 7
  now = 1_000
  others = othersOf(pool, () => now)
})

/** `count` connections are lent to others, and then `ms` go by. */
const lend = (count: number, ms: number) => {
  lent += count
  now += ms
}

test('for fifty milliseconds they are presumed present', () => {
  lend(0, 49)
  expect(others.arePresent()).toBe(true)
  lend(0, 1)
  expect(others.arePresent()).toBe(false)
})

test('two connections within fifty milliseconds make them present for a second', () => {
  lend(0, 60)
  others.arePresent()
  lend(1, 30)
  expect(others.arePresent()).toBe(false)
  lend(1, 10)
  expect(others.arePresent()).toBe(true)
  lend(0, 999)
  expect(others.arePresent()).toBe(true)
  lend(0, 1)
  expect(others.arePresent()).toBe(false)
})

test('a connection now and then is a daemon at rest', () => {
  lend(0, 60)
  for (let turn = 0; turn < 20; turn += 1) {
    expect(others.arePresent()).toBe(false)
    lend(1, 60)
  }
})

test('their own connections do not count', () => {
  lend(0, 60)
  for (let turn = 0; turn < 20; turn += 1) {
    expect(others.arePresent()).toBe(false)
    others.discount()
    lend(1, 5)
  }
})
