/** Long reads on a standby: what was committed before is seen, and where it does not serve the primary does. Decision 0325. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { checkStandby } from '../../src/cli/doctor/standby.ts'
import { openPool, type Tx } from '../../src/core/kernel/database/pool.ts'
import { openSnapshots, readPosition, type Snapshots } from '../../src/core/kernel/database/snapshots.ts'
import { newId } from '../../src/core/kernel/values/id.ts'
import { type OwnCluster, ownCluster } from '../kernel/database/own-cluster.ts'

const tenantId = newId()
let primary: OwnCluster
let standby: OwnCluster
let snapshots: Snapshots

beforeAll(async () => {
  primary = await ownCluster({ fsync: 'off' })
  await primary.migrate()
  await primary.superuser`
    insert into tenant (id, slug, display_name, default_locale, default_time_zone) values (${tenantId}, 'acme', 'Acme', 'en', 'UTC')`
  standby = await primary.standby({ max_standby_streaming_delay: '0', hot_standby_feedback: 'off' })
  snapshots = openSnapshots(primary.address('svc_daemon'), standby.address('svc_daemon'), 1_000)
})
afterAll(async () => {
  await snapshots.close()
  await standby.remove()
  await primary.remove()
})
beforeEach(() => primary.superuser`delete from label`.then(() => primary.superuser`delete from container`))

const makeHub = () =>
  primary.superuser`
    insert into container (tenant_id, id, kind, name, rank) values (${tenantId}, ${newId()}, 'HUB', 'Hub', ${newId()})`

async function look(tx: Tx): Promise<{ onStandby: boolean; hubs: number }> {
  const [row] = await tx<{ is_standby: boolean; hubs: number }[]>`
    select pg_is_in_recovery() as is_standby, (select count(*)::int from container where tenant_id = ${tenantId}) as hubs`
  return { onStandby: row?.is_standby ?? false, hubs: row?.hubs ?? -1 }
}

/** On a busy machine a standby needs more than the second that a poll waits by itself. */
const patience = { timeout: 30_000 }

/** The next read is served there, unless the machine stands still in between. */
const caughtUp = () => expect.poll(() => snapshots.read(tenantId, look), patience).toMatchObject({ onStandby: true })

const doctor = () => checkStandby(primary.address('svc_daemon'), standby.address('svc_daemon'))

test('a read sees what was committed before it, each time', async () => {
  let onStandby = 0
  for (let hubs = 1; hubs <= 50; hubs += 1) {
    await makeHub()
    const seen = await snapshots.read(tenantId, look)
    expect(seen.hubs).toBe(hubs)
    if (seen.onStandby) onStandby += 1
  }
  // Where the standby is not given the processor in time, the primary is read.
  expect(onStandby).toBeGreaterThan(25)
  expect(await doctor()).toMatchObject({ state: 'ok', says: expect.stringMatching(/^\d\.\d s behind the primary$/) })
})

test('it sees its workspace alone, there too', async () => {
  await makeHub()
  await expect.poll(() => snapshots.read(newId(), look), patience).toEqual({ onStandby: true, hubs: 0 })
})

test('a standby that has not replayed it is passed over', async () => {
  await standby.superuser`select pg_wal_replay_pause()`
  await makeHub()
  expect(await snapshots.read(tenantId, look)).toEqual({ onStandby: false, hubs: 1 })
  await standby.superuser`select pg_wal_replay_resume()`
  await expect.poll(() => snapshots.read(tenantId, look), patience).toEqual({ onStandby: true, hubs: 1 })
})

test('a read that the standby breaks off begins again on the primary', async () => {
  await makeHub()
  await caughtUp()
  const places: boolean[] = []
  const found = await snapshots.read(tenantId, async (tx) => {
    const { onStandby } = await look(tx)
    places.push(onStandby)
    if (onStandby) {
      await primary.superuser`delete from container`
      await primary.superuser.unsafe('vacuum container')
      await makeHub()
      await expect.poll(() => look(tx).catch(() => 'ended'), { timeout: 10_000 }).toBe('ended')
    }
    return look(tx)
  })
  expect(found).toEqual({ onStandby: false, hubs: 1 })
  expect(places).toEqual([true, false])
})

test('a read aside is served there alone, and by nobody where the standby lacks what was committed before', async () => {
  const pool = openPool(primary.address('svc_daemon'), { size: 1, applicationName: 'position' })
  const position = () => pool.transaction('', readPosition, { readOnly: true })
  await makeHub()
  const aside = () => snapshots.readAside(tenantId, position, look)
  await expect.poll(aside, patience).toEqual({ onStandby: true, hubs: 1 })
  await standby.superuser`select pg_wal_replay_pause()`
  await makeHub()
  expect(await aside()).toBeUndefined()
  await standby.superuser`select pg_wal_replay_resume()`
  await expect.poll(aside, patience).toEqual({ onStandby: true, hubs: 2 })

  const alone = openSnapshots(primary.address('svc_daemon'), undefined)
  // Nor is the primary asked for its position.
  const unasked = () => Promise.reject(new Error('asked'))
  expect(await alone.readAside(tenantId, unasked, look)).toBeUndefined()
  await Promise.all([alone.close(), pool.close()])
})

test('what the reader throws itself is thrown, and nothing is read twice', async () => {
  let reads = 0
  const reading = snapshots.read(tenantId, async () => {
    reads += 1
    throw new Error('the target is full')
  })
  await expect(reading).rejects.toThrow('the target is full')
  expect(reads).toBe(1)
})

test('a standby that was killed in the middle of a read is passed over, and serves again', async () => {
  await makeHub()
  await caughtUp()
  const places: boolean[] = []
  const found = await snapshots.read(tenantId, async (tx) => {
    const { onStandby } = await look(tx)
    places.push(onStandby)
    if (onStandby) await standby.kill()
    return look(tx)
  })
  expect(found).toEqual({ onStandby: false, hubs: 1 })
  expect(places).toEqual([true, false])
  expect(await snapshots.read(tenantId, look)).toEqual({ onStandby: false, hubs: 1 })
  expect(await doctor()).toMatchObject({ state: 'warn', says: expect.stringMatching(/^not reached: /) })
  await standby.start()
  await expect.poll(() => snapshots.read(tenantId, look), patience).toEqual({ onStandby: true, hubs: 1 })
})

describe('a server that does not follow this primary', () => {
  test('of another cluster', async () => {
    const other = await ownCluster({ fsync: 'off' })
    await other.superuser`create role svc_daemon login noinherit`
    const both = openSnapshots(primary.address('svc_daemon'), other.address('svc_daemon'), 1_000)
    try {
      expect(await both.read(tenantId, look)).toMatchObject({ onStandby: false })
      expect(await checkStandby(primary.address('svc_daemon'), other.address('svc_daemon'))).toMatchObject({
        state: 'warn',
        says: 'is of another database than SVC_DATABASE_URL',
      })
    } finally {
      await both.close()
      await other.remove()
    }
  })

  test('promoted, with changes of its own', async () => {
    await standby.superuser`select pg_promote()`
    await standby.superuser`insert into container (tenant_id, id, kind, name, rank) values (${tenantId}, ${newId()}, 'HUB', 'Lost', 'z')`
    expect(await snapshots.read(tenantId, look)).toEqual({ onStandby: false, hubs: 0 })
    expect(await doctor()).toMatchObject({ state: 'warn', says: 'is no standby any more' })
  })
})
