/**
 * F-18: a purge killed at every failpoint resumes and ends with nothing left, one entry of
 * evidence and its neighbours untouched. One workspace each here, 20 with SVC_FAULTS=full.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pursuePurge } from '../../src/core/areas/tenants/purge/purge.ts'
import { purgeOperations } from '../../src/core/contract/retention/operations.ts'
import { mailFolderOf } from '../../src/core/kernel/config/mail-settings.ts'
import { mediaFolderOf } from '../../src/core/kernel/config/media-settings.ts'
import { failpoints } from '../../src/core/kernel/values/failpoint.ts'
import { urlOf } from '../kit/daemon.ts'
import { type Furnished, fingerprintOf, furnished, overdue, placesNaming, rowsOf } from '../kit/leaving-workspace.ts'
import { bareEnvironment } from '../kit/processes.ts'
import { type TwoWays, twoWays } from '../kit/two-ways.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const workspaces = isFull ? 20 : 1
/** Which hit kills, where there are many: in the middle of the tables; in full also the first one and one among the last. */
const hits = (name: string) =>
  !/batch|observed/.test(name) ? [1] : name === 'purge.observed' ? [2] : isFull ? [1, 9, 30] : [9]
const deaths = failpoints
  .filter((name) => name.startsWith('purge.'))
  .flatMap((name) => hits(name).map((hit) => `${name}=exit@${hit}`))

let ways: TwoWays
let neighbour: Furnished
let neighbourBefore: string
beforeAll(async () => {
  ways = await twoWays()
  neighbour = await furnished(ways)
  neighbourBefore = await fingerprintOf(ways.sql, neighbour.id)
})
afterAll(() => ways.close())

const runner = join(import.meta.dirname, '../kit/purge-runner.ts')

/** Purges in a process of its own; answers what it printed and the signal that ended it. */
async function runPurge(id: string, failpoint: string): Promise<{ said: string; signal: NodeJS.Signals | null }> {
  const { config, db } = ways.daemon
  const env = {
    ...bareEnvironment(),
    SVC_DATABASE_URL: urlOf(db.daemon),
    SVC_DATABASE_OWNER_URL: urlOf(db.owner),
    SVC_KEYRING_FILE: config.keyringFile,
    SVC_DATA_DIR: config.dataDir,
    SVC_TEST: '1',
    SVC_FAILPOINTS: failpoint,
  }
  const child = spawn(process.execPath, [runner, id], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  return new Promise((resolve) => child.once('close', (_, signal) => resolve({ said, signal })))
}

/** Carries the purge on in this process, whatever state the dead one left; the server may need a moment to see that it is dead. */
async function resume(id: string): Promise<void> {
  const outcome = await pursuePurge(ways.installation, id)
  if (outcome === 'purged' || outcome === 'not_due') return
  if (outcome === 'settling') ways.clock.pass(3600)
  await resume(id)
}

/** One workspace: killed in the middle, resumed, looked for everywhere. */
async function killAndResume(death: string): Promise<void> {
  const leaving = await furnished(ways)
  await ways.sql`
    insert into audit_entry (tenant_id, id, action, actor_kind, via)
    select ${leaving.id}, gen_random_uuid(), 'filler', 'SYSTEM', 'JOB' from generate_series(1, 1000)`
  const had = await rowsOf(ways.sql, leaving.id)
  const { media, mail } = ways.daemon.config
  const folders = [mediaFolderOf(media, leaving.id), mailFolderOf(mail, leaving.id)]
  for (const folder of folders) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'file'), 'bytes')
  }
  await overdue(ways, leaving)
  const { said, signal } = await runPurge(leaving.id, death)
  expect([signal, said], 'it dies where it should').toEqual(['SIGKILL', ''])

  await resume(leaving.id)

  expect(await placesNaming(ways.sql, leaving.id)).toEqual(['departed_archive', 'journal', 'purge_certificate'])
  expect(folders.filter((folder) => existsSync(folder))).toEqual([])
  const evidence = await ways.sql<{ action: string; params: { counts: Record<string, number> } }[]>`
    select action, params from journal where workspace_id = ${leaving.id} and action like 'tenant.purge%' order by action`
  expect(evidence.map(({ action }) => action)).toEqual(['tenant.purge_started', 'tenant.purged'])
  // The deletion itself added an entry and an event; every row is counted once, whoever removed it.
  const { queued_jobs, ...counts } = evidence[1]!.params.counts
  expect(queued_jobs).toBeGreaterThan(0)
  expect(counts).toEqual({ ...had, audit_entry: had['audit_entry']! + 1, outbox_event: had['outbox_event']! + 1 })
  const verified = await ways.call('recovery', purgeOperations.verifyPurgeCertificate, { tenantId: leaving.id })
  expect(verified.findings).toEqual([])
}

test.each(deaths)('killed at %s', async (death) => {
  for (let done = 0; done < workspaces; done += 2)
    await Promise.all(Array.from({ length: Math.min(2, workspaces - done) }, () => killAndResume(death)))
  expect(await fingerprintOf(ways.sql, neighbour.id)).toBe(neighbourBefore)
})

test('without a failpoint the same process ends by itself', async () => {
  const leaving = await furnished(ways)
  await overdue(ways, leaving)
  expect(await runPurge(leaving.id, '')).toEqual({ said: 'purged', signal: null })
})
