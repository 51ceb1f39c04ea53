/** A recovery from end to end over an installation that was taken back: detection, checks, reconciliation, admission. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Booted, bootInstallation } from '../../src/core/app/boot.ts'
import { admitTraffic } from '../../src/core/areas/recovery/admit.ts'
import { repeatSteps } from '../../src/core/areas/recovery/apply.ts'
import { checkRecovery } from '../../src/core/areas/recovery/check.ts'
import { closeGate, lookAtGate } from '../../src/core/areas/recovery/gate.ts'
import { planReconciliation, readLedgers } from '../../src/core/areas/recovery/reconcile.ts'
import { detectRewind, recordHeartbeats } from '../../src/core/areas/recovery/rewind-detection.ts'
import { retentionOperations } from '../../src/core/contract/retention/operations.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { furnished } from '../kit/leaving-workspace.ts'
import { keep, takeBack } from '../kit/rewinding.ts'
import { type TwoWays, twoWays } from '../kit/two-ways.ts'

let ways: TwoWays
let own: Booted
let tenantId: string
const actor = recoveryActor()

beforeAll(async () => {
  ways = await twoWays()
  // As on a host of its own: the daemon of this test keeps its witness elsewhere.
  const { config } = ways.daemon
  own = await bootInstallation(
    { ...config, dataDir: join(config.dataDir, 'host') },
    { works: false, applicationName: 'svc test', clock: ways.clock },
  )
  tenantId = (await furnished(ways)).id
  // As after a minute: the jobs of provisioning have run.
  await ways.sql`delete from pgboss.job`
  await ways.sql`delete from sealed_value` // it holds bytes that nobody sealed
  await keep(ways.sql, 'base')
})
afterAll(async () => {
  await own.close()
  await ways.close()
})

const place = () =>
  ways.call('api', retentionOperations.placeHold, {
    body: { tenant_id: tenantId, scope: { kind: 'TENANT', id: null }, reason: 'case 12' },
  })
const gate = () => lookAtGate(own.installation)
const witnesses = () => join(own.installation.config.dataDir, 'witness')
const begin = (recoveryPoint = new Date().toISOString()) =>
  own.installation.transaction(actor, {}, (ctx) => closeGate(ctx, 'BEGUN', { recoveryPoint }))
const checks = async () =>
  Object.fromEntries((await checkRecovery(own.installation)).map(({ code, state }) => [code, state]))

async function reconcile() {
  const { desired } = await readLedgers(own.installation)
  const steps = await planReconciliation(own.installation, desired)
  return repeatSteps({ installation: own.installation, actor, desired, recoveryPoint: new Date().toISOString() }, steps)
}

/** What a daemon does from its start to its end, with a write in between. */
async function serveOnce(): Promise<void> {
  expect(await detectRewind(own.installation)).toBeUndefined()
  const watch = await recordHeartbeats(own.installation, (error) => expect.unreachable(String(error)))
  await own.installation.transaction(actor, {}, ({ tx }) => tx`update installation set set_up_at = set_up_at`)
  await watch.close()
}

/** How many statements about witnesses wait for a row. */
async function waiting(): Promise<number> {
  const rows = await ways.sql`
    select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%daemon_witness%'`
  return rows.length
}

beforeEach(async () => {
  await takeBack(ways.sql, 'base')
  rmSync(own.installation.ledger.file, { force: true })
  rmSync(witnesses(), { recursive: true, force: true })
})

