/** A daemon that finds itself on a standby says so and does not start; neither do commands and migrations. Decision 0194. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { queueNames } from '../../src/core/app/jobs.ts'
import { migrate, SchemaError } from '../../src/core/kernel/database/migrate.ts'
import { createKeyring } from '../../src/core/kernel/sealing/keyring.ts'
import { type OwnCluster, ownCluster } from '../kernel/database/own-cluster.ts'
import { spawnDaemon, urlOf } from '../kit/daemon.ts'
import { temporaryHome } from '../kit/svc.ts'

let cluster: OwnCluster
const folder = mkdtempSync(join(tmpdir(), 'svc-standby-'))
const own = { SVC_DATA_DIR: folder, SVC_KEYRING_FILE: join(folder, 'keyring.json') }
beforeAll(async () => {
  await createKeyring(own.SVC_KEYRING_FILE)
  cluster = await ownCluster()
  await cluster.migrate()
  await cluster.becomeStandby()
})
afterAll(async () => {
  await cluster.remove()
  rmSync(folder, { recursive: true, force: true })
})

const said =
  'The database is a standby and takes no changes. Set SVC_DATABASE_URL to the primary, or promote this server (docs/runbooks/database-failover.md).'

test('a daemon ends with one line and the exit code of the database', async () => {
  const daemon = await spawnDaemon({
    SVC_DATABASE_URL: urlOf(cluster.address('svc_daemon')),
    SVC_DATABASE_OWNER_URL: urlOf(cluster.address('svc_owner')),
    ...own,
    SVC_PORT: '0',
  })
  expect(await daemon.ended).toBe(7)
  expect(daemon.stderr().trim().split('\n').at(-1)).toBe(said)
})

test('svc doctor names it', async () => {
  const home = temporaryHome()
  const { code, stdout } = await home.svc(['doctor', '--json'], {
    env: {
      SVC_DATABASE_URL: urlOf(cluster.address('svc_daemon')),
      SVC_DATABASE_OWNER_URL: urlOf(cluster.address('svc_owner')),
      ...own,
    },
  })
  home.remove()
  expect(code).toBe(8)
  const { checks } = JSON.parse(stdout) as { checks: { check: string; state: string; says: string }[] }
  expect(checks.find(({ check }) => check === 'database')).toMatchObject({
    state: 'fail',
    says: expect.stringMatching(/^PostgreSQL .* is a standby and takes no changes$/),
  })
})

test('a migration is refused', async () => {
  const migrating = migrate(cluster.address('svc_owner'), cluster.address('svc_daemon'), queueNames)
  await expect(migrating).rejects.toThrow(new SchemaError(said))
})
