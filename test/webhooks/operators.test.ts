/** What operators see of deliveries: all of the way, nothing of the content. T-36 for what goes out. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { person } from '../kit/people.ts'
import { type Receiver, receiver, status } from '../kit/receiver.ts'
import { type Subscribed, type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

let world: WebhookWorld
let target: Receiver
let webhook: Subscribed
let operator: string
beforeAll(async () => {
  // The second attempt waits an hour, so that however slow the machine is nothing is due while the tests look.
  world = await webhookWorld({ webhookRetrySeconds: [0, 3_600] })
  target = await receiver()
  target.respond(status(500, {}, 'canary-of-the-answer'))
  webhook = await world.subscribe(`${target.url}?key=canary-of-the-path`)
  operator = (await person(world.daemon, world.home.tenantId, { operator: true, expires: "now() + interval '1 day'" }))
    .token
  await world.emit(webhook.tenantId, 3)
  await world.until('all were tried', async () =>
    (await world.deliveries(webhook)).every(({ attempts }) => attempts[0]?.status === 500),
  )
})
afterAll(async () => {
  await world.close()
  await target.close()
})

const admin = (path: string) => world.call('GET', `/admin/deliveries/${path}`, undefined, { token: operator })

test('the statistics count by workspace and host', async () => {
  const stats = await admin('stats')
  expect(stats.status).toBe(200)
  expect(stats.json.data).toEqual([
    {
      tenant_id: world.home.tenantId,
      slug: 'home',
      host: `127.0.0.1:${target.port}`,
      webhooks: { ACTIVE: 1, PAUSED: 0, DISABLED: 0 },
      deliveries: { PENDING: 0, SUCCEEDED: 0, FAILED: 3, DEAD_LETTER: 0 },
      waiting: 0,
      oldest_due_at: expect.any(String),
      attempts: 3,
      failed_attempts: 3,
      errors: { 'response.status': 3 },
      duration_ms: expect.any(Array),
    },
  ])
  const [{ duration_ms: classes }] = stats.json.data
  expect(classes.reduce((sum: number, { attempts }: { attempts: number }) => sum + attempts, 0)).toBe(3)
  expect((await admin(`stats?tenant_id=${crypto.randomUUID()}`)).json.data).toEqual([])
})

test('the flight recorder has every address, and no content', async () => {
  const [delivery] = await world.deliveries(webhook)
  const { status: code, json, text } = await admin(delivery?.id ?? '')
  expect(code).toBe(200)
  expect(json).toMatchObject({
    webhook_id: webhook.id,
    slug: 'home',
    attempts: [
      {
        n: 1,
        status: 500,
        error: 'response.status',
        trace: { address: '127.0.0.1', dns_answers: ['127.0.0.1'], rule: 'released' },
      },
    ],
  })
  expect(json.attempts[0].trace.signed_sha256).toBe(delivery?.attempts[0]?.trace?.signed_sha256)
  for (const answer of [text, (await admin('stats')).text]) expect(answer).not.toContain('canary')
  expect((await admin(crypto.randomUUID())).json.code).toBe('not_found')
})

test('the installation’s role cannot read what a target answered, nor where a webhook goes', async () => {
  const reading = (what: 'body' | 'target_url') =>
    world.installation.transaction({ kind: 'SYSTEM', job: 'test' }, { readOnly: true }, ({ tx }) =>
      what === 'body'
        ? tx`select body from delivery_attempt where tenant_id = ${webhook.tenantId}`
        : tx`select target_url from webhook where tenant_id = ${webhook.tenantId}`,
    )
  await expect(reading('body')).rejects.toThrow(/permission denied/)
  await expect(reading('target_url')).rejects.toThrow(/permission denied/)
})

test('no header that goes out is made of what people wrote', () => {
  for (const { headers } of target.received) {
    expect(headers['webhook-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect(headers['webhook-timestamp']).toMatch(/^[0-9]{10}$/)
    expect(headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/)
    expect(headers['user-agent']).toBe('svc')
  }
})
