/**
 * Notifiable events while the notifier is killed again and again: each is told once to each whom it concerns, nobody of the own act,
 * and nothing of a container that is not seen. 3,000 events and 9 kills; 100,000 and 50 with SVC_FAULTS=full. Spec: people 9.
 */
import { spawn } from 'node:child_process'
import { randomUUIDv7 } from 'node:crypto'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { itemEvents } from '../../src/core/contract/items/events.ts'
import type { AccountActor } from '../../src/core/kernel/values/actor.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { bareEnvironment } from '../kit/processes.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const events = isFull ? 100_000 : 3_000
const kills = isFull ? 50 : 9
/** So many that none is told more than the thousand that are kept. */
const accounts = isFull ? 400 : 20
const perBatch = 100

let own: TestInstallation
let tenantId: string
/** The first one is not let into the private container. */
let people: string[]
let open: string
let hidden: string
beforeAll(async () => {
  own = await testInstallation()
  const made = await own.provision()
  tenantId = made.tenant.id
  open = made.collection_id
  hidden = randomUUIDv7()
  people = Array.from({ length: accounts }, () => randomUUIDv7())
  await own.oracle`
    insert into container (tenant_id, id, kind, parent_id, name, rank, is_private)
    select tenant_id, ${hidden}, 'COLLECTION', parent_id, 'Hidden', 'z0', true from container where id = ${open}`
  for (const [n, id] of people.entries()) {
    await own.oracle`
      insert into account (tenant_id, id, kind, state, email, email_fold) values (${tenantId}, ${id}, 'PERSON', 'ACTIVE', ${`p${n}@x.example`}, ${`p${n}@x.example`})`
    await own.oracle`insert into membership (tenant_id, id, account_id, role) values (${tenantId}, ${randomUUIDv7()}, ${id}, 'MEMBER')`
    if (n > 0)
      await own.oracle`
        insert into membership (tenant_id, id, account_id, container_id, role) values (${tenantId}, ${randomUUIDv7()}, ${id}, ${hidden}, 'MEMBER')`
  }
}, 120_000)
afterAll(() => own.close())

const actorOf = (accountId: string) =>
  ({
    ...{ kind: 'ACCOUNT', tenantId, accountId, credentialId: accountId, bearerId: accountId, sessionId: null },
    ...{ scopes: [], role: 'MEMBER', isOperator: false },
  }) as AccountActor

/** The actor of a batch, who is not told, and two others. */
const namedBy = (batch: number) => [0, 1, 2].map((step) => people[(batch + step) % accounts] ?? '')
const isHidden = (n: number) => n % 5 === 0

/** Records that items were completed, in one transaction: each has a subject of its own, every fifth is in the private container. */
async function record(batch: number): Promise<void> {
  const [actor = '', ...others] = namedBy(batch)
  await own.installation.transaction(actorOf(actor), { tenantId }, async (ctx) => {
    for (let n = batch * perBatch; n < (batch + 1) * perBatch; n += 1) {
      const item = {
        ...itemEvents['work.item.completed'].example,
        ...{ id: randomUUIDv7(), created_by: actor, member_ids: others, container_id: isHidden(n) ? hidden : open },
      }
      await ctx.record('work.item.completed', item)
    }
  })
}

const runner = join(import.meta.dirname, '../kit/notify-runner.ts')

/** Tells in a process of its own; answers what it printed and the signal that ended it. */
function tell(failpoint: string): Promise<{ said: string; signal: NodeJS.Signals | null }> {
  const env = { ...bareEnvironment(), ...own.env, SVC_TEST: '1', SVC_FAILPOINTS: failpoint }
  const child = spawn(process.execPath, [runner], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  return new Promise((resolve) => child.once('close', (_, signal) => resolve({ said, signal })))
}

test(`${events} events, ${kills} kills`, { timeout: 3_600_000 }, async () => {
  for (let batch = 0; batch < events / perBatch; batch += 1) await record(batch)
  const [waits] =
    await own.oracle`select count(*)::int as count from notification_pending where tenant_id = ${tenantId}`
  expect(waits).toEqual({ count: events })
  for (let kill = 0; kill < kills; kill += 1) {
    // Before anything is written, before the commit, and behind the first commits.
    const point = ['notify.taken=exit@1', 'notify.told=exit@1', 'notify.taken=exit@3'][kill % 3] ?? ''
    expect(await tell(point), point).toEqual({ said: 'at work ', signal: 'SIGKILL' })
  }
  expect(await tell('')).toEqual({ said: 'at work done', signal: null })

  const [left] = await own.oracle`select count(*)::int as count from notification_pending where tenant_id = ${tenantId}`
  expect(left).toEqual({ count: 0 })
  const [counts] = await own.oracle`
    select count(*)::int as rows, count(distinct (account_id, event_id))::int as told, max(count) as most,
           count(*) filter (where account_id = actor_id)::int as own,
           count(*) filter (where container_id = ${hidden} and account_id = ${people[0] ?? ''})::int as unseen
    from notification where tenant_id = ${tenantId}`
  expect(counts).toEqual({ rows: wanted(), told: wanted(), most: 1, own: 0, unseen: 0 })
})

/** How often anybody is told: two of each event, but for the first account of what it does not see. */
function wanted(): number {
  let count = 0
  for (let n = 0; n < events; n += 1) {
    const [, ...others] = namedBy(Math.floor(n / perBatch))
    count += others.filter((id) => !(isHidden(n) && id === people[0])).length
  }
  return count
}
