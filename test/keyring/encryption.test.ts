/** The keyring through its operations, over the API and in recovery mode. Spec: Admin: encryption keyring; T-20. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { resealValues } from '../../src/core/areas/keyring/jobs.ts'
import { othersOf } from '../../src/core/areas/keyring/others.ts'
import { resealSlice, resealUntil } from '../../src/core/areas/keyring/reseal.ts'
import { encryptionOperations as ops } from '../../src/core/contract/keyring/operations.ts'
import { sealedKinds } from '../../src/core/contract/sealed-kinds.ts'
import { installationScope } from '../../src/core/contract/vocabulary.ts'
import type { Place } from '../../src/core/kernel/sealing/sealing.ts'
import { storeSealed } from '../../src/core/kernel/transaction/sealed-values.ts'
import { changeKeyring, keyringIn, newKey } from '../kit/keyrings.ts'
import { workspace } from '../kit/people.ts'
import { countsIn, type Stored, store, storeMany, wrongAmong } from '../kit/sealed.ts'
import { ways as bothWays, type TwoWays, twoWays } from '../kit/two-ways.ts'

let ways: TwoWays
let stored: Stored
let other: string
beforeAll(async () => {
  ways = await twoWays()
  other = await workspace(ways.daemon, 'other')
})
afterAll(() => ways.close())
beforeEach(async () => {
  stored = new Map()
  await ways.sql`truncate sealed_value, reseal`
  await ways.sql`delete from journal where action like 'encryption%'`
  await ways.sql`delete from pgboss.job where name = 'reseal'`
})

const forever = Number.POSITIVE_INFINITY
const keyringFile = () => ways.daemon.config.keyringFile

/** Adds a key, makes it current and has it read. */
async function switchKey(): Promise<string> {
  const id = `k${Object.keys(keyringIn(keyringFile()).keys).length + 1}`
  changeKeyring(keyringFile(), (keyring) => {
    keyring.keys[id] = newKey()
    keyring.current = id
  })
  await ways.rereadKeyrings()
  return id
}

const seal = (count: number, tenantId = ways.home.tenantId) => storeMany(ways.installation, stored, tenantId, count)

/** A value is rotated by a transaction that stays open until it is told to commit. */
function rotateSlowly(place: Place, plaintext: string) {
  const gate = Promise.withResolvers<void>()
  const begun = Promise.withResolvers<void>()
  const ended = ways.installation.transaction(
    { kind: 'SYSTEM', job: 'test' },
    { tenantId: place.tenantId },
    async (ctx) => {
      await storeSealed(ctx, place, plaintext)
      begun.resolve()
      await gate.promise
    },
  )
  return {
    begun: begun.promise,
    commit: async () => {
      gate.resolve()
      await ended
    },
  }
}

const isWaiting = async () => {
  const [row] = await ways.sql<{ waits: boolean }[]>`
    select exists (select from pg_stat_activity where wait_event_type = 'Lock' and query like '%update sealed_value%') as waits`
  return row!.waits
}