describe('a daemon that starts', () => {
  test('on the database it left, or on one that failed over without loss, closes nothing', async () => {
    await serveOnce()
    await place()
    await serveOnce()
    await serveOnce()
    expect((await gate()).gated_at).toBeNull()
    expect(readdirSync(witnesses())).toHaveLength(1)
  })

  test('on one that lies behind what it acknowledged closes the gate, once, and says why', async () => {
    await serveOnce()
    await takeBack(ways.sql, 'base')
    expect(await detectRewind(own.installation)).toMatchObject({ found_by: 'witness', params: { found: 0 } })
    expect(await gate()).toMatchObject({ gate_reason: 'REWOUND', recovery_point: null })
    expect(await detectRewind(own.installation)).toBeUndefined()
    const entries =
      await ways.sql`select params ->> 'found_by' as found_by from journal where action = 'recovery.rewind_found'`
    expect(entries).toEqual([{ found_by: 'witness' }])
  })

  test('after one that was killed between its row and its file closes nothing: the database is ahead', async () => {
    await serveOnce()
    await ways.sql`update daemon_witness set beat = beat + 1`
    expect(await detectRewind(own.installation)).toBeUndefined()
    expect((await gate()).gated_at).toBeNull()
  })

  test('beside one that beats in the very moment its witness is removed finds no rewind, nor does the next', async () => {
    const watch = await recordHeartbeats(own.installation, (error) => expect.unreachable(String(error)))
    const id = readdirSync(witnesses())[0]?.replace('.json', '') ?? ''
    const holder = await ways.sql.reserve()
    await holder`begin`
    await holder`select 1 from daemon_witness where id = ${id} for update`
    // The beat waits for the row first, the removal behind it.
    await own.installation.transaction(actor, {}, ({ tx }) => tx`update installation set set_up_at = set_up_at`)
    await expect.poll(waiting, { timeout: 2_000 }).toBe(1)
    const { installation: starting, close } = await bootInstallation(own.installation.config, {
      works: false,
      applicationName: 'svc test',
      clock: ways.clock,
    })
    const detecting = detectRewind(starting)
    await expect.poll(waiting, { timeout: 1_500 }).toBe(2)
    await holder`commit`
    holder.release()

    expect(await detecting).toBeUndefined()
    await expect.poll(() => readdirSync(witnesses())).toEqual([`${id}.json`])
    expect(await detectRewind(starting)).toBeUndefined()
    expect((await gate()).gated_at).toBeNull()
    await watch.close()
    await close()
  })

  test('finds an acknowledged obligation missing, however short ago it was', async () => {
    await place()
    expect(await detectRewind(own.installation)).toBeUndefined()
    await takeBack(ways.sql, 'base')
    expect(await detectRewind(own.installation)).toEqual({ found_by: 'ledger', params: { obligations: 1 } })
  })

  test('after a recovery that was ended takes what is left as accepted, and a rewind behind that for one', async () => {
    await serveOnce()
    await place()
    await takeBack(ways.sql, 'base')
    await begin()
    expect(await admitTraffic(own.installation, actor, { accept: ['holds', 'jobs'] })).toMatchObject({
      admitted: true,
    })
    await serveOnce()
    expect((await gate()).gated_at).toBeNull()

    rmSync(own.installation.ledger.file)
    await takeBack(ways.sql, 'base')
    expect(await detectRewind(own.installation)).toEqual({ found_by: 'epoch', params: { acknowledged: 2, found: 1 } })
  })

  test("settles what a killed one left, by the database's word", async () => {
    const hold = await place()
    const { ledger } = own.installation
    const lines = readFileSync(ledger.file, 'utf8').split('\n')
    writeFileSync(ledger.file, `${lines.slice(0, 2).join('\n')}\n`) // as if it had died before it wrote the outcome
    await ledger.append([{ act: 'token.revoked', tenant_id: tenantId, id: hold.id }])
    expect(await readLedgers(own.installation)).toMatchObject({ lines: 2, unsettled: 2 })
    ways.clock.jump(120)
    expect(await detectRewind(own.installation)).toBeUndefined()
    ways.clock.jump(-120)
    expect(await readLedgers(own.installation)).toMatchObject({ lines: 1, unsettled: 0, faults: [] })
  })
})

