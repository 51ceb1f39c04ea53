/** The TypeScript client: built by its own configuration, and called against a daemon that runs. */
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type * as Client from '../../clients/typescript/src/index.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { root } from '../house/source.ts'
import { person } from '../kit/people.ts'
import { type Receiver, receiver } from '../kit/receiver.ts'
import { type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

const folder = join(root, 'clients/typescript')
const tsc = join(root, 'node_modules/.bin/tsc')

let built: string
let client: typeof Client
let world: WebhookWorld
let svc: Client.Operations
let boardId: string

beforeAll(async () => {
  built = mkdtempSync(join(tmpdir(), 'svc-client-'))
  const made = spawnSync(tsc, ['--project', folder, '--outDir', built], { encoding: 'utf8' })
  expect(made.stdout + made.stderr).toBe('')
  writeFileSync(join(built, 'package.json'), '{"type":"module"}')
  client = (await import(pathToFileURL(join(built, 'index.js')).href)) as typeof Client
  world = await webhookWorld()
  svc = client.openClient({ url: world.daemon.address, token: world.admin.token })
  const hub = await svc.createContainer({ body: { kind: 'HUB', name: 'Hub' } })
  const board = await svc.createContainer({ body: { kind: 'COLLECTION', name: 'Board', parent_id: hub.id } })
  boardId = board.id
}, 120_000)
afterAll(async () => {
  await world.close()
  rmSync(built, { recursive: true })
})

/** A server in front of the daemon that answers the first calls itself, or cuts them off behind the daemon's answer. */
async function troubled(fail: (nth: number) => number | 'cut' | undefined) {
  const seen: { method: string; path: string; key: string | undefined }[] = []
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', url = '', headers } = request
    seen.push({ method, path: url, key: headers['idempotency-key'] as string | undefined })
    const trouble = fail(seen.length)
    if (typeof trouble === 'number') return response.writeHead(trouble, { 'retry-after': '0' }).end('<html>')
    const { host: _host, connection: _connection, 'content-length': _length, ...others } = headers
    const answer = await fetch(`${world.daemon.address}${url}`, {
      method,
      headers: others as Record<string, string>,
      ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
    })
    const text = await answer.text()
    if (trouble === 'cut') return request.socket.destroy()
    return response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(text)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    seen,
    svc: client.openClient({ url, token: world.admin.token }),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('it needs no package, and has a function for each operation', () => {
  const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { dependencies?: object }
  expect(dependencies).toBe(undefined)
  for (const file of ['index.js', 'client.js', 'generated.js', 'webhook.js', 'json.js']) {
    expect(existsSync(join(built, file))).toBe(true)
    const imported = [...readFileSync(join(built, file), 'utf8').matchAll(/from '([^']+)'/g)].map(
      ([, name = '']) => name,
    )
    expect(imported.filter((name) => !name.startsWith('./'))).toEqual([])
  }
  expect(Object.keys(svc).sort()).toEqual(Object.keys(operations).sort())
})

test('the examples of its README compile against what was built', () => {
  const own = join(built, 'node_modules/@svc/client')
  mkdirSync(own, { recursive: true })
  copyFileSync(join(folder, 'package.json'), join(own, 'package.json'))
  symlinkSync(built, join(own, 'dist'))
  const blocks = [...readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)]
  expect(blocks).toHaveLength(2)
  const around = `declare const board: string, raw: string, request: { headers: Record<string, string> }
    declare const process: { env: Record<string, string | undefined> }\n`
  const files = blocks.map(([, code = ''], at) => {
    const file = join(built, `example-${at}.ts`)
    writeFileSync(file, `${around}${code}`)
    return file
  })
  const options = '--noEmit --strict --module nodenext --target es2022 --lib es2023,dom,dom.iterable --types'.split(' ')
  const { stdout, stderr } = spawnSync(tsc, [...options, '', ...files], { encoding: 'utf8', cwd: built })
  expect(stdout + stderr).toBe('')
})

test('it makes, reads, changes and deletes', async () => {
  const made = await svc.createItem({ body: { container_id: boardId, title: 'Write it down' } })
  expect(made).toMatchObject({ title: 'Write it down', type: 'TASK', version: 1 })
  const params = { itemId: made.id }
  const changed = await svc.updateItem({ params, body: { title: 'Read it' }, ifMatch: made.version })
  expect(changed.title).toBe('Read it')
  expect((await svc.getItem({ params })).version).toBe(changed.version)
  expect(await svc.deleteItem({ params })).toBe(undefined)
})

test('a refusal is thrown, with params of the type of its code', async () => {
  const made = await svc.createItem({ body: { container_id: boardId, title: 'one' } })
  const stale = svc.updateItem({ params: { itemId: made.id }, body: { title: 'two' }, ifMatch: 99 })
  const error = await stale.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(client.Refused)
  if (!client.isRefused(error, 'precondition.failed')) throw error
  const etag: string = error.problem.params.current_etag // compiles only because the code tells the type
  expect([error.status, etag]).toEqual([412, '"1"'])
  expect(client.isRefused(error, 'not_found')).toBe(false)

  const unknown = await svc.getItem({ params: { itemId: boardId } }).catch((thrown: unknown) => thrown)
  expect(client.isRefused(unknown, 'not_found')).toBe(true)
  const wrong = await svc.createItem({ body: { container_id: boardId, title: '' } }).catch((thrown: unknown) => thrown)
  if (!client.isRefused(wrong, 'request.invalid')) throw wrong
  expect(wrong.problem.errors?.[0]).toMatchObject({ pointer: '/title' })
})

