/**
 * A daemon killed with SIGKILL at every step of joining an identity: all of it is there, or nothing, and the person gets on by
 * the same link, or by a new flow. People 9, kill -9 at each step of N18.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { failpoints } from '../../src/core/kernel/values/failpoint.ts'
import { type Answered, spawnDaemon, urlOf } from '../kit/daemon.ts'
import { bareEnvironment } from '../kit/processes.ts'
import { type ProvingHouse, provingHouse, type Somebody } from '../kit/proving-house.ts'

const steps = failpoints.filter((name) => name.startsWith('link.'))
const ofFlow = new Set<string>(['link.flow_spent', 'link.redeemed'])

let house: ProvingHouse
beforeAll(async () => {
  house = await provingHouse()
})
afterAll(() => house.close())

const environment = (failpoint: string): NodeJS.ProcessEnv => {
  const { config, db } = house.ways.daemon
  return {
    ...bareEnvironment(),
    SVC_DATABASE_URL: urlOf(db.daemon),
    SVC_DATABASE_OWNER_URL: urlOf(db.owner),
    SVC_KEYRING_FILE: config.keyringFile,
    SVC_DATA_DIR: config.dataDir,
    SVC_MODE: 'multi',
    SVC_EGRESS_ALLOW: '127.0.0.0/8',
    SVC_PORT: '0',
    SVC_TEST: '1',
    SVC_FAILPOINTS: `${failpoint}=exit`,
  }
}

/** What joining an identity leaves, of each kind. */
async function left({ accountId }: Somebody): Promise<number[]> {
  const [row] = await house.ways.sql<{ counts: number[] }[]>`
    select array[
      (select count(*) from connected_identity where account_id = ${accountId}),
      (select count(*) from audit_entry where action = 'account.connected' and subject_id = ${accountId}),
      (select count(*) from outbox_event where type like '%account.connected%' and body like ${`%${accountId}%`}),
      (select count(*) from pgboss.job where name = 'send_mail' and data ->> 'accountId' = ${accountId}::text)]::int[] as counts`
  return row!.counts
}

test.each(steps)('killed at %s, nothing is there; then it is joined once', async (step) => {
  const at = await house.place()
  const who = await house.somebody(at)
  const prepare = async () =>
    ofFlow.has(step)
      ? house.comeBack(at, at.offered, step, { purpose: 'LINK' })
      : { link_token: await house.linkOf(at, step) }
  const body = await prepare()
  const killed = await spawnDaemon(environment(step))
  const asked = await fetch(`${killed.address}/api/v1/auth/sessions:link`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${who.token}` },
    body: JSON.stringify(body),
  }).then(
    ({ status }) => status,
    () => 'lost',
  )
  await killed.ended
  expect([asked, killed.process.signalCode]).toEqual(['lost', 'SIGKILL'])
  expect(await left(who)).toEqual([0, 0, 0, 0])

  const link = (sent: object): Promise<Answered> => house.post('/auth/sessions:link', sent, who.token)
  // The transaction of the killed daemon is undone as soon as the server sees that it is gone.
  const again = await link(body)
  if (ofFlow.has(step)) {
    expect([again.status, again.json.code]).toEqual([401, 'auth.sign_in_failed'])
    expect((await link(await prepare())).status).toBe(200)
  } else expect(again.status).toBe(200)
  expect(await left(who)).toEqual([1, 1, 1, 1])
})
