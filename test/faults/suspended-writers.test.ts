/**
 * Once a suspension is answered nothing of the workspace's people commits. Threats T-24.
 * SVC_FAULTS=full runs the long form.
 *
 * The oracle is exact: a deferred trigger counts what is committed at the moment the
 * suspension itself commits, so a write that comes later cannot hide behind a slow look.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import type { Problem } from '../../src/core/contract/problem.ts'
import { type Callers, callers, joinedWorkspace, type Person } from '../kit/accounts.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

const { createToken, suspendTenant, resumeTenant, getOwnAccount } = operations
const rounds = process.env['SVC_FAULTS'] === 'full' ? 200 : 40
const writers = 20

let own: TestInstallation
let who: Callers
let owner: Person
beforeAll(async () => {
  own = await testInstallation({ poolSize: 16 })
  who = await callers(own)
  owner = await joinedWorkspace(own)
  await own.oracle.unsafe(`
    create table suspended_with (tokens integer not null);
    create function note_tokens() returns trigger language plpgsql security definer as $$
    begin
      insert into public.suspended_with select count(*) from public.credential where tenant_id = new.id and kind = 'PERSONAL';
      return null;
    end $$;
    create constraint trigger note_tokens after update on tenant deferrable initially deferred
      for each row when (new.state = 'SUSPENDED') execute function note_tokens()`)
})
afterAll(async () => {
  await who.close()
  await own.close()
})

/**
 * Writes until the workspace is suspended; answers how often it was told that it had. A machine that stands still for seconds
 * has it wait for too long: then it asks again.
 */
async function write(): Promise<number> {
  const person = who.as(owner.session.access_token)
  for (let told = 0; ; ) {
    try {
      await person.call(createToken, { body: { name: 'written', scopes: ['workspace:read'] } })
      told += 1
    } catch (error) {
      const { code } = error as Problem
      if (code === 'service.unavailable') continue
      expect(error).toMatchObject({ code: 'tenant_suspended' })
      return told
    }
  }
}

test(`${rounds} suspensions against ${writers} writers`, async () => {
  let written = 0
  for (let round = 0; round < rounds; round += 1) {
    await own.oracle`truncate suspended_with`
    const writing = Array.from({ length: writers }, write)
    const some = () =>
      own.oracle`select count(*)::int as n from credential where tenant_id = ${owner.tenantId} and kind = 'PERSONAL'`
    while (((await some())[0]!['n'] as number) < written + (round % writers)) await pause(2)

    await who.api.call(suspendTenant, { tenantId: owner.tenantId })
    const told = (await Promise.all(writing)).reduce((sum, one) => sum + one, 0)

    written += told
    const [after] = await some()
    const [atCommit] = await own.oracle`select tokens from suspended_with`
    expect({ told: written, afterAll: after!['n'] as number }).toEqual({
      told: written,
      afterAll: atCommit!['tokens'] as number,
    })
    expect(after!['n']).toBe(written)
    await who.api.call(resumeTenant, { tenantId: owner.tenantId })
    expect((await who.as(owner.session.access_token).call(getOwnAccount)).id).toBe(owner.accountId)
  }
  expect(written).toBeGreaterThan(rounds)
}, 600_000)
