/**
 * The trash, emptied by a worker that is killed again and again: each item is purged once, with one event and one entry,
 * the job counts them, and nothing is left of any. 2,600 items and 8 kills; 100,000 and 20 with SVC_FAULTS=full.
 */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { performForAnswer } from '../../src/core/app/perform.ts'
import { resumeEmptying } from '../../src/core/areas/items/trash/emptying.ts'
import { itemTrashOperations } from '../../src/core/contract/items/trash.ts'
import { jobOperations } from '../../src/core/contract/jobs/operations.ts'
import { scopes } from '../../src/core/contract/vocabulary.ts'
import type { AccountActor } from '../../src/core/kernel/values/actor.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { bareEnvironment } from '../kit/processes.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const items = isFull ? 100_000 : 2_600
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
    insert into item (tenant_id, id, container_id, bucket_id, type, title, rank, created_by, deleted_at, without_keys)
    select ${tenantId}, gen_random_uuid(), ${home?.['id']}, ${home?.['bucket_id']}, 'TASK', 'Old ' || n, 'a' || n, ${owner.account_id},
           now() - interval '1 day', false
    from generate_series(1, ${items}::integer) n`
  await own.oracle`
    insert into item_field_key (tenant_id, item_id, field_id, key)
    select tenant_id, id, '00000000-0000-0000-0000-000000000001', title from item where tenant_id = ${tenantId} and deleted_at is not null`
  await own.oracle`
    insert into item_member (tenant_id, item_id, account_id)
    select tenant_id, id, created_by from item where tenant_id = ${tenantId} and deleted_at is not null`
  // Whoever was provisioned has not joined yet.
  await own.oracle`update account set state = 'ACTIVE' where id = ${owner.account_id}`
  await own.oracle`vacuum analyze`
}, 300_000)
afterAll(() => own.close())

const runner = join(import.meta.dirname, '../kit/trash-runner.ts')

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

/** As a minute without a beat leaves it. */
async function resumed(jobId: string): Promise<void> {
  await own.oracle`update job set beat_at = now() - interval '2 minutes' where id = ${jobId}`
  await resumeEmptying.run(own.installation, {})
}

const counts = async () => {
  const { tenantId } = actor
  const [row] = await own.oracle`
    select (select count(*)::int from item where tenant_id = ${tenantId} and deleted_at is not null) as rows,
           (select count(*)::int from item where tenant_id = ${tenantId} and deleted_at is not null and purged_at is null) as unpurged,
           (select count(*)::int from item_member where tenant_id = ${tenantId}) as members,
           (select count(distinct subject_id)::int from audit_entry where tenant_id = ${tenantId} and action = 'item.purged') as told,
           (select count(*)::int from audit_entry where tenant_id = ${tenantId} and action = 'item.purged') as entries,
           (select count(*)::int from outbox_event where tenant_id = ${tenantId} and type like '%item.purged%') as events`
  return row!
}

test(`${items} items, ${kills} kills`, { timeout: 1_800_000 }, async () => {
  const { job_id: jobId } = await performForAnswer(own.installation, itemTrashOperations.emptyTrash, actor, {
    body: { confirm_count: items },
  })
  const marking = Math.ceil(kills / 2)
  for (let kill = 0; kill < kills; kill += 1) {
    // First while it marks, before and behind a commit, then while rows go.
    const name = kill < marking ? ['trash.marked', 'trash.portion'][kill % 2] : 'trash.removed'
    const hit = kill < marking ? 1 : 1 + (kill % 3)
    if (kill === marking) {
      expect((await counts())['unpurged'], 'it is killed before the end').toBeGreaterThan(0)
      await resumed(jobId)
      expect(await work(jobId, `trash.removed=exit@1`)).toEqual({ said: 'at work ', signal: 'SIGKILL' })
      continue
    }
    if (kill < marking && kill > 0) await resumed(jobId)
    expect(await work(jobId, `${name}=exit@${hit}`), name).toEqual({ said: 'at work ', signal: 'SIGKILL' })
    const now = await counts()
    // What a portion has purged, it has counted; an item is whole or gone.
    expect(now['members']).toBe(now['rows'])
    expect([now['entries'], now['events']]).toEqual([items - now['unpurged'], items - now['unpurged']])
  }
  expect(await work(jobId, '')).toEqual({ said: 'at work done', signal: null })
  expect(await counts()).toEqual({ rows: 0, unpurged: 0, members: 0, told: items, entries: items, events: items })
  expect(await performForAnswer(own.installation, jobOperations.getJob, actor, { jobId })).toMatchObject({
    ...{ state: 'SUCCEEDED', result: { purged: items } },
    progress: { phase: 'DONE', done: items, total: items },
  })
})