describe.each(bothWays)('by %s', (way) => {
  test('the keyring: each key of the ring, and a zero for each kind', async () => {
    const seen = await ways.call(way, ops.getEncryption, {})
    const { current, keys } = keyringIn(keyringFile())
    const none = Object.fromEntries(Object.keys(sealedKinds).map((kind) => [kind.replace('.', '_'), 0]))
    expect(seen).toEqual({
      active_key_id: current,
      keys: Object.keys(keys).map((key_id) => ({
        key_id,
        in_ring: true,
        active: key_id === current,
        total: 0,
        by_kind: none,
      })),
      reseal: { queued: 0, running: 0, failed: 0 },
    })
  })

  test('counts per key and kind, also of a key that the ring lacks, and names no workspace', async () => {
    await seal(3)
    await seal(2, other)
    await storeMany(ways.installation, stored, installationScope, 1, 'backup.credentials')
    await ways.sql`update sealed_value set key_id = 'lost' where tenant_id = ${other}`
    const seen = await ways.call(way, ops.getEncryption, {})
    const { current } = keyringIn(keyringFile())
    expect(seen.keys.find(({ key_id }) => key_id === current)).toMatchObject({
      total: 4,
      by_kind: { idempotency_answer: 3, backup_credentials: 1 },
    })
    expect(seen.keys.find(({ key_id }) => key_id === 'lost')).toMatchObject({
      in_ring: false,
      active: false,
      total: 2,
      by_kind: { idempotency_answer: 2, backup_credentials: 0 },
    })
    for (const id of [ways.home.tenantId, other, 'other', 'home']) expect(JSON.stringify(seen)).not.toContain(`"${id}"`)
  })

  test('a reseal is one job for each workspace and one for the installation, and asking twice queues nothing new', async () => {
    await seal(3)
    await seal(2, other)
    await storeMany(ways.installation, stored, installationScope, 1)
    const before = await ways.sql`select owner_id, ciphertext from sealed_value order by owner_id`
    const key = await switchKey()

    expect(await ways.call(way, ops.resealEncryption, {})).toEqual({ queued: 3 })
    expect(await ways.call(way, ops.resealEncryption, {})).toEqual({ queued: 0 })
    expect((await ways.call(way, ops.getEncryption, {})).reseal).toEqual({ queued: 3, running: 0, failed: 0 })
    expect(await ways.sql`select 1 from pgboss.job where name = 'reseal'`).toHaveLength(1)
    expect(await resealUntil(ways.installation, forever)).toBe(true)

    expect(await countsIn(ways.sql)).toEqual({ [key]: 6 })
    expect(await wrongAmong(ways.installation, stored)).toEqual([])
    expect(await ways.sql`select owner_id, ciphertext from sealed_value order by owner_id`).toEqual(before)
    expect((await ways.call(way, ops.getEncryption, {})).reseal).toEqual({ queued: 0, running: 0, failed: 0 })
    expect(
      await ways.sql`select actor_kind, params - 'os_user' - 'host' as params from journal where action = 'encryption.reseal_requested'`,
    ).toEqual([{ actor_kind: way === 'api' ? 'ACCOUNT' : 'RECOVERY', params: { key_id: key, queued: 3 } }])
    expect(await ways.call(way, ops.resealEncryption, {})).toEqual({ queued: 3 })
  })
})

