/**
 * PostgreSQL is killed while people are invited and managed accounts created, by Idempotency-Key, and addresses are confirmed:
 * each account is there once and whole, with the one token or start password that was answered, or with one mail on its way;
 * each address is confirmed with its evidence and its mails, or waits with a link that serves. 6 kills, 60 with
 * SVC_FAULTS=full. People 9: kill -9 at each step of N1, N3 and N20; a daemon is killed at each by killed-inviting.test.ts.
 */
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { performForAnswer } from '../../src/core/app/perform.ts'
import { hasherFor } from '../../src/core/areas/auth/password/hashing-lane.ts'
import { isPassword } from '../../src/core/areas/auth/password/password.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { type AccountActor, recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { hashToken, mintToken } from '../../src/core/kernel/values/token.ts'
import { type OwnCluster, ownCluster } from '../kernel/database/own-cluster.ts'
import { watchProcess } from '../kernel/database/two-workspaces.ts'
import { joinedWorkspace, type Person, plantAccount } from '../kit/accounts.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { migratedDatabase } from '../kit/migrated-database.ts'

const kills = process.env['SVC_FAULTS'] === 'full' ? 60 : 6
/** Answers between two kills. */
const between = process.env['SVC_FAULTS'] === 'full' ? 40 : 12

let cluster: OwnCluster
let own: TestInstallation
let owner: Person
beforeAll(async () => {
  cluster = await ownCluster() // fsync stays on: that is what is acknowledged
  const at = await migratedDatabase(cluster)
  own = await testInstallation({
    ...{ at, poolSize: 4 },
    env: { SVC_INVITE_MAILS_PER_HOUR: '100000' },
  })
  owner = await joinedWorkspace(own)
})
afterAll(async () => {
  await own.close()
  await own.oracle.end({ timeout: 1 })
  await cluster.remove()
})

const actorOf = (accountId: string, sessionId: string): AccountActor => ({
  kind: 'ACCOUNT',
  accountId,
  tenantId: owner.tenantId,
  credentialId: sessionId,
  bearerId: sessionId,
  sessionId,
  scopes: ['workspace:read', 'workspace:write', 'workspace:admin'],
  role: 'OWNER',
  isOperator: false,
})

/** Until it is answered: again after an answer that was lost. */
async function persisted<T>(strange: unknown[], act: () => Promise<T>): Promise<T | undefined> {
  while (strange.length === 0) {
    try {
      return await act()
    } catch (error) {
      const { name, code } = error as { name: string; code?: string }
      // The link had served, and the answer was lost.
      if (code === 'auth.confirmation_invalid') return undefined
      if (name !== 'DatabaseUnavailable' && code !== 'service.unavailable' && code !== 'idempotency.in_progress')
        strange.push(error)
      await pause(10)
    }
  }
  return undefined
}

test(`${kills} times SIGKILL while accounts are created and addresses confirmed`, async () => {
  const watched = watchProcess()
  const strange: unknown[] = []
  const confirmed: string[] = []
  const created = new Map<string, string>()
  /** The token that was answered; null: it is mailed. */
  const invited = new Map<string, string | null>()
  const done = () => created.size + invited.size + confirmed.length
  // Made before: the connection that writes them does not outlive a kill.
  const pool: { accountId: string; token: string }[] = []
  for (let count = 0; count < (kills + 1) * between; count += 1) pool.push(await waiting())
  let going = true

  const create = async () => {
    const body = { sign_in_name: `n${randomUUID()}`, display_name: 'Bench' }
    const sent = { body, idempotencyKey: randomUUID() }
    const actor = actorOf(owner.accountId, owner.session.session_id)
    const made = await persisted(strange, () =>
      performForAnswer(own.installation, operations.createManagedAccount, actor, sent),
    )
    if (made) created.set(made.account.id, made.start_password)
  }
  const invite = async () => {
    const body = { email: `${randomUUID()}@new.example`, deliver: invited.size % 2 === 0 ? 'TOKEN' : 'MAIL' }
    const sent = { body, idempotencyKey: randomUUID() }
    const actor = actorOf(owner.accountId, owner.session.session_id)
    const made = await persisted(strange, () =>
      performForAnswer(own.installation, operations.inviteAccount, actor, sent as never),
    )
    if (made) invited.set(made.account.id, made.redemption_token)
  }
  const confirm = async () => {
    const { accountId, token } = pool.pop() ?? {}
    if (accountId === undefined || token === undefined) return pause(10)
    await persisted(strange, () =>
      performForAnswer(own.installation, operations.confirmAddress, actorOf(accountId, randomUUIDv7()), {
        body: { token },
      }),
    )
    confirmed.push(accountId)
  }
  const work = async (one: () => Promise<unknown>) => {
    while (going && strange.length === 0) await one()
  }

  const working = [create, create, invite, invite, confirm, confirm].map(work)
  for (let kill = 0; kill <= kills; kill += 1) {
    const wanted = done() + between
    while (done() < wanted && strange.length === 0) await pause(2)
    if (kill < kills) await cluster.killAndRestart()
  }
  going = false
  await Promise.all(working)
  watched.stop()

  expect(strange).toEqual([])
  expect(watched.uncaught).toEqual([])
  await expectCreated(created)
  await expectInvited(invited)
  await expectConfirmed(confirmed)
}, 1_200_000)

