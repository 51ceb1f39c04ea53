/** The receivers that docs/webhooks.md shows: the JavaScript one is run as it stands, against real deliveries. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const page = readFileSync(join(root, 'docs/webhooks.md'), 'utf8')
const sampleIn = (language: string) => new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(page)?.[1] ?? ''

/** The one of the machine, which may be older than that of the tests: the page says which serve. */
const node = existsSync('/usr/bin/node') ? '/usr/bin/node' : process.execPath

let world: WebhookWorld
let receiver: ChildProcess | undefined
const folder = mkdtempSync(join(tmpdir(), 'svc-sample-'))
beforeAll(async () => {
  world = await webhookWorld()
})
afterAll(async () => {
  receiver?.kill('SIGKILL')
  await world.close()
  rmSync(folder, { recursive: true, force: true })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Starts the sample; answers what it has printed. */
function start(port: number, secret: string): () => string[] {
  writeFileSync(join(folder, 'receiver.mjs'), sampleIn('js'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  let out = ''
  const { PATH } = process.env
  receiver = spawn(node, ['receiver.mjs'], {
    cwd: folder,
    env: { PATH, PORT: String(port), SVC_WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [receiver.stdout, receiver.stderr])
    stream?.on('data', (piece: Buffer) => {
      out += piece.toString()
    })
  return () => out.split('\n').filter((line) => line !== '')
}

test('the JavaScript receiver takes what svc delivers, once, and nothing that was not signed', async () => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/hooks`
  const subscribed = await world.subscribe(url)
  const printed = start(port, subscribed.secret)
  const answer = (body: string, headers: Record<string, string> = {}) =>
    fetch(url, { method: 'POST', body, headers }).then(
      ({ status }) => status,
      () => 0,
    )
  await world.until('it listens', async () => (await answer('{}')) === 401)

  const events = await world.emit(subscribed.tenantId, 3)
  await world.until('all were delivered', async () =>
    (await world.deliveries(subscribed)).every(({ status }) => status === 'SUCCEEDED'),
  )
  const [first] = await world.deliveries(subscribed)
  const again = await world.call('POST', `/integrations/webhooks/${subscribed.id}:send`, { event_id: first!.event_id })
  expect(again.status).toBe(202)
  await world.until('it was delivered again', async () => {
    const all = await world.deliveries(subscribed)
    return all.length === 4 && all.every(({ status }) => status === 'SUCCEEDED')
  })

  expect(printed().toSorted()).toEqual(events.map((id) => `svc.work.label.created.v1 ${id}`).toSorted())
  const now = String(Math.floor(Date.now() / 1000))
  expect(
    await answer('{"id":"forged"}', { 'webhook-id': 'x', 'webhook-timestamp': now, 'webhook-signature': 'v1,AAAA' }),
  ).toBe(401)
})

test('the samples in other languages call the library that the page names', () => {
  expect(sampleIn('python')).toContain('from standardwebhooks.webhooks import Webhook, WebhookVerificationError')
  expect(sampleIn('go')).toContain('"github.com/standard-webhooks/standard-webhooks/libraries/go"')
})
