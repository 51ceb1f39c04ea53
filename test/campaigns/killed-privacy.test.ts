/**
 * Erasures and packages whose worker is killed with SIGKILL at each step: in the end the person is nowhere, the ledger had it before
 * the first row went, nothing is told twice, and the neighbour is as before. Keeping 9.
 *
 *     SVC_FAULTS=full vitest run --config vitest.campaigns.config.ts test/campaigns/killed-privacy.test.ts    20 times each
 */
import { spawn } from 'node:child_process'
import { randomUUIDv7 } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readLedger } from '../../src/core/kernel/ledger/ledger.ts'
import type { Person } from '../kit/people.ts'
import { bareEnvironment } from '../kit/processes.ts'
import { databaseEnv } from '../kit/svc.ts'
import { grantErasure, type PrivacyHouse, privacyHouse } from '../privacy/privacy-kit.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const rounds = isFull ? 20 : 1

let house: PrivacyHouse
let collectionId: string
let neighbour: Person
beforeAll(async () => {
  house = await privacyHouse()
  collectionId = house.collectionId
  neighbour = await house.member()
  await house.call(neighbour, 'POST', '/items', { container_id: collectionId, title: 'of the neighbour' })
})
afterAll(() => house.close())

const runner = join(import.meta.dirname, '../kit/privacy-runner.ts')

async function killedAt(failpoint: string): Promise<NodeJS.Signals | null> {
  const env = {
    ...bareEnvironment(),
    ...databaseEnv(house.two.daemon.config),
    ...{ SVC_PURGE_SETTLE_SECONDS: '1', SVC_TEST: '1', SVC_FAILPOINTS: failpoint },
  }
  const child = spawn(process.execPath, [runner], { env, stdio: ['ignore', 'ignore', 'inherit'] })
  return new Promise((resolve) => child.once('close', (_, signal) => resolve(signal)))
}

const fingerprint = async () => {
  const [row] = await house.sql`
    select (select md5(a::text) from account a where id = ${neighbour.accountId}) as account,
           (select md5(string_agg(i::text, '' order by id)) from item i where created_by = ${neighbour.accountId}) as items,
           (select count(*)::int from credential where account_id = ${neighbour.accountId} and revoked_at is null) as tokens`
  return row
}

async function placesWith(word: string): Promise<string[]> {
  const tables = await house.sql<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`
  const found: string[] = []
  for (const { name } of tables)
    if ((await house.sql.unsafe(`select 1 from "${name}" t where t::text ilike $1 limit 1`, [`%${word}%`])).length > 0)
      found.push(name)
  return found
}

const steps = ['erasure.due', 'erasure.begun', 'erasure.batch', 'erasure.batch', 'erasure.settled', 'erasure.listed']
/** Which hit of a batch: the first, and one in the middle of the work. */
const hits = ['', '', '@1', '@17', '', '']

test('killed at each step, an erasure goes on to its end', async () => {
  const before = await fingerprint()
  for (let round = 0; round < rounds; round += 1)
    for (const [at, step] of steps.entries()) {
      const word = `Potoroo${round}x${at}`
      const who = await house.member()
      await house.sql`update account set display_name = ${word}, worded = null where id = ${who.accountId}`
      await house.sql`
        insert into account_address (tenant_id, id, account_id, email, email_fold, is_primary, confirmed_at)
        values (${house.tenantId}, ${randomUUIDv7()}, ${who.accountId}, ${word}, ${word.toLowerCase()}, true, now())`
      const made = await house.call(who, 'POST', '/items', { container_id: collectionId, title: `${word} wrote` })
      await house.call(who, 'POST', `/items/${made.json.id}/comments`, { body: `${word} said` })
      const id = await grantErasure(house, who, { texts: 'REDACT' })
      expect([step, await killedAt(`${step}=exit${hits[at]}`)]).toEqual([step, 'SIGKILL'])
      const [row] = await house.sql<{ state: string }[]>`select state from account where id = ${who.accountId}`
      const { ledger, keyring } = house.two.installation
      const lines = (await readLedger(ledger.file, keyring)).obligations.filter(
        ({ act }) => act.act === 'account.erased' && act.account_id === who.accountId,
      )
      // The first row goes behind the line.
      if (row!.state === 'ERASED') expect(lines.length).toBeGreaterThan(0)
      else expect(await placesWith(word)).toEqual(expect.arrayContaining(['account', 'item', 'comment']))
      await house.runJobs()
      expect((await house.call(house.owner, 'GET', `/privacy/requests/${id}`)).json.state).toBe('DONE')
      expect([step, await placesWith(word)]).toEqual([step, []])
      const [told] = await house.sql`
        select count(*)::int as entries from audit_entry where action = 'account.erased' and subject_id = ${who.accountId}`
      expect(told).toEqual({ entries: 1 })
    }
  expect(await fingerprint()).toEqual(before)
}, 900_000)

test('killed at each step, a package is made once, and nothing of the broken one stays', async () => {
  for (let round = 0; round < rounds; round += 1)
    for (const step of ['package.claimed', 'package.stored']) {
      const who = await house.member()
      const { json } = await house.proven(who, 'POST', '/privacy/requests', { kind: 'ACCESS' })
      await house.patch(house.owner, json.id, { decision: 'GRANTED' })
      expect([step, await killedAt(`${step}=exit`)]).toEqual([step, 'SIGKILL'])
      await house.sql`update privacy_package set claimed_until = now() - interval '1 second' where request_id = ${json.id}`
      await house.runJobs()
      expect((await house.call(who, 'GET', `/privacy/requests/${json.id}`)).json).toMatchObject({
        state: 'DONE',
        package: { size_bytes: expect.any(Number) },
      })
      const [row] = await house.sql`
        select attempt, (select count(*)::int from media_removal r where r.tenant_id = p.tenant_id and r.media_id = p.file_id) as notes
        from privacy_package p where request_id = ${json.id}`
      expect(row).toEqual({ attempt: 2, notes: 1 })
    }
}, 900_000)
