/** `svc doctor` and the store of files. Spec: items 4, Store. */
import { hostname } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { lockClasses } from '../../src/core/kernel/database/lock-classes.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { setUp } from '../kit/people.ts'
import { databaseEnv, type Home, temporaryHome } from '../kit/svc.ts'

let daemon: TestDaemon
let home: Home
beforeAll(async () => {
  daemon = await testDaemon()
  await setUp(daemon)
  home = temporaryHome()
})
afterAll(async () => {
  await daemon.close()
  home.remove()
})

async function found(env: NodeJS.ProcessEnv = {}) {
  const { stdout } = await home.svc(['doctor', '--json'], { env: { ...databaseEnv(daemon.config), ...env } })
  const { checks } = JSON.parse(stdout) as { checks: { check: string; state: string; says: string }[] }
  return checks.find(({ check }) => check === 'media')
}

test('a folder is in order for one host, and a finding beside daemons of another one', async () => {
  expect(await found()).toMatchObject({ state: 'ok' })
  const other = await daemon.db.sql.reserve()
  try {
    await other`set application_name = 'svc life of far-away 77'`
    await other`select pg_advisory_lock_shared(${lockClasses.clock}::int, 0)`
    const { state, says } = (await found()) ?? {}
    expect([state, says]).toEqual(['warn', expect.stringContaining([hostname(), 'far-away'].sort().join(', '))])
  } finally {
    await other`select pg_advisory_unlock_all()`
    other.release()
  }
})

test('a bucket that does not answer and a scanner that is away are findings', async () => {
  const bucket = {
    SVC_MEDIA_STORE: 's3',
    SVC_MEDIA_S3_ENDPOINT: 'http://127.0.0.1:1',
    SVC_MEDIA_S3_BUCKET: 'files',
    SVC_MEDIA_S3_ACCESS_KEY_ID: 'key',
    SVC_MEDIA_S3_SECRET_ACCESS_KEY: 'secret',
  }
  expect(await found(bucket)).toMatchObject({ state: 'fail', says: expect.stringContaining('egress guard') })
  expect(await found({ ...bucket, SVC_EGRESS_ALLOW: '127.0.0.1' })).toMatchObject({ state: 'fail' })
  expect(await found({ SVC_CLAMD_ADDRESS: '127.0.0.1:1' })).toMatchObject({
    state: 'fail',
    says: expect.stringContaining('clamd at 127.0.0.1:1 was not reached'),
  })
})
