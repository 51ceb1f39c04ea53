/** Statistics are counted on the standby, where it has what was committed before. Decision 0325. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { type OwnCluster, ownCluster } from '../kernel/database/own-cluster.ts'
import { urlOf } from '../kit/daemon.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

let primary: OwnCluster
let standby: OwnCluster
let own: TestInstallation
beforeAll(async () => {
  primary = await ownCluster({ fsync: 'off' })
  await primary.migrate()
  standby = await primary.standby({ fsync: 'off' })
  const at = { owner: primary.address('svc_owner'), daemon: primary.address('svc_daemon'), sql: primary.superuser }
  own = await testInstallation({ at, env: { SVC_DATABASE_STANDBY_URL: urlOf(standby.address('svc_daemon')) } })
})
afterAll(async () => {
  await own.close()
  await standby.remove()
  await primary.remove()
})

test('what was written before is counted: on the standby, and where that lags behind on the primary', async () => {
  const { tenant, collection_id } = await own.provision()
  const plant = (name: string) => own.oracle`
    insert into label (tenant_id, id, container_id, name, name_fold, color_token)
    values (${tenant.id}, ${randomUUID()}, ${collection_id}, ${name}, ${name}, 'red')`
  const labels = async () => {
    const { entities } = await own.asRecovery(operations.getTenantStatistics, { tenantId: tenant.id })
    return Number(entities.find(({ entity }) => entity === 'labels')!.rows)
  }
  const before = await labels()
  await plant('one')
  expect(await labels()).toBe(before + 1)
  const [there] = await standby.superuser`select 1 from pg_stat_activity where application_name = 'svc aside'`
  expect(there).toBeDefined()
  await standby.superuser`select pg_wal_replay_pause()`
  await plant('two')
  expect(await labels()).toBe(before + 2)
  await standby.superuser`select pg_wal_replay_resume()`
  await expect(own.asRecovery(operations.getTenantStatistics, { tenantId: randomUUID() })).rejects.toMatchObject({
    code: 'not_found',
  })
})