/** An account that waits for the confirmation of a second address, whose link is known. */
async function waiting(): Promise<{ accountId: string; token: string }> {
  const { accountId } = await plantAccount(own, owner.tenantId)
  const [address, email] = [randomUUIDv7(), `${randomUUIDv7()}@new.example`]
  const { token, hash } = mintToken('addressConfirmation')
  await own.oracle.begin(async (tx) => {
    await tx`
      insert into account_address (tenant_id, id, account_id, email, email_fold, ends_at)
      values (${owner.tenantId}, ${address}, ${accountId}, ${email}, ${email}, now() + interval '1 day')`
    await tx`
      insert into address_confirmation (tenant_id, id, account_id, address_id, email_fold, makes_primary, is_asked, hash, expires_at)
      values (${owner.tenantId}, ${randomUUIDv7()}, ${accountId}, ${address}, ${email}, false, true, ${hash}, now() + interval '1 day')`
  })
  return { accountId, token }
}

async function expectCreated(created: ReadonlyMap<string, string>): Promise<void> {
  const rows = await own.oracle<{ id: string; password_hash: string; parts: string }[]>`
    select a.id, a.password_hash, concat_ws(' ',
      (select count(*) from membership m where m.account_id = a.id),
      (select count(*) from audit_entry e where e.subject_id = a.id and e.action = 'account.created'),
      (select count(*) from outbox_event o where o.body like '%identity.account.created%' and o.body like '%' || a.id || '%')) as parts
    from account a where a.tenant_id = ${owner.tenantId} and a.sign_in_name is not null`
  expect(rows.map(({ id }) => id).sort()).toEqual([...created.keys()].sort())
  expect([...new Set(rows.map(({ parts }) => parts))]).toEqual(['1 1 1'])
  const hasher = hasherFor(recoveryActor(), '')
  for (const { id, password_hash } of rows.slice(-20))
    expect(await isPassword(hasher, created.get(id) ?? '', password_hash)).toBe(true)
}

async function expectInvited(invited: ReadonlyMap<string, string | null>): Promise<void> {
  const rows = await own.oracle<{ id: string; is_mailed: boolean; hash: Buffer | null; parts: string }[]>`
    select a.id, i.is_mailed, i.hash, concat_ws(' ',
      (select count(*) from membership m where m.account_id = a.id),
      (select count(*) from audit_entry e where e.subject_id = a.id and e.action = 'account.invited'),
      (select count(*) from outbox_event o where o.body like '%identity.account.invited%' and o.body like '%' || a.id || '%'),
      (select count(*) from pgboss.job j where j.name = 'send_invitation' and j.data ->> 'accountId' = a.id::text)) as parts
    from account a left join invitation i on i.account_id = a.id and i.used_at is null
    where a.tenant_id = ${owner.tenantId} and a.email like '%@new.example' and a.state = 'INVITED'`
  expect(rows.map(({ id }) => id).sort(), 'one invitation of each').toEqual([...invited.keys()].sort())
  for (const { id, is_mailed, hash, parts } of rows) {
    const token = invited.get(id) ?? null
    expect([is_mailed, parts, hash]).toEqual([
      token === null,
      `1 1 1 ${token === null ? 1 : 0}`,
      token && hashToken(token),
    ])
  }
}

async function expectConfirmed(confirmed: readonly string[]): Promise<void> {
  const rows = await own.oracle<{ parts: string }[]>`
    select concat_ws(' ',
      (select count(*) from account_address d where d.account_id = a.id and d.held_fold is not null and d.ends_at is null),
      (select count(*) from address_confirmation c where c.account_id = a.id and c.used_at is not null),
      (select count(*) from audit_entry e where e.subject_id = a.id and e.action = 'account.address_confirmed'),
      (select count(*) from pgboss.job j where j.name = 'send_mail' and j.data ->> 'accountId' = a.id::text)) as parts
    from account a where a.id in ${own.oracle(confirmed)}`
  expect(rows).toHaveLength(confirmed.length)
  expect([...new Set(rows.map(({ parts }) => parts))]).toEqual(['2 1 1 2'])
}
