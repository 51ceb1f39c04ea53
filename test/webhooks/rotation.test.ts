/**
 * Rotation under load (T-19): what is begun after an answer is signed with the secret of that answer, and with those
 * that are in grace; what was ended is used no more. Which attempts had begun by then is asked of the rows.
 */

import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Received, type Receiver, receiver, verifies } from '../kit/receiver.ts'
import { type Subscribed, type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const rotations = isFull ? 60 : 8
const events = isFull ? 3000 : 300

let world: WebhookWorld
let target: Receiver
beforeAll(async () => {
  world = await webhookWorld()
  target = await receiver()
})
afterAll(async () => {
  await world.close()
  await target.close()
})

const rotate = (webhook: Subscribed, grace_seconds: number) =>
  world.call('POST', `/integrations/webhooks/${webhook.id}:rotate-secret`, { grace_seconds })

/** Which of the secrets each signature was made with, in the order they were sent; -1 for none of them. */
const signers = ({ headers, body }: Received, secrets: readonly string[]) =>
  String(headers['webhook-signature'])
    .split(' ')
    .map((signature) =>
      secrets.findIndex((secret) => {
        const at = new Date(Number(headers['webhook-timestamp']) * 1000)
        return new Webhook(secret).sign(String(headers['webhook-id']), at, body) === signature
      }),
    )

describe('rotating', () => {
  test(`${rotations} times while ${events} events are delivered`, async () => {
    const webhook = await world.subscribe(target.url)
    const secrets = [webhook.secret]
    /** For each rotation: its grace, and the events whose attempts had begun when it was answered. */
    const answered: { grace: number; begun: ReadonlySet<string> }[] = []
    const emitting = (async () => {
      for (let n = 0; n < events; n += 5) {
        await world.emit(webhook.tenantId, 5)
        await target.until(Math.max(0, n - 60))
      }
    })()
    for (let n = 1; n <= rotations; n += 1) {
      await target.until(Math.floor((events * n) / (rotations + 2)))
      const grace = n % 4 === 0 ? 0 : 600
      const { status, json } = await rotate(webhook, grace)
      expect(status).toBe(200)
      secrets.push(json.secret)
      const rows = await world.sql<{ event_id: string }[]>`
        select event_id from delivery where webhook_id = ${webhook.id} and attempt > 0`
      answered.push({ grace, begun: new Set(rows.map(({ event_id }) => event_id)) })
    }
    await emitting
    await target.until(events)

    expect(new Set(secrets).size).toBe(rotations + 1)
    let checked = 0
    for (const [nth, got] of target.received.entries()) {
      // Without a pause this takes longer than the daemon, in this process, keeps an idle connection of the client's.
      if (nth % 50 === 0) await new Promise(setImmediate)
      const used = signers(got, secrets)
      expect(used).not.toContain(-1)
      expect(used).toEqual(used.toSorted((a, b) => b - a)) // the newest first
      expect(verifies(secrets[used[0] as number] as string, got)).toBe(true)
      const last = answered.findLastIndex(({ begun }) => !begun.has(got.eventId)) + 1
      expect(used[0]).toBeGreaterThanOrEqual(last) // begun after that answer: no older one is in force
      const ended = answered.findLastIndex(({ grace }, at) => grace === 0 && at < (used[0] as number)) + 1
      expect(Math.min(...used)).toBe(ended) // all in grace sign, and none that a grace of 0 ended
      checked += used.length
    }
    expect(checked).toBeGreaterThan(target.received.length) // graces did overlap
    await world.call('DELETE', `/integrations/webhooks/${webhook.id}`)
  })

  test('twenty at once: each accepted one has a secret of its own, and all of them sign', async () => {
    const webhook = await world.subscribe(target.url)
    const before = target.received.length
    const answers = await Promise.all(Array.from({ length: 20 }, () => rotate(webhook, 600)))
    const accepted = answers.filter(({ status }) => status === 200).map(({ json }) => json.secret as string)
    expect(new Set(accepted).size).toBe(5)
    expect(
      answers.filter(({ status }) => status !== 200).every(({ json }) => json.code === 'webhook.rotation_limit'),
    ).toBe(true)
    await world.emit(webhook.tenantId)
    await target.until(before + 1)
    const got = target.received.at(-1) as Received
    expect([webhook.secret, ...accepted].filter((secret) => verifies(secret, got))).toHaveLength(6)
    await world.call('DELETE', `/integrations/webhooks/${webhook.id}`)
  })

  test('once a grace is over the old secret verifies nothing, a replay included', async () => {
    const webhook = await world.subscribe(target.url)
    const rotated = await rotate(webhook, 1)
    await world.until('the grace is over', async () => {
      const rows = await world.sql`select 1 from webhook_secret where webhook_id = ${webhook.id} and ends_at > now()`
      return rows.length === 0
    })
    const before = target.received.length
    const [event] = await world.emit(webhook.tenantId)
    await target.until(before + 1)
    await world.call('POST', `/integrations/webhooks/${webhook.id}:send`, { event_id: event })
    await target.until(before + 2)
    for (const got of target.received.slice(before))
      expect([verifies(webhook.secret, got), verifies(rotated.json.secret, got)]).toEqual([false, true])
    await world.call('DELETE', `/integrations/webhooks/${webhook.id}`)
  })
})
