/** What is under way when the gate moves: it commits before that is answered, or not at all. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { performForAnswer } from '../../src/core/app/perform.ts'
import { proveSignIn, signIn } from '../../src/core/areas/auth/sign-in/sign-in.ts'
import { admitTraffic } from '../../src/core/areas/recovery/admit.ts'
import { closeGate, lookAtGate } from '../../src/core/areas/recovery/gate.ts'
import type { Session } from '../../src/core/contract/auth/operations.ts'
import { operations } from '../../src/core/contract/operations.ts'
import type { Ctx } from '../../src/core/kernel/transaction/context.ts'
import { defineJob } from '../../src/core/kernel/transaction/runnable-job.ts'
import { type AccountActor, anyone, recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { silentLog } from '../../src/daemon/log.ts'
import { startWorker } from '../../src/daemon/worker.ts'
import { joinedWorkspace, type Person } from '../kit/accounts.ts'
import { password, type TestInstallation, testInstallation } from '../kit/installation.ts'
import { storedPassword } from '../kit/people.ts'

let own: TestInstallation
let member: Person
let actor: AccountActor

beforeAll(async () => {
  own = await testInstallation()
  member = await joinedWorkspace(own)
  actor = await actorOf(member)
  await own.oracle`update account set password_hash = ${await storedPassword(password)} where id = ${member.accountId}`
})
afterAll(() => own.close())
afterEach(async () => {
  await own.oracle`update installation set gated_at = null, gate_reason = null, recovery_point = null`
  await own.oracle`delete from operator`
})

const point = () => new Date(Date.now() - 1000).toISOString()
const close = () =>
  own.installation.transaction(recoveryActor(), {}, (ctx) => closeGate(ctx, 'BEGUN', { recoveryPoint: point() }))
const admit = () =>
  admitTraffic(own.installation, recoveryActor(), { accept: ['ledger', 'operators', 'jobs', 'keyring'] })

async function actorOf({ tenantId, accountId, session }: Person): Promise<AccountActor> {
  const { epoch } = await lookAtGate(own.installation)
  return {
    ...{ kind: 'ACCOUNT', tenantId, accountId, credentialId: session.session_id, bearerId: session.session_id },
    ...{ sessionId: session.session_id, role: 'OWNER', isOperator: false, epoch },
    scopes: ['workspace:read', 'workspace:write', 'workspace:admin'],
  }
}

/** Resolves once somebody waits for the gate. */
const someoneWaits = () =>
  expect
    .poll(
      async () =>
        (await own.oracle`select 1 from pg_locks where locktype = 'advisory' and classid = 7304 and not granted`)
          .length,
      { timeout: 10_000 },
    )
    .toBe(1)

const mint = (name: string) =>
  performForAnswer(own.installation, operations.createToken, actor, { body: { name, scopes: ['workspace:read'] } })
const tokens = async (name: string) => (await own.oracle`select 1 from credential where name = ${name}`).length

/** A change that is held open between its work and its commit. */
function heldOpen<T>(work: (ctx: Ctx) => Promise<T>, begin: (work: (ctx: Ctx) => Promise<T>) => Promise<T>) {
  const reached = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const ended = begin(async (ctx) => {
    const result = await work(ctx)
    reached.resolve()
    await released.promise
    return result
  })
  ended.catch(() => reached.resolve())
  return { reached: reached.promise, release: () => released.resolve(), ended }
}

