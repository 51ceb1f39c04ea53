/**
 * Random histories of erasures, holds, releases, accesses, recoveries, rewinds from a backup and their undo: no erased person is
 * anywhere, nobody is in the package of another, and nothing that a hold keeps is lost. Keeping 9.
 *
 *     SVC_FAULTS=full vitest run test/privacy/histories.test.ts    200 histories instead of 4
 */
import { randomUUIDv7 } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { backupTenantJob } from '../../src/core/areas/backup/backups/job.ts'
import { beginErasure } from '../../src/core/areas/privacy/erasing/begin.ts'
import { eraseAgain } from '../../src/core/areas/privacy/erasing/job.ts'
import { repeatSteps } from '../../src/core/areas/recovery/apply.ts'
import { planReconciliation, readLedgers } from '../../src/core/areas/recovery/reconcile.ts'
import { restoreJob } from '../../src/core/areas/restores/restore-job.ts'
import { placeHold, releaseHold } from '../../src/core/areas/retention/hold.ts'
import { operations as ops } from '../../src/core/contract/operations.ts'
import type { Choices } from '../../src/core/contract/privacy/requests.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import type { Person } from '../kit/people.ts'
import { keep, takeBack } from '../kit/rewinding.ts'
import { entriesOf, fetchPackage } from './package-reader.ts'
import { type PrivacyHouse, privacyHouse } from './privacy-kit.ts'

const histories = process.env['SVC_FAULTS'] === 'full' ? 200 : 4
const actor = recoveryActor()
const people = 3
let house: PrivacyHouse
let collectionId: string
beforeAll(async () => {
  house = await privacyHouse()
  collectionId = house.collectionId
})
afterAll(() => house.close())

const act = fc.record({
  name: fc.constantFrom(
    'erase',
    'begin',
    'hold',
    'hold',
    'release',
    'work',
    'keep',
    'recover',
    'rewind',
    'rewind',
    'undo',
    'access',
  ),
  which: fc.nat(people - 1),
  reach: fc.constantFrom('ACCOUNT', 'CONTAINER', 'TENANT'),
})
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never

interface One extends Person {
  readonly word: string
}

interface Hold {
  readonly reach: string
  readonly accountId: string
}

interface Model {
  readonly erased: Set<string>
  /** All that were placed, and those in force. */
  readonly known: Map<string, Hold>
  readonly holds: Map<string, Hold>
}

const choices: Choices = { texts: 'REDACT', files: 'KEEP', mentions: [] }

async function plant(n: number): Promise<One> {
  const word = `Bilby${n}x${randomUUIDv7().slice(-6)}`
  const somebody = await house.member()
  await house.sql`update account set display_name = ${word}, worded = null where id = ${somebody.accountId}`
  const made = await house.call(somebody, 'POST', '/items', { container_id: collectionId, title: `${word} wrote` })
  expect(made.status).toBe(201)
  return { ...somebody, word }
}

/** Asks for a package, and looks for the others in it. */
async function access(one: One, all: readonly One[]): Promise<void> {
  const opened = await house.proven(one, 'POST', '/privacy/requests', { kind: 'ACCESS' })
  expect([opened.status, opened.text]).toEqual([201, expect.anything()])
  const decided = await house.patch(house.owner, opened.json.id, { decision: 'GRANTED' }, true)
  expect([decided.status, decided.text]).toEqual([200, expect.anything()])
  await house.runJobs()
  const { status, bytes } = await fetchPackage(house, one, opened.json.id)
  expect(status).toBe(200)
  const text = [...entriesOf(bytes).values()].map(String).join('\n')
  expect(all.filter(({ word }) => text.includes(word))).toEqual([one])
}

async function perform({ name, which, reach }: Act, all: readonly One[], model: Model): Promise<void> {
  const { tenantId, two, sql } = house
  const one = all[which] as One
  const { accountId } = one
  switch (name) {
    case 'erase':
      await eraseAgain(two.installation, actor, { tenantId, accountId, choices })
      model.erased.add(accountId)
      return
    case 'begin': {
      const erasing = { tenantId, accountId, requestId: null, choices }
      await two.installation.transaction(actor, { tenantId }, (ctx) => beginErasure(ctx, erasing))
      model.erased.add(accountId)
      return
    }
    case 'hold': {
      const id = reach === 'ACCOUNT' ? accountId : reach === 'CONTAINER' ? collectionId : null
      const body = { tenant_id: tenantId, scope: { kind: reach, id }, reason: 'a case' } as never
      const placed = await two.installation.transaction(actor, {}, (ctx) => placeHold(ctx, { body }))
      model.known.set(placed.id, { reach, accountId })
      model.holds.set(placed.id, { reach, accountId })
      return
    }
    case 'release': {
      const [id] = [...model.holds.keys()]
      if (id === undefined) return
      await two.installation.transaction(actor, {}, (ctx) => releaseHold(ctx, { holdId: id }))
      model.holds.delete(id)
      return
    }
    case 'work':
      return house.runJobs()
    case 'keep':
      return keep(sql, 'kept')
    case 'rewind':
      return rewind()
    case 'undo':
      return undo()
    case 'access':
      // Who is erased asks for nothing.
      if (!model.erased.has(accountId)) await access(one, all)
      return
    case 'recover': {
      await takeBack(sql, 'kept')
      const { desired } = await readLedgers(two.installation)
      const steps = await planReconciliation(two.installation, desired)
      await repeatSteps(
        { installation: two.installation, actor, recoveryPoint: new Date().toISOString(), desired },
        steps,
      )
      // A recovery repeats no release: what was released behind the point is in force again.
      const rows = await sql<{ id: string }[]>`select id from legal_hold where released_at is null`
      model.holds.clear()
      for (const { id } of rows) {
        const hold = model.known.get(id)
        if (hold) model.holds.set(id, hold)
      }
    }
  }
}

