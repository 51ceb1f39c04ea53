/**
 * A daemon on a host whose clock is ten minutes ahead: what it stores and signs has the database's time, and it is named
 * by /readyz, its metrics and `svc doctor`. Decision 0193.
 */
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type SpawnedDaemon, spawnDaemon, urlOf } from '../kit/daemon.ts'
import { receiver, verifies } from '../kit/receiver.ts'
import { databaseEnv, type Home, temporaryHome } from '../kit/svc.ts'
import { type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

const aheadMs = 600_000
/** How far a time may be from ours: the test and the database are on one host. */
const nearMs = 5_000

let world: WebhookWorld
let daemon: SpawnedDaemon
let home: Home
beforeAll(async () => {
  world = await webhookWorld({}, { dispatches: false })
  home = temporaryHome()
  const { config, db } = world.daemon
  daemon = await spawnDaemon({
    NODE_OPTIONS: `--import ${fileURLToPath(new URL('../kit/wrong-clock.ts', import.meta.url))}`,
    WRONG_CLOCK_MS: String(aheadMs),
    SVC_DATABASE_URL: urlOf(db.daemon),
    SVC_DATABASE_OWNER_URL: urlOf(db.owner),
    SVC_DATA_DIR: config.dataDir,
    SVC_KEYRING_FILE: config.keyringFile,
    SVC_LEDGER_FILE: `${config.ledgerFile}.ahead`,
    SVC_PORT: '0',
    SVC_EGRESS_ALLOW: '127.0.0.1',
  })
})
afterAll(async () => {
  daemon.process.kill('SIGKILL')
  await daemon.ended
  home.remove()
  await world.close()
})

const call = async (path: string, body?: object, token?: string) => {
  const answer = await fetch(`${daemon.address}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: {
      ...(body ? { 'content-type': 'application/json' } : {}),
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  return { status: answer.status, text: await answer.text() }
}
const near = (time: string | number) => Math.abs(new Date(time).getTime() - Date.now()) < nearMs
/** The first 48 bits of a UUIDv7 are its time. */
const timeOfId = (id: string) => Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)

test('signs webhooks with the time of the database, so that receivers take them', async () => {
  const target = await receiver()
  const webhook = await world.subscribe(target.url)
  await world.emit(world.home.tenantId)
  await target.until(1)
  const [got] = target.received
  expect(near(Number(got?.headers['webhook-timestamp']) * 1000)).toBe(true)
  expect(got && verifies(webhook.secret, got)).toBe(true)
  await target.close()
})

test('ids, times of events and the ends of sessions are as those of the other daemons', async () => {
  const { email, password, tenantId } = world.home
  const begun = await call('/api/v1/auth/sessions', { workspace: 'home', email, password })
  expect(begun.status).toBe(201)
  const [credential] = await world.sql<{ expires_at: Date; id: string; session: string }[]>`
    select id, expires_at, session_id as session from credential
    where tenant_id = ${tenantId} and kind = 'SESSION' order by created_at desc limit 1`
  const minutes = world.daemon.config.sessionAccessMinutes
  expect(near((credential?.expires_at.getTime() ?? 0) - minutes * 60_000)).toBe(true)
  expect(near(timeOfId(credential?.id ?? ''))).toBe(true)

  const [collection] = await world.sql<{ id: string }[]>`
    select id from container where tenant_id = ${tenantId} and kind = 'COLLECTION'`
  const labels = `/api/v1/containers/${collection?.id}/labels`
  const label = await call(labels, { name: 'Late', color_token: 'red' }, JSON.parse(begun.text).access_token)
  expect(label).toMatchObject({ status: 201 })
  const [event] = await world.sql<{ id: string; body: string }[]>`
    select id, body from outbox_event where tenant_id = ${tenantId} order by id desc limit 1`
  expect(near(timeOfId(event?.id ?? ''))).toBe(true)
  expect(near(JSON.parse(event?.body ?? '{}').time)).toBe(true)
})

test('is not ready, and says why', async () => {
  const { status, text } = await call('/readyz')
  expect(status).toBe(503)
  const checks: { name: string; ok: boolean; error: string }[] = JSON.parse(text).checks
  expect(checks.filter(({ ok }) => !ok)).toEqual([
    {
      name: 'clock',
      ok: false,
      error: "this host's clock is 600 s ahead of the database's clock; synchronise both with NTP",
    },
  ])
  const metrics = await call('/metrics')
  const [, ahead] = /^svc_clock_ahead_seconds (\S+)$/m.exec(metrics.text) ?? []
  expect(Number(ahead)).toBeCloseTo(600, 0)
})

test('svc doctor names it among the running daemons', async () => {
  const { code, stdout } = await home.svc(['doctor', '--json'], { env: databaseEnv(world.daemon.config) })
  expect(code).toBe(8)
  const { checks } = JSON.parse(stdout) as { checks: { check: string; state: string; says: string }[] }
  const found = checks.filter(({ check }) => check === 'clock' || check === 'daemon clocks')
  expect(found).toMatchObject([{ state: 'ok' }, { state: 'warn' }])
  expect(found[1]?.says).toMatch(new RegExp(` ${daemon.process.pid}: 600 s ahead of the database's clock$`))
})