describe('T-20', () => {
  test('a key that is switched again while values are re-wrapped is the one that they end under', async () => {
    await seal(1200)
    await switchKey()
    await ways.call('api', ops.resealEncryption, {})
    // Slices of the three scopes in turn: the first of the long one leaves most of it.
    while ((await ways.sql`select 1 from reseal where at_kind <> ''`).length === 0) await resealSlice(ways.installation)
    const last = await switchKey()
    expect(Object.keys(await countsIn(ways.sql))).toHaveLength(2)

    await resealUntil(ways.installation, forever)

    expect(await countsIn(ways.sql)).toEqual({ [last]: 1200 })
    expect(await wrongAmong(ways.installation, stored)).toEqual([])
  })

  test('a key that is switched after a scope was finished has it queued again', async () => {
    await seal(1)
    await switchKey()
    await ways.call('api', ops.resealEncryption, {})
    await resealSlice(ways.installation)
    const last = await switchKey()
    expect((await ways.call('api', ops.resealEncryption, {})).queued).toBe(1)
    await resealUntil(ways.installation, forever)
    expect(await countsIn(ways.sql)).toEqual({ [last]: 1 })
  })

  test('a value that is rotated while it is being re-wrapped stays as it was rotated', async () => {
    await seal(20)
    const { place } = [...stored.values()][0]!
    await switchKey()
    await ways.call('api', ops.resealEncryption, {})
    const rotation = rotateSlowly(place, 'the newer value')
    await rotation.begun

    const resealed = resealUntil(ways.installation, forever)
    await expect.poll(isWaiting, { timeout: 1900, interval: 10 }).toBe(true)
    await rotation.commit()
    await resealed

    stored.set(`${place.tenantId} ${place.kind} ${place.ownerId}`, { place, plaintext: 'the newer value' })
    expect(await wrongAmong(ways.installation, stored)).toEqual([])
    expect(Object.values(await countsIn(ways.sql))).toEqual([20])
  })

  test('two who work at once share the scopes, and nothing is done twice or left', async () => {
    await seal(700)
    await seal(700, other)
    const key = await switchKey()
    await ways.call('api', ops.resealEncryption, {})
    await Promise.all([resealUntil(ways.installation, forever), resealUntil(ways.installation, forever)])
    expect(await countsIn(ways.sql)).toEqual({ [key]: 1400 })
    expect(await wrongAmong(ways.installation, stored)).toEqual([])
  })

  test('at first it is done in small slices, because others may be there, and then all of it', async () => {
    await seal(1200)
    const key = await switchKey()
    await ways.call('api', ops.resealEncryption, {})
    const done = async () => (await countsIn(ways.sql))[key] ?? 0
    // Scopes without a value may come first; each call works for less time than others are presumed present.
    while ((await done()) === 0) expect(await resealUntil(ways.installation, performance.now() + 20)).toBe(false)
    expect((await done()) % 50).toBe(0)
    expect(await done()).toBeLessThan(500)
    expect(await resealUntil(ways.installation, forever)).toBe(true)
    expect(await countsIn(ways.sql)).toEqual({ [key]: 1200 })
    expect(await wrongAmong(ways.installation, stored)).toEqual([])
  })

  test('a transaction of others is seen in the pool', async () => {
    let now = 1_000
    const { pool } = ways.installation
    const others = othersOf(pool, () => now)
    now += 60
    expect(others.arePresent()).toBe(false)
    for (let n = 0; n < 2; n += 1)
      await ways.installation.transaction({ kind: 'SYSTEM', job: 'test' }, {}, ({ tx }) => tx`select 1`)
    expect(others.arePresent()).toBe(true)
  })

  test('what does not open is counted, stays as it is and holds nothing up', async () => {
    await seal(10)
    const [first, second] = [...stored.values()].map(({ place }) => place.ownerId)
    const key = await switchKey()
    await ways.sql`update sealed_value set wrap = set_byte(wrap, 20, 255 - get_byte(wrap, 20)) where owner_id = ${first!}`
    await ways.sql`update sealed_value set key_id = 'lost' where owner_id = ${second!}`
    await ways.call('api', ops.resealEncryption, {})
    await resealUntil(ways.installation, forever)
    expect((await countsIn(ways.sql))[key]).toBe(8)
    expect((await countsIn(ways.sql))['lost']).toBe(1)
    expect((await ways.call('api', ops.getEncryption, {})).reseal).toEqual({ queued: 0, running: 0, failed: 2 })
    expect(await wrongAmong(ways.installation, stored)).toHaveLength(2)
  })

  test('a workspace that is being purged is left alone', async () => {
    await ways.sql`update tenant set state = 'PENDING_DELETION', state_before_deletion = 'ACTIVE', deletion_requested_at = now(), purge_after = now(), purge_started_at = now() where id = ${other}`
    expect(await ways.call('recovery', ops.resealEncryption, {})).toEqual({ queued: 2 })
    await ways.sql`update tenant set state = 'ACTIVE', state_before_deletion = null, deletion_requested_at = null, purge_after = null, purge_started_at = null where id = ${other}`
  })
})

test('the job works off what is queued, and one that is woken meanwhile leaves it to the first', async () => {
  await seal(30)
  const key = await switchKey()
  await ways.call('api', ops.resealEncryption, {})
  await Promise.all([resealValues.run(ways.installation, {}), resealValues.run(ways.installation, {})])
  expect(await countsIn(ways.sql)).toEqual({ [key]: 30 })
})

test('a value stored anew after the walk has passed it is under the current key by itself', async () => {
  const place = { tenantId: other, kind: 'idempotency.answer', ownerId: randomUUIDv7() } as const
  await store(ways.installation, stored, place)
  const key = await switchKey()
  await store(ways.installation, stored, place)
  expect(await countsIn(ways.sql)).toEqual({ [key]: 1 })
})
