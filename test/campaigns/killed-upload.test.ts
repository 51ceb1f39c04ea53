/**
 * Uploads killed with SIGKILL at every failpoint: what is READY is whole, the quota is exact, and after the sweep the store
 * holds nothing that no row knows. Spec: items 9, media. 1 upload each here, 5 with SVC_FAULTS=full.
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Media } from '../../src/core/contract/media/operations.ts'
import { partBytes } from '../../src/core/contract/media/operations.ts'
import { failpoints } from '../../src/core/kernel/values/failpoint.ts'
import { spawnDaemon, urlOf } from '../kit/daemon.ts'
import { bareEnvironment } from '../kit/processes.ts'
import { someBytes } from '../kit/some-bytes.ts'
import { type Files, openFiles, sha256Of } from '../media/files.ts'

const rounds = process.env['SVC_FAULTS'] === 'full' ? 5 : 1
const ofSweep = ['media.swept', 'media.bytes_removed']
const ofUpload = failpoints.filter((name) => name.startsWith('media.') && !ofSweep.includes(name))
const size = partBytes + 3_000_001

let files: Files
beforeAll(async () => {
  files = await openFiles()
})
afterAll(() => files.close())

function environment(failpoint: string): NodeJS.ProcessEnv {
  const { config, db } = files.daemon
  return {
    ...bareEnvironment(),
    SVC_DATABASE_URL: urlOf(db.daemon),
    SVC_DATABASE_OWNER_URL: urlOf(db.owner),
    SVC_KEYRING_FILE: config.keyringFile,
    SVC_DATA_DIR: config.dataDir,
    SVC_PORT: '0',
    SVC_TEST: '1',
    SVC_FAILPOINTS: `${failpoint}=exit`,
  }
}

/** Sends a file to a daemon, slowly behind its first part if asked, for as long as there is one. */
async function upload(address: string, { id }: Media, bytes: Buffer, pauseMs: number): Promise<void> {
  const sent = request(`${address}/api/v1/media/${id}/content`, {
    method: 'PUT',
    headers: {
      authorization: `Bearer ${files.people.MEMBER.token}`,
      'content-type': 'application/octet-stream',
      'content-length': bytes.byteLength,
    },
  })
  const ended = new Promise<void>((resolve) => {
    sent.on('response', (response) => response.resume().on('close', () => resolve()))
    sent.on('error', () => resolve())
  })
  for (let at = 0; at < bytes.byteLength && !sent.destroyed; at += 1_000_000) {
    sent.write(bytes.subarray(at, at + 1_000_000))
    if (at > partBytes) await pause(pauseMs)
  }
  sent.end()
  await ended
}

/** The quota is the sum of the files that have bytes, and each file of the store is known. */
async function expectExact(): Promise<void> {
  const { sql } = files.daemon.db
  const [row] = await sql`
    select coalesce(sum(size_bytes), 0) as bytes from media where tenant_id = ${files.tenantId} and state <> 'REFUSED'`
  expect(await files.quota()).toBe(Number(row?.['bytes']))
  const known = await sql`
    select id from media where tenant_id = ${files.tenantId} union select media_id from media_removal where tenant_id = ${files.tenantId}`
  const ids = new Set(known.map(({ id }) => id as string))
  expect(files.stored().filter((name) => !ids.has(name.replace('.part', '')))).toEqual([])
}

describe.each(ofUpload)('killed at %s', { timeout: 240_000 }, (failpoint) => {
  test.each(Array.from({ length: rounds }, (_, n) => n + 1))(
    'the upload goes on to a whole file, round %i',
    async () => {
      const bytes = someBytes(size)
      const media = await files.begin(size, { sha256: sha256Of(bytes) })
      const daemon = await spawnDaemon(environment(failpoint))
      // What has come is recorded every five seconds.
      await upload(daemon.address, media, bytes, failpoint === 'media.recorded' ? 3_000 : 0)
      await daemon.ended
      expect(daemon.process.signalCode).toBe('SIGKILL')
      await expectExact()

      // Half a minute later.
      await files.daemon.db.sql`update media set writer_until = now() where id = ${media.id}`
      const { state, received_bytes } = await files.read(media)
      expect(state).toBe(failpoint === 'media.examined' ? 'SCANNING' : 'UPLOADING')
      if (state === 'UPLOADING') {
        const from = Number(received_bytes)
        expect(from).toBe(failpoint === 'media.recorded' ? partBytes : 0)
        const headers = { 'content-range': `bytes ${from}-${size - 1}/${size}` }
        const rest = await files.send(media, bytes.subarray(from), { headers })
        expect([rest.status, rest.json]).toMatchObject([200, { state: 'SCANNING' }])
      }
      await files.examine()
      expect(await files.read(media)).toMatchObject({ state: 'READY', sha256: sha256Of(bytes) })
      expect(readFileSync(join(files.folder, media.id)).equals(bytes)).toBe(true)
      expect(files.stored()).not.toContain(`${media.id}.part`)
      await expectExact()
    },
  )

  test('an upload that nobody goes on with leaves nothing behind the sweep', async () => {
    const { sql } = files.daemon.db
    const bytes = someBytes(size)
    const media = await files.begin(size)
    const daemon = await spawnDaemon(environment(failpoint))
    await upload(daemon.address, media, bytes, failpoint === 'media.recorded' ? 3_000 : 0)
    await daemon.ended
    await files.examine()
    await sql`update media set loose_since = now() - interval '2 days' where id = ${media.id}`
    await files.sweep()
    await expectExact()
    await sql`update media_removal set due_at = now() - interval '1 minute' where tenant_id = ${files.tenantId}`
    await files.sweep()
    expect(files.stored().filter((name) => name.startsWith(media.id))).toEqual([])
    await expectExact()
  })
})

test.each(ofSweep)('a sweep killed at %s is repeated, and leaves nothing', async (failpoint) => {
  const { sql } = files.daemon.db
  const media = await files.file(someBytes(1000))
  await sql`update media set loose_since = now() - interval '2 days' where id = ${media.id}`
  if (failpoint === 'media.bytes_removed') {
    await files.sweep()
    await sql`update media_removal set due_at = now() - interval '1 minute' where media_id = ${media.id}`
  }
  const runner = join(import.meta.dirname, '../kit/media-sweep-runner.ts')
  const child = spawn(process.execPath, [runner, files.tenantId], { env: environment(failpoint), stdio: 'inherit' })
  const signal = await new Promise((resolve) => child.once('close', (_, by) => resolve(by)))
  expect(signal).toBe('SIGKILL')
  await expectExact()
  // The server may need a moment to see that the process is dead, and until then the row is locked.
  const isSwept = async () => {
    await files.sweep()
    return (await sql`select 1 from media where id = ${media.id}`).length === 0
  }
  await expect.poll(isSwept, { timeout: 5_000 }).toBe(true)
  await sql`update media_removal set due_at = now() - interval '1 minute' where tenant_id = ${files.tenantId}`
  await files.sweep()
  expect(files.stored()).not.toContain(media.id)
  expect(await sql`select 1 from media_removal where tenant_id = ${files.tenantId}`).toEqual([])
  await expectExact()
})