describe('the checks', () => {
  test('of an installation that nothing happened to ask only for the gate and a ledger', async () => {
    expect(await checks()).toMatchObject({ gate: 'finding', ledger: 'finding', holds: 'ok', tokens: 'ok', jobs: 'ok' })
    await place()
    await begin()
    expect(new Set(Object.values(await checks()))).toEqual(new Set(['ok']))
  })

  test('find a ledger that was changed, shortened in the middle, or belongs to another installation', async () => {
    await place()
    await place()
    const { file } = own.installation.ledger
    const whole = readFileSync(file, 'utf8')
    const lines = whole.split('\n')
    const found = async (text: string) => {
      writeFileSync(file, text)
      return (await checks())['ledger']
    }
    expect(await found(whole)).toBe('ok')
    expect(await found(whole.replace('TENANT', 'ITEM'))).toBe('finding')
    expect(await found([lines[0], ...lines.slice(2)].join('\n'))).toBe('finding')
    expect(await found([lines[0], lines[2], lines[1], ...lines.slice(3)].join('\n'))).toBe('finding')
    expect(await found('')).toBe('finding')
    // What a power cut tore at the end was never relied on.
    expect(await found(`${whole}{"v":1,"seq":9,"at":"20`)).toBe('ok')
    await place()
    expect(await readLedgers(own.installation)).toMatchObject({ lines: 3, faults: [] })
  })

  test('find jobs and purges that would fire at once, a value no key opens, and events that lie ahead', async () => {
    await place()
    await begin()
    await ways.sql`insert into pgboss.job (name, data) values ('purge_tenant', '{}')`
    expect((await checks())['jobs']).toBe('finding')
    // A queue with a schedule has a job that is due at any moment.
    await ways.sql`insert into pgboss.schedule (name, cron) values ('purge_tenant', '* * * * *')`
    expect((await checks())['jobs']).toBe('ok')
    await ways.sql`delete from pgboss.schedule where name = 'purge_tenant'`
    await ways.sql`delete from pgboss.job where name = 'purge_tenant'`
    await ways.sql`
      update tenant set state = 'PENDING_DELETION', purge_after = now() - interval '1 day' where id = ${tenantId}`
    expect((await checks())['jobs']).toBe('finding')

    await ways.sql`
      insert into sealed_value (tenant_id, kind, owner_id, key_id, wrap, ciphertext)
      values (${tenantId}, 'backup.credentials', gen_random_uuid(), ${own.installation.keyring.current}, '\\x01', '\\x01')`
    expect((await checks())['keyring']).toBe('finding')
    await ways.sql`update outbox_counter set last = last - 1 where tenant_id = ${tenantId}`
    expect((await checks())['outbox']).toBe('finding')
  })
})

describe('admission', () => {
  test('waits for every finding to be mended or named, and then ends every session, proof and cursor', async () => {
    const { token } = ways.operator
    const list = (cursor?: string) =>
      ways.daemon.call('GET', `/api/v1/admin/journal?size=1${cursor ? `&cursor=${cursor}` : ''}`, { token })
    const { next_cursor: cursor } = (await list()).json
    const hold = await place()
    await takeBack(ways.sql, 'base')
    await begin()

    expect(await admitTraffic(own.installation, actor)).toMatchObject({ admitted: false, refused_by: ['holds'] })
    expect((await gate()).gated_at).not.toBeNull()
    expect((await reconcile()).done).toMatchObject([{ what: 'hold.place', id: hold.id }])
    expect(await reconcile()).toEqual({ done: [], hindered: [] })
    expect(await ways.call('recovery', retentionOperations.getHold, { holdId: hold.id })).toMatchObject({
      reason: 'case 12',
      placed_at: hold.placed_at,
      placed_by: hold.placed_by,
      released_at: null,
    })

    const before = await gate()
    const admission = await admitTraffic(own.installation, actor)
    expect(admission).toMatchObject({ admitted: true, refused_by: [] })
    expect(admission.sessions_ended).toBeGreaterThan(0)
    expect(await gate()).toMatchObject({ gated_at: null, epoch_number: before.epoch_number + 1 })
    expect((await list(cursor)).status).toBe(410)
    expect((await ways.daemon.call('GET', '/api/v1/containers', { token: ways.home.session })).status).toBe(401)
    const [alive] = await ways.sql`
      select (select count(*)::int from session where revoked_at is null) as sessions, (select count(*)::int from step_up where used_at is null) as proofs,
             (select count(*)::int from credential where kind in ('SESSION', 'REFRESH') and revoked_at is null) as credentials`
    expect(alive).toEqual({ sessions: 0, proofs: 0, credentials: 0 })
    const [entry] = await ways.sql`select actor_kind, params from journal where action = 'recovery.admitted'`
    expect(entry).toMatchObject({
      actor_kind: 'RECOVERY',
      params: { epoch_before: before.epoch, accepted: [], os_user: actor.osUser, host: actor.host },
    })
  })
})

test('the ledger tells nobody anything but ids and moments', async () => {
  await place()
  const text = readFileSync(own.installation.ledger.file, 'utf8')
  expect(text).not.toContain('case 12')
  expect(text).not.toContain('Workspace')
  expect(text).not.toContain('@')
})