describe('a closing gate', () => {
  test('is answered only once a change that was let in before has committed', async () => {
    const change = heldOpen(
      (ctx) => ctx.audit('under_way'),
      (work) => own.installation.transaction(actor, { tenantId: member.tenantId, admits: true }, work),
    )
    await change.reached
    const closing = close()
    await someoneWaits()
    expect((await own.oracle`select gated_at from installation`)[0]?.['gated_at']).toBeNull()
    change.release()
    await change.ended
    await closing
    expect(await own.oracle`select 1 from audit_entry where action = 'under_way'`).toHaveLength(1)
  })

  test('refuses a change that was let in before and begins behind it, whatever it is', async () => {
    await close()
    await expect(mint('behind')).rejects.toMatchObject({ code: 'installation.recovering' })
    await expect(
      performForAnswer(own.installation, operations.stepUp, actor, { body: { password } }),
    ).rejects.toMatchObject({ code: 'installation.recovering' })
    expect(await tokens('behind')).toBe(0)
    await expect(
      performForAnswer(own.installation, operations.listTokens, actor, {}),
      'what only reads was let in and is answered',
    ).resolves.toMatchObject({ data: expect.any(Array) })
  })

  test('never deadlocks with changes that keep coming, and none commits behind its answer', async () => {
    let isClosed = false
    const late: string[] = []
    const changing = Array.from({ length: 6 }, async (_, lane) => {
      for (let count = 0; count < 15; count += 1) {
        const name = `lane-${lane}-${count}`
        const wasClosed = isClosed
        const outcome = await mint(name).then(
          () => 'done',
          (error: { code?: string }) => error.code,
        )
        if (wasClosed && outcome === 'done') late.push(name)
        expect(['done', 'installation.recovering']).toContain(outcome)
      }
    })
    await close()
    isClosed = true
    const atClosing = (await own.oracle`select count(*)::int as n from credential where name like 'lane-%'`)[0]?.['n']
    await Promise.all(changing)
    expect(late).toEqual([])
    expect((await own.oracle`select count(*)::int as n from credential where name like 'lane-%'`)[0]?.['n']).toBe(
      atClosing,
    )
  })

  test('puts off a job that is under way: nothing more of it commits, and it runs once the gate is open', async () => {
    const reached = Promise.withResolvers<void>()
    const goOn = Promise.withResolvers<void>()
    let runs = 0
    const job = defineJob({
      name: 'end_password_opening',
      payload: z.object({ tenantId: z.guid() }),
      retryLimit: 0,
      async run(installation, { tenantId }) {
        runs += 1
        reached.resolve()
        if (runs === 1) await goOn.promise
        await installation.transaction(
          { kind: 'SYSTEM', job: 'test' },
          {},
          ({ tx }) => tx`update tenant set display_name = 'By the job' where id = ${tenantId}`,
        )
      },
    })
    const name = async () =>
      (await own.oracle`select display_name from tenant where id = ${member.tenantId}`)[0]?.['display_name']
    const worker = await startWorker(own.installation, [job], silentLog)
    try {
      await own.installation.transaction({ kind: 'SYSTEM', job: 'test' }, {}, (ctx) =>
        ctx.enqueue(job, { tenantId: member.tenantId }),
      )
      await reached.promise
      await close()
      goOn.resolve()
      const putOff = () =>
        own.oracle`select 1 from pgboss.job where name = ${job.name} and state = 'created' and start_after > now() + interval '5 seconds'`
      await expect.poll(async () => (await putOff()).length, { timeout: 10_000 }).toBe(1)
      expect(await name()).not.toBe('By the job')

      await own.oracle`update installation set gated_at = null, gate_reason = null, recovery_point = null`
      await own.oracle`update pgboss.job set start_after = now() where name = ${job.name} and state = 'created'`
      await expect.poll(name, { timeout: 10_000 }).toBe('By the job')
    } finally {
      await worker.close()
    }
  })
})

describe('an admission', () => {
  test('ends the session of somebody who signs in at that instant', async () => {
    await own.oracle`insert into operator (account_id, workspace_id) values (${member.accountId}, ${member.tenantId})`
    await close()
    const body = { workspace: member.slug, email: member.email, password }
    const proved = await proveSignIn(own.installation, anyone, { body })
    const signing = heldOpen(
      (ctx) => signIn(ctx, { body }, proved),
      (work) => own.installation.transaction(anyone, {}, work),
    )
    await signing.reached
    const admitting = admit()
    await someoneWaits()
    signing.release()
    const session = (await signing.ended) as Session
    expect(await admitting).toMatchObject({ admitted: true })
    const alive = await own.oracle`select 1 from session where id = ${session.session_id} and revoked_at is null`
    expect(alive).toHaveLength(0)
    const tokensLeft = await own.oracle`
      select 1 from credential where session_id = ${session.session_id} and revoked_at is null`
    expect(tokensLeft).toHaveLength(0)
  })

  test('refuses a change of an operator who was let in before it', async () => {
    const operator: AccountActor = {
      ...(await actorOf(member)),
      isOperator: true,
      scopes: ['admin:tenants'],
    }
    await own.oracle`insert into operator (account_id, workspace_id) values (${member.accountId}, ${member.tenantId})`
    await close()
    const change = (by: AccountActor) =>
      own.installation.transaction(by, {}, async ({ tx }) => {
        await tx`update tenant set display_name = 'By an operator' where id = ${member.tenantId}`
      })
    await expect(change(operator), 'while the gate is closed').resolves.toBeUndefined()
    expect(await admit()).toMatchObject({ admitted: true })
    await expect(change(operator)).rejects.toMatchObject({ code: 'installation.recovering' })
    const { epoch } = await lookAtGate(own.installation)
    await expect(change({ ...operator, epoch })).resolves.toBeUndefined()
  })
})