let targetId: string
let backupId: string

async function backUp(): Promise<void> {
  const { two, tenantId } = house
  targetId ??= (
    await two.call('recovery', ops.createBackupTarget, {
      body: { name: 'disk', kind: 'LOCAL', config: { path: 'disk' } },
    })
  ).id
  const asked = await two.call('recovery', ops.createBackup, { body: { tenant_id: tenantId, target_id: targetId } })
  await backupTenantJob.run(two.installation, { tenantId, jobId: asked.job_id })
  backupId = asked.id
}

/** Brings the content of the backup back; nothing else is under way. */
async function rewind(): Promise<void> {
  const { two, tenantId } = house
  const body = { into: 'REPLACE' as const, tenant_id: tenantId, source: { backup_id: backupId } }
  const { id, job_id } = await two.call('recovery', ops.createRestore, { body })
  await restoreJob.run(two.installation, { tenantId, jobId: job_id })
  const { plan } = await two.call('recovery', ops.getRestore, { restoreId: id })
  const applying = await two.call('recovery', ops.applyRestore, {
    restoreId: id,
    body: { plan_hash: plan?.hash ?? '' },
  })
  await restoreJob.run(two.installation, { tenantId, jobId: applying.job_id })
  expect((await two.call('recovery', ops.getRestore, { restoreId: id })).state).toBe('DONE')
}

/** Takes the last rewind back, where that can still be done. */
async function undo(): Promise<void> {
  const { two, tenantId, sql } = house
  const [last] = await sql<{ id: string }[]>`
    select id from restore where tenant_id = ${tenantId} and state = 'DONE' and undo_until > now() order by id desc limit 1`
  if (!last) return
  const body = { edited_since: 'REPLACE' as const }
  const { job_id } = await two.call('recovery', ops.undoRestore, { restoreId: last.id, body })
  await restoreJob.run(two.installation, { tenantId, jobId: job_id })
  expect((await two.call('recovery', ops.getRestore, { restoreId: last.id })).state).toBe('UNDONE')
}

async function placesWith(word: string): Promise<string[]> {
  const tables = [
    'account',
    'account_address',
    'account_word',
    'item',
    'comment',
    'erasure',
    'erasure_held',
    'outbox_event',
  ]
  const found: string[] = []
  for (const name of tables)
    if ((await house.sql.unsafe(`select 1 from "${name}" t where t::text ilike $1 limit 1`, [`%${word}%`])).length > 0)
      found.push(name)
  return found
}

async function check(all: readonly One[], model: Model): Promise<void> {
  await house.runJobs()
  for (const { accountId, word } of all) {
    if (!model.erased.has(accountId)) {
      expect(await placesWith(word)).toEqual(expect.arrayContaining(['account', 'item']))
      continue
    }
    const holds = [...model.holds.values()]
    const keeps = holds.some(({ reach, accountId: of }) => reach !== 'ACCOUNT' || of === accountId)
    // A hold that came behind the erasure finds nothing more; one that was there before has its copies.
    expect((await placesWith(word)).filter((place) => place !== 'erasure_held')).toEqual([])
    if (!keeps) expect(await placesWith(word)).toEqual([])
  }
}

test('no erased person comes back, and nothing held is lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 3, maxLength: 9 }), async (acts) => {
      const all = await Promise.all(Array.from({ length: people }, (_, n) => plant(n)))
      const model: Model = { erased: new Set(), known: new Map(), holds: new Map() }
      await backUp()
      await keep(house.sql, 'kept')
      const copies = new Map<string, number>()
      for (const one of acts) {
        await perform(one, all, model)
        for (const { accountId, word } of all) {
          const held = [...model.holds.values()].some(
            ({ reach, accountId: of }) => reach === 'TENANT' || (reach === 'ACCOUNT' && of === accountId),
          )
          const [row] = await house.sql<{ count: number }[]>`
            select count(*)::int as count from erasure_held where place = 'account' and body ->> 'display_name' = ${word}`
          // What was kept once stays while a hold covers it, also behind a rewind.
          if (held && (copies.get(accountId) ?? 0) > 0) expect(row!.count).toBeGreaterThan(0)
          copies.set(accountId, held ? row!.count : 0)
        }
      }
      await check(all, model)
      for (const id of model.holds.keys())
        await house.two.installation.transaction(actor, {}, (ctx) => releaseHold(ctx, { holdId: id }))
      model.holds.clear()
      await check(all, model)
    }),
    { numRuns: histories, endOnFailure: true },
  )
}, 3_600_000)
