/** Webhooks, deliveries and events from a terminal, beside a daemon that really delivers. */

import { writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Home, type Ran, seen, temporaryHome } from '../kit/svc.ts'
import { eventType, type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

interface Received {
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

let world: WebhookWorld
let home: Home
let receiver: Server
let url: string
/** What the receiver answers. */
let status = 204
const received: Received[] = []
beforeAll(async () => {
  world = await webhookWorld()
  home = temporaryHome({ SVC_API_URL: world.daemon.address, SVC_TOKEN: world.admin.token })
  receiver = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece)
    received.push({ path: request.url, headers: request.headers, body: Buffer.concat(pieces).toString('utf8') })
    response.writeHead(status).end(status === 204 ? undefined : 'no \u001b[31mthanks')
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => receiver.once('listening', resolve))
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/in`
})
afterAll(async () => {
  await world.close()
  receiver.close()
  home.remove()
})

const svc = (...args: string[]): Promise<Ran> => home.svc(args)
const json = async (...args: string[]) => {
  const ran = await svc(...args, '--json')
  expect([args, ran.code, ran.stderr]).toEqual([args, 0, ran.stderr])
  return JSON.parse(ran.stdout)
}
const stored = async (id: string) =>
  (await world.sql<{ body: string }[]>`select body from outbox_event where id = ${id}`)[0]?.body

const taken = (webhook: string, count: number) =>
  world.until(`${count} were taken`, async () => {
    const [row] =
      await world.sql`select count(*)::int as n from delivery where webhook_id = ${webhook} and status = 'SUCCEEDED'`
    return row?.['n'] === count
  })

async function dead(target: string): Promise<{ webhook: string; delivery: string }> {
  const { id: webhook } = await json('webhooks', 'create', target, '--type', 'work.label.created')
  const [event] = await world.emit(world.home.tenantId)
  await taken(webhook, 1)
  await world.sql`
    update delivery set status = 'DEAD_LETTER', due_at = null, finished_at = now(), attempt = 8, started_at = null, leased_until = null
    where webhook_id = ${webhook}`
  const [delivery] = (await json('deliveries', 'list', webhook)).data
  expect(delivery.event_id).toBe(event)
  return { webhook, delivery: delivery.id }
}

describe('a webhook', () => {
  test('is created, shown, changed, paused, resumed, rotated and deleted', async () => {
    const target = `${url}/life`
    const secretFile = join(home.folder, 'life.secret')
    const created = await svc('webhooks', 'create', target, '--type', 'work.label.*', '--secret-file', secretFile)
    expect([created.code, created.stdout]).toEqual([0, expect.stringContaining(`written to ${secretFile}`)])
    expect(created.stdout + created.stderr).not.toContain('whsec_')

    const shown = await json('webhooks', 'show', target)
    expect(shown).toMatchObject({ target_url: target, state: 'ACTIVE' })
    expect(shown.event_types).toContain('svc.work.label.created.v1')
    expect((await svc('webhooks', 'list')).stdout).toMatch(new RegExp(`/life.*ACTIVE.*${shown.id}`))
    expect((await json('webhooks', 'pause', shown.id)).state).toBe('PAUSED')
    expect((await json('webhooks', 'resume', target)).state).toBe('ACTIVE')
    expect((await json('webhooks', 'update', shown.id, '--type', 'work.bucket.created')).event_types).toEqual([
      'svc.work.bucket.created.v1',
    ])
    const rotated = await json('webhooks', 'rotate-secret', shown.id, '--grace-seconds', '60')
    expect(rotated).toMatchObject({
      secret: expect.stringMatching(/^whsec_/),
      previous_secret_until: expect.any(String),
    })

    const kept = await svc('webhooks', 'delete', shown.id, '--confirm', 'something else')
    expect([kept.code, (await svc('webhooks', 'show', shown.id)).code]).toEqual([1, 0])
    expect((await svc('webhooks', 'delete', shown.id, '--confirm', target)).code).toBe(0)
    expect((await svc('webhooks', 'show', shown.id)).code).toBe(3)
  })

  test('of no such type, or that nobody has, is refused in one line', async () => {
    for (const [args, code] of [
      [['webhooks', 'create', url, '--type', 'work.label.painted'], 2],
      [['webhooks', 'show', 'https://nowhere.example'], 3],
      [['webhooks', 'create', 'http://10.0.0.1/', '--type', 'work.label.created'], 2],
      [['webhooks', 'update', 'x'], 2],
      [['deliveries', 'why', '00000000-0000-7000-8000-000000000000'], 3],
      [['deliveries', 'list', url, '--since', 'soon'], 2],
      [['webhooks', 'listen', '--forward-to', 'ftp://localhost'], 2],
    ] as const) {
      const ran = await svc(...args)
      expect([args, ran.code, ran.stdout]).toEqual([args, code, ''])
      expect(ran.stderr).not.toMatch(/^\s+at /m)
    }
  })
})

describe('deliveries', () => {
  test('are listed, shown, explained; one is replayed, and then those of a span within the budget', async () => {
    status = 503
    const { id: webhook } = await json('webhooks', 'create', `${url}/failing`, '--type', 'work.label.created')
    const [event] = await world.emit(world.home.tenantId)
    const listed = async () => (await json('deliveries', 'list', webhook)).data
    await world.until('an attempt failed', async () => (await listed())[0]?.status === 'FAILED')
    const [delivery] = await listed()
    const shown = (await svc('deliveries', 'show', delivery.id)).stdout
    expect(shown).toContain('503 in')
    expect(shown).toContain('no \\u001b[31mthanks')
    expect(shown).not.toContain('\u001b')
    const why = (await svc('deliveries', 'why', delivery.id)).stdout
    expect(why).toMatch(/Why: The target answered with a status other than 2xx/)
    expect(why).toMatch(/Next: Attempt 2 of 8 is due at /)
    expect(await json('deliveries', 'why', delivery.id)).toMatchObject({ id: delivery.id, event_id: event })
    await json('webhooks', 'pause', webhook)
    expect((await svc('deliveries', 'why', delivery.id)).stdout).toContain(
      `Next: Nothing while the webhook is PAUSED. To resume it: svc webhooks resume ${webhook}`,
    )
    await svc('webhooks', 'delete', webhook, '--confirm', `${url}/failing`)
    status = 204

    const one = await dead(`${url}/dead`)
    expect((await svc('deliveries', 'why', one.delivery)).stdout).toContain(
      `svc deliveries replay ${one.webhook} ${one.delivery}`,
    )
    expect(await json('deliveries', 'replay', one.webhook, one.delivery)).toMatchObject({
      status: 'PENDING',
      cause: 'REPLAY',
    })
    await world.until(
      'it was taken',
      async () => (await json('deliveries', 'show', one.delivery)).status === 'SUCCEEDED',
    )
    expect((await json('deliveries', 'show', one.delivery)).attempt).toBe(9)

    await world.emit(world.home.tenantId, 4)
    await taken(one.webhook, 5)
    await world.sql`update delivery set status = 'DEAD_LETTER' where webhook_id = ${one.webhook}`
    const all = ['deliveries', 'replay', one.webhook, '--since', '1h', '--per-second', '50']
    const plan = await json(...all, '--dry-run')
    expect([plan.chosen.length, plan.over]).toEqual([5, 0])
    expect(await json(...all, '--until', '2h')).toMatchObject({ repeated: [] })
    const budget = await svc(...all, '--max', '3', '--json')
    expect([budget.code, JSON.parse(budget.stdout)]).toEqual([
      8,
      { repeated: plan.chosen.slice(0, 3), refused: [], over: 2 },
    ])
    await taken(one.webhook, 3)
    const before = received.length
    const sent = await json('deliveries', 'replay', one.webhook, '--status', 'SUCCEEDED', '--max', '1000')
    expect(sent.repeated.length).toBeGreaterThan(0)
    await world.until('they arrived', async () => received.length >= before + sent.repeated.length)
  })

  test('are counted for operators, without content; the recorder explains in full', async () => {
    await world.sql`insert into operator (account_id, workspace_id) values (${world.admin.accountId}, ${world.home.tenantId}) on conflict do nothing`
    const stats = await svc('deliveries', 'stats', '--histogram')
    expect([stats.code, stats.stdout]).toEqual([
      0,
      expect.stringMatching(/WORKSPACE[\s\S]*home[\s\S]*127\.0\.0\.1[\s\S]*<= 10 ms/),
    ])
    expect(stats.stdout).not.toContain('/in')
    const { webhook } = await dead(`${url}/recorded`)
    const [{ id }] = (await json('deliveries', 'list', webhook)).data
    const why = await svc('deliveries', 'why', id, '--operator')
    expect([why.code, why.stdout]).toEqual([0, expect.stringContaining('(workspace home): DEAD_LETTER')])
  })
})

describe('events', () => {
  test('are tailed as they happen, each exactly once, as they are delivered', async () => {
    // As many as several looks find.
    const followed = 25
    const child = home.start(['events', 'tail', '--type', 'work.label.created', '--count', String(followed), '--json'])
    const lines = new Promise<string>((resolve) => {
      let out = ''
      child.stdout?.on('data', (piece: Buffer) => {
        out += piece.toString()
      })
      child.once('close', () => resolve(out))
    })
    child.stdin?.end()
    let ids: string[] = []
    const types = await svc('events', 'catalog')
    expect(types.stdout).toContain('svc.work.label.created.v1')
    // Only what happens once it follows is printed: more happens until two were.
    const ended = lines.then((text) => text.trimEnd().split('\n'))
    let isOver = false
    void ended.then(() => {
      isOver = true
    })
    while (!isOver) {
      ids = [...ids, ...(await world.emit(world.home.tenantId))]
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    const printed = await ended
    expect(printed).toHaveLength(followed)
    const events = printed.map((line) => JSON.parse(line) as { id: string })
    expect(events.map(({ id }) => id)).toEqual(ids.slice(ids.indexOf(events[0]!.id)).slice(0, followed))
    for (const [at, { id }] of events.entries()) expect(printed[at]).toBe(await stored(id))
  }, 60_000)

  test('are forwarded to a receiver, byte for byte and signed with the secret that was printed', async () => {
    received.length = 0
    const child = home.start([
      'webhooks',
      'listen',
      '--forward-to',
      `${url}/listened`,
      '--type',
      'work.label.created',
      '--count',
      '1',
    ])
    child.stdin?.end()
    const out = seen(child, 'stdout', /-> 204 in \d+ ms/)
    const told = await seen(child, 'stderr', /whsec_[A-Za-z0-9+/=]+/)
    const [event] = await world.emit(world.home.tenantId)
    expect(await out).toContain(event)
    const got = received.find(({ path }) => path === '/in/listened')
    expect(got?.headers['webhook-id']).toBe(event)
    expect(got?.body).toBe(await stored(event!))
    const secret = /whsec_[A-Za-z0-9+/=]+/.exec(told)?.[0] ?? ''
    expect(() => new Webhook(secret).verify(got!.body, got!.headers as Record<string, string>)).not.toThrow()
  }, 60_000)

  test('are triggered: the example at a receiver, and the newest one at a webhook', async () => {
    received.length = 0
    const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    const file = home.secretFile('trigger.secret', secret)
    const posted = await json('webhooks', 'trigger', 'work.label.created', '--forward-to', url, '--secret-file', file)
    expect(posted.status).toBe(204)
    const { body, headers } = received.find((one) => one.headers['webhook-id'] === posted.event_id) as Received
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
      type: eventType,
      id: posted.event_id,
    })

    const { id: webhook } = await json('webhooks', 'create', `${url}/triggered`, '--type', 'work.bucket.created')
    const [newest] = (await world.emit(world.home.tenantId, 3)).slice(-1)
    const delivery = await json('webhooks', 'trigger', 'work.label.created', '--webhook', webhook)
    expect(delivery).toMatchObject({ cause: 'SEND', event_id: newest })
    expect((await svc('webhooks', 'trigger', 'lifecycle.hold.placed', '--webhook', webhook)).code).toBe(3)
  })
})

describe('a signature', () => {
  const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
  const body = '{"n":1}'
  const verify = (more: Readonly<Record<string, string>>, file = 'body.json', args: string[] = []) => {
    const at = new Date()
    const headers = {
      id: 'msg_1',
      timestamp: String(Math.floor(at.getTime() / 1000)),
      signature: new Webhook(secret).sign('msg_1', at, body),
      ...more,
    }
    const flags = Object.entries(headers).flatMap(([name, value]) => [`--${name}`, value])
    return home.svc(['webhooks', 'verify', file, ...flags, '--secret-stdin', ...args], { input: secret })
  }

  test('of a file is verified, offline; what was altered is not, and says why', async () => {
    writeFileSync(join(home.folder, 'body.json'), body)
    writeFileSync(join(home.folder, 'altered.json'), `${body} `)
    expect((await verify({})).code).toBe(0)
    const old = {
      timestamp: '1700000000',
      signature: new Webhook(secret).sign('msg_1', new Date(1_700_000_000_000), body),
    }
    expect((await verify(old, 'body.json', ['--any-age'])).code).toBe(0)
    for (const [ran, says] of [
      [await verify({}, 'altered.json'), 'signature.differs'],
      [await verify({ id: 'msg_2' }), 'signature.differs'],
      [await verify(old), 'timestamp.too_old'],
      [await verify({ signature: 'v2,abc' }), 'signature.malformed'],
      [await verify({ timestamp: 'today' }), 'timestamp.malformed'],
    ] as const)
      expect([ran.code, ran.stderr]).toEqual([1, expect.stringContaining(says)])
  })
})
