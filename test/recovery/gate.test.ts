/** The gate: while it is closed, workspaces are refused, operators are served, and workers hold their jobs. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startSession } from '../../src/core/areas/auth/sign-in/session.ts'
import { closeGate, lookAtGate } from '../../src/core/areas/recovery/gate.ts'
import { sessionOperations } from '../../src/core/contract/auth/operations.ts'
import { tenantOperations } from '../../src/core/contract/tenants/operations.ts'
import { defineJob } from '../../src/core/kernel/transaction/runnable-job.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { silentLog } from '../../src/daemon/log.ts'
import { startWorker } from '../../src/daemon/worker.ts'
import { furnished } from '../kit/leaving-workspace.ts'
import { person, storedPassword } from '../kit/people.ts'
import { type TwoWays, twoWays } from '../kit/two-ways.ts'

let ways: TwoWays
beforeAll(async () => {
  ways = await twoWays()
})
afterAll(() => ways.close())

const close = (recoveryPoint?: string) =>
  ways.installation.transaction(recoveryActor(), {}, (ctx) =>
    closeGate(ctx, 'BEGUN', recoveryPoint === undefined ? {} : { recoveryPoint }),
  )
const open = () => ways.sql`update installation set gated_at = null, gate_reason = null, recovery_point = null`

describe('while the gate is closed', () => {
  beforeAll(async () => {
    await close('2026-01-01T00:00:00.000Z')
  })
  afterAll(() => open())

  test("a workspace's call is refused with when to come back, whatever it asks", async () => {
    const { id } = await furnished(ways)
    const member = await person(ways.daemon, id)
    for (const path of ['/api/v1/containers', '/api/v1/auth/sessions', '/api/v1/backup-targets']) {
      const { status, json, headers } = await ways.daemon.call('GET', path, { token: member.token })
      expect([path, status, json.code]).toEqual([path, 503, 'installation.recovering'])
      expect(headers['retry-after']).toBe('30')
    }
  })

  test('whoever has no token is still told so, and a token of nobody is no way to ask', async () => {
    const none = await ways.daemon.call('GET', '/api/v1/containers')
    expect([none.status, none.json.code]).toEqual([401, 'auth.unauthenticated'])
  })

  test('an operator is served: the installation, his sessions, and the process is up but not ready', async () => {
    const { token } = ways.operator
    expect((await ways.daemon.call('GET', '/api/v1/admin/tenants', { token })).status).toBe(200)
    expect((await ways.daemon.call('GET', '/api/v1/auth/sessions', { token })).status).toBe(200)
    expect((await ways.daemon.call('GET', '/api/v1/backup-targets', { token })).status).toBe(200)
    expect((await ways.daemon.call('GET', '/api/v1/containers', { token })).json.code).toBe('installation.recovering')
    expect((await ways.daemon.call('GET', '/healthz')).status).toBe(200)
    const ready = await ways.daemon.call('GET', '/readyz')
    expect(ready.status).toBe(503)
    expect(ready.json.checks).toContainEqual(
      expect.objectContaining({ name: 'gate', ok: false, error: expect.stringContaining('BEGUN') }),
    )
  })

  test('signing in and staying in is for operators only', async () => {
    const slug = `g${Date.now().toString(36)}`
    const { ownerId, id } = await furnished(ways, slug)
    const secret = 'correct horse battery staple'
    await ways.sql`update account set state = 'ACTIVE', password_hash = ${await storedPassword(secret)} where id = ${ownerId}`
    await ways.sql`delete from second_factor where tenant_id = ${id}`
    const body = { workspace: slug, email: `owner@${slug}.example`, password: secret }
    const session = await ways.installation.transaction({ kind: 'SYSTEM', job: 'test' }, { tenantId: id }, (ctx) =>
      startSession(ctx, id, ownerId, { way: 'PASSWORD' }),
    )
    const signIn = () => ways.daemon.call('POST', '/api/v1/auth/sessions', { body })
    const refresh = () =>
      ways.daemon.call('POST', '/api/v1/auth/sessions:refresh', { body: { refresh_token: session.refresh_token } })
    expect(sessionOperations.signIn.path).toBe('/auth/sessions')
    expect((await signIn()).json.code).toBe('installation.recovering')
    expect((await refresh()).json.code).toBe('installation.recovering')
    await ways.sql`insert into operator (account_id, workspace_id) values (${ownerId}, ${id})`
    expect((await signIn()).status).toBe(201)
    expect((await refresh()).status).toBe(200)
  })

  test.each(['api', 'recovery'] as const)('an operator provisions and suspends, by %s', async (way) => {
    const { tenant } = await ways.call(way, tenantOperations.provisionTenant, {
      body: { slug: `gated-${way}`, display_name: 'Gated', owner_email: 'owner@gated.example' },
    })
    await ways.call(way, tenantOperations.suspendTenant, { tenantId: tenant.id })
  })

  test('closing it again changes nothing but a recovery point that differs, and the journal says so once each', async () => {
    const before = await lookAtGate(ways.installation)
    expect(await close('2026-01-01T00:00:00Z')).toEqual(before)
    expect(await close('2026-01-02T00:00:00Z')).toEqual({ ...before, recovery_point: '2026-01-02T00:00:00.000Z' })
    const entries =
      await ways.sql`select params ->> 'recovery_point' as point from journal where action = 'recovery.begun' order by id`
    expect(entries.map(({ point }) => point)).toEqual(['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00Z'])
  })
})

test('a workspace’s transaction reads whether the gate is closed and the epoch, and nothing else of the installation', async () => {
  const asTenant = (columns: string) =>
    ways.installation.transaction(
      { kind: 'SYSTEM', job: 'test' },
      { tenantId: ways.home.tenantId, readOnly: true },
      ({ tx }) => tx.text(`select ${columns} from installation`),
    )
  await expect(asTenant('gated_at, epoch')).resolves.toHaveLength(1)
  for (const column of ['id', 'set_up_token_hash', 'set_up_at', 'recovery_point', '*'])
    await expect(asTenant(column), column).rejects.toMatchObject({ code: '42501' })
})

describe('a worker', () => {
  test('holds its jobs while the gate is closed, and does them once it is open', async () => {
    const done: string[] = []
    const probe = defineJob({
      name: 'end_password_opening',
      payload: z.object({ tenantId: z.guid() }),
      retryLimit: 0,
      async run(_, { tenantId }) {
        done.push(tenantId)
      },
    })
    const tenantId = ways.home.tenantId
    await close()
    const worker = await startWorker(ways.installation, [probe], silentLog)
    const queue = () =>
      ways.installation.transaction({ kind: 'SYSTEM', job: 'test' }, {}, (ctx) => ctx.enqueue(probe, { tenantId }))
    await queue()
    const held = async () =>
      (
        await ways.sql`select 1 from pgboss.job where name = ${probe.name} and state = 'created' and start_after > now() + interval '5 seconds'`
      ).length
    await expect.poll(held, { timeout: 10_000 }).toBe(1)
    expect(done).toEqual([])
    await open()
    await queue()
    await expect.poll(() => done, { timeout: 10_000 }).toEqual([tenantId])
    await ways.sql`update pgboss.job set start_after = now() where name = ${probe.name} and state = 'created'`
    await expect.poll(() => done, { timeout: 10_000 }).toEqual([tenantId, tenantId])
    await worker.close()
  })
})

describe('an epoch', () => {
  test('that ends takes every cursor with it, from the next call of each daemon on', async () => {
    const { token } = ways.operator
    await furnished(ways)
    await furnished(ways)
    const list = (cursor?: string) =>
      ways.daemon.call('GET', `/api/v1/admin/journal?size=1${cursor ? `&cursor=${cursor}` : ''}`, { token })
    const { next_cursor: cursor } = (await list()).json
    expect((await list(cursor)).status).toBe(200)
    await ways.sql`update installation set epoch = gen_random_uuid(), epoch_number = epoch_number + 1`
    const gone = await list(cursor)
    expect([gone.status, gone.json.code]).toEqual([410, 'gone'])
    expect((await list()).status).toBe(200)
  })
})
