/** The daemon is never made to call itself, also where the system chose its port (SVC_PORT=0; T-16, T-17). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readRelease } from '../../../src/core/kernel/egress/guard.ts'
import { type TestDaemon, testDaemon } from '../../kit/daemon.ts'
import { freePorts } from '../../kit/outside-server.ts'
import { type Person, person, setUp } from '../../kit/people.ts'
import { plantProof } from '../../kit/proofs.ts'

let daemon: TestDaemon
let operator: Person
beforeAll(async () => {
  daemon = await testDaemon({ config: { egress: readRelease('127.0.0.0/8,::1') as never } })
  const { tenantId } = await setUp(daemon)
  operator = await person(daemon, tenantId, { operator: true })
})
afterAll(() => daemon.close())

test('a target at the port that the daemon was given is refused; another one there is let in', async () => {
  const add = async (port: number) => {
    const config = {
      endpoint: `http://127.0.0.1:${port}`,
      region: 'eu-1',
      bucket: 'backups',
      access_key_id: 'AKIA',
      secret_access_key: 's',
    }
    const { status, json } = await daemon.call('POST', '/api/v1/backup-targets', {
      token: operator.token,
      headers: { 'x-service-step-up': await plantProof(daemon.db.sql, operator) },
      body: { name: 't', kind: 'S3', config },
    })
    return [status, json.code]
  }
  const [other] = await freePorts(1)
  expect(daemon.config.port).toBe(0)
  expect(await add(daemon.port)).toEqual([422, 'egress.forbidden'])
  expect(await add(other!)).toEqual([201, undefined])
})
