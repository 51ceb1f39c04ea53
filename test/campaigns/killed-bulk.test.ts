/**
 * A bulk job whose worker is killed again and again: each item is done once, with one event and one entry, and counted once.
 * 900 items and 8 kills; 10,000 and 20 with SVC_FAULTS=full. Spec: items 9.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { performForAnswer } from '../../src/core/app/perform.ts'
import { resumeBulk } from '../../src/core/areas/items/bulk/job.ts'
import { itemBulkOperations } from '../../src/core/contract/items/bulk.ts'
import { type JobRef, jobOperations } from '../../src/core/contract/jobs/operations.ts'
import { scopes } from '../../src/core/contract/vocabulary.ts'
import type { AccountActor } from '../../src/core/kernel/values/actor.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { bareEnvironment } from '../kit/processes.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const items = isFull ? 10_000 : 900
const kills = isFull ? 20 : 8

let own: TestInstallation
let actor: AccountActor
beforeAll(async () => {
  own = await testInstallation()
  const { tenant, owner } = await own.provision()
  const tenantId = tenant.id
  actor = {
    ...{ kind: 'ACCOUNT', tenantId, accountId: owner.account_id, credentialId: owner.account_id },
    ...{ bearerId: owner.account_id, sessionId: null, scopes: scopes.slice(0, 3), role: 'OWNER', isOperator: false },
  } as AccountActor
  const [home] = await own.oracle`
    select k.id, b.id as bucket_id from container k join bucket b on b.container_id = k.id where k.tenant_id = ${tenantId} limit 1`
  await own.oracle`
    insert into item (tenant_id, id, container_id, bucket_id, type, title, rank, created_by, without_keys)
    select ${tenantId}, gen_random_uuid(), ${home?.['id']}, ${home?.['bucket_id']}, 'NOTE', 'Old ' || n, 'b' || lpad(n::text, 6, '0'), ${owner.account_id}, false
    from generate_series(1, ${items}::integer) n`
  // Whoever was provisioned has not joined yet.
  await own.oracle`update account set state = 'ACTIVE' where id = ${owner.account_id}`
  await own.oracle`vacuum analyze`
}, 300_000)
afterAll(() => own.close())

const runner = join(import.meta.dirname, '../kit/bulk-runner.ts')

/** Does the job in a process of its own; answers what it printed and the signal that ended it. */
function work(jobId: string, failpoint: string): Promise<{ said: string; signal: NodeJS.Signals | null }> {
  const env = { ...bareEnvironment(), ...own.env, SVC_TEST: '1', SVC_FAILPOINTS: failpoint }
  const child = spawn(process.execPath, [runner, actor.tenantId, jobId], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  return new Promise((resolve) => child.once('close', (_, signal) => resolve({ said, signal })))
}

const counts = async () => {
  const { tenantId } = actor
  const [row] = await own.oracle`
    select (select count(*)::int from item where tenant_id = ${tenantId} and title = 'New' and version = 2) as done,
           (select count(*)::int from item where tenant_id = ${tenantId} and version > 2) as twice,
           (select count(*)::int from audit_entry where tenant_id = ${tenantId} and action = 'item.changed') as entries,
           (select count(distinct subject_id)::int from audit_entry where tenant_id = ${tenantId} and action = 'item.changed') as told,
           (select count(*)::int from outbox_event where tenant_id = ${tenantId} and type like '%item.changed%') as events,
           (select coalesce(max((progress ->> 'done')::int), 0) from job where tenant_id = ${tenantId}) as counted,
           (select count(*)::int from bulk_target where tenant_id = ${tenantId}) as targets`
  return row!
}

test(`${items} items, ${kills} kills`, { timeout: 1_800_000 }, async () => {
  const { job_id: jobId } = (await performForAnswer(own.installation, itemBulkOperations.bulkItems, actor, {
    body: { filter: { field: 'type', op: 'is', value: 'NOTE' }, actions: [{ action: 'update', title: 'New' }] },
  })) as unknown as JobRef
  for (let kill = 0; kill < kills; kill += 1) {
    // Before and behind the commit of a portion.
    const name = ['bulk.done', 'bulk.portion'][kill % 2]
    expect(await work(jobId, `${name}=exit@1`), name).toEqual({ said: 'at work ', signal: 'SIGKILL' })
    const now = await counts()
    expect(now['done'], 'it is killed before the end').toBeLessThan(items)
    expect([now['counted'], now['entries'], now['events'], now['twice']]).toEqual([
      now['done'],
      now['done'],
      now['done'],
      0,
    ])
    // As a minute without a beat leaves it.
    await own.oracle`update job set beat_at = now() - interval '2 minutes' where id = ${jobId}`
    await resumeBulk.run(own.installation, {})
  }
  expect(await work(jobId, '')).toEqual({ said: 'at work done', signal: null })
  expect(await counts()).toEqual({
    ...{ done: items, twice: 0, entries: items, told: items, events: items, counted: items, targets: 0 },
  })
  expect(await performForAnswer(own.installation, jobOperations.getJob, actor, { jobId })).toMatchObject({
    ...{ state: 'SUCCEEDED', result: { counts: { done: items }, refusals: [] } },
    progress: { phase: 'DONE', done: items, total: items },
  })
})