test('pages are one list to iterate, and are asked for one by one', async () => {
  const hub = await svc.createContainer({ body: { kind: 'HUB', name: 'Pages' } })
  const { id } = await svc.createContainer({ body: { kind: 'COLLECTION', name: 'Long', parent_id: hub.id } })
  const titles = Array.from({ length: 7 }, (_, n) => `item ${n}`)
  for (const title of titles) await svc.createItem({ body: { container_id: id, title } })
  const through = await troubled(() => undefined)
  try {
    const found: string[] = []
    for await (const item of through.svc.listItems.each({ query: { container_id: id, size: 3 } }))
      found.push(item.title)
    expect(found.sort()).toEqual(titles)
    expect(through.seen).toHaveLength(3)
    for await (const item of through.svc.listItems.each({ query: { container_id: id, size: 3 } })) {
      expect(item.id).toBeTruthy()
      break
    }
    expect(through.seen).toHaveLength(4)
  } finally {
    await through.close()
  }
  expect((await svc.listItems({ query: { container_id: id, size: 2 } })).data).toHaveLength(2)
})

describe('what fails on the way', () => {
  const itemsNamed = async (title: string) =>
    (await world.sql`select from item where tenant_id = ${world.admin.tenantId} and title = ${title}`).length

  test('is sent again where it only reads, also after an answer that is not of svc', async () => {
    const through = await troubled((nth) => ([502, 'cut', 503] as const)[nth - 1])
    try {
      expect((await through.svc.getOwnAccount()).id).toBe(world.admin.accountId)
      expect(through.seen).toHaveLength(4)
    } finally {
      await through.close()
    }
  })

  test('is sent again under one key where it is a change that takes one, and is done once', async () => {
    const through = await troubled((nth) => (nth < 3 ? 'cut' : undefined))
    try {
      const made = await through.svc.createItem({ body: { container_id: boardId, title: 'only once' } })
      expect(made.title).toBe('only once')
      expect(await itemsNamed('only once')).toBe(1)
      expect(through.seen).toHaveLength(3)
      expect(new Set(through.seen.map(({ key }) => key)).size).toBe(1)
    } finally {
      await through.close()
    }
  })

  test('is not sent again where it could be done twice', async () => {
    const { id } = await svc.createItem({ body: { container_id: boardId, title: 'changed' } })
    const through = await troubled(() => 'cut')
    try {
      const change = through.svc.updateItem({ params: { itemId: id }, body: { title: 'changed again' } })
      await expect(change).rejects.toBeInstanceOf(client.NotAnswered)
      expect(through.seen).toHaveLength(1)
    } finally {
      await through.close()
    }
  })

  test('is given up after four attempts, or when the caller says so', async () => {
    const through = await troubled(() => 503)
    try {
      await expect(through.svc.getOwnAccount()).rejects.toMatchObject({ name: 'NotAnswered', status: 503 })
      expect(through.seen).toHaveLength(4)
      const abort = new AbortController()
      abort.abort(new Error('enough'))
      await expect(through.svc.getOwnAccount({ signal: abort.signal })).rejects.toThrow('enough')
    } finally {
      await through.close()
    }
  })
})

test('integers of 64 bits are exact in both directions', async () => {
  const large = 9_007_199_254_740_993n
  const operator = await person(world.daemon, world.home.tenantId, { operator: true })
  const admin = client.openClient({ url: world.daemon.address, token: () => operator.token })
  const params = { tenantId: world.home.tenantId }
  const quotas = await admin.changeTenantQuotas({ params, body: { media_bytes: large } })
  const [row] =
    await world.sql`select ceiling::text from tenant_quota where tenant_id = ${params.tenantId} and quota = 'media_bytes'`
  expect(row).toEqual({ ceiling: String(large) })
  expect(JSON.stringify(quotas, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))).toContain(
    `"${large}n"`,
  )
})

describe('a delivery', () => {
  let target: Receiver
  let secret: string
  beforeAll(async () => {
    target = await receiver()
    const webhook = await svc.createWebhook({
      body: { target_url: target.url, event_types: ['svc.work.item.created.v1'] },
    })
    secret = webhook.secret
    await svc.createItem({ body: { container_id: boardId, title: 'told' } })
    await target.until(1)
  }, 60_000)
  afterAll(() => target.close())
  const verify = (more: Partial<Client.ReceivedWebhook> = {}, options: Partial<Client.VerifyOptions> = {}) => {
    const { headers, body } = target.received[0]!
    return client.verifyWebhook({ headers, body, ...more }, { secret, ...options })
  }

  test('is verified, and answers its event', async () => {
    const event = await verify()
    expect(event).toMatchObject({ type: 'svc.work.item.created.v1', data: { title: 'told' } })
    expect(await verify({ headers: new Headers(target.received[0]!.headers as Record<string, string>) })).toEqual(event)
  })

  test.each<[string, () => Promise<unknown>]>([
    ['whose body was changed', () => verify({ body: `${target.received[0]?.body} ` })],
    ['for another secret', () => verify({}, { secret: `whsec_${btoa('x'.repeat(32))}` })],
    ['that is older than five minutes', () => verify({}, { now: Date.now() + 400_000 })],
    ['from the future', () => verify({}, { now: Date.now() - 400_000 })],
    ['without a signature', () => verify({ headers: { 'webhook-id': 'a', 'webhook-timestamp': '1' } })],
  ])('%s is not', async (_, verifying) => {
    await expect(verifying()).rejects.toBeInstanceOf(client.NotVerified)
  })
})
