/** The keyring through its operations, over the API and in recovery mode. Spec: Admin: encryption keyring; T-20, T-21. */
import { randomBytes, randomUUIDv7 } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { encryptionOperations as ops } from '../../src/core/admin/encryption/contract.ts'
import { resealSlice, resealUntil } from '../../src/core/admin/encryption/reseal.ts'
import { type TwoWays, twoWays, ways as bothWays } from '../support/two-ways.ts'

let ways: TwoWays
beforeAll(async () => {
  ways = await twoWays()
})
afterAll(() => ways.close())

test('nothing sealed: the one key, current, with a zero for each kind', async () => {
  const seen = await ways.call('api', ops.getEncryption, {})
  expect(seen.keys).toHaveLength(1)
})
