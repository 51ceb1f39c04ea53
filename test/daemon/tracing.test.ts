/** Tracing: one trace from a caller through `POST /items` to a webhook's receipt, read by a collector of our own. */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { isTraced, openPacket, openSpan, originNow, spanned } from '../../src/core/kernel/tracing/tracing.ts'
import { type SpawnedDaemon, spawnDaemon, urlOf } from '../kit/daemon.ts'
import { type Receiver, receiver, status } from '../kit/receiver.ts'
import { type CollectedSpan, type TraceCollector, traceCollector } from '../kit/trace-collector.ts'
import { type WebhookWorld, webhookWorld } from '../kit/webhooks.ts'

let world: WebhookWorld
let collector: TraceCollector
let target: Receiver
/** The daemon that is traced, as a process; that of the world, in this process, is not. */
let daemon: SpawnedDaemon
let boardId: string

const environment = (): NodeJS.ProcessEnv => ({
  SVC_DATABASE_URL: urlOf(world.daemon.db.daemon),
  SVC_DATABASE_OWNER_URL: urlOf(world.daemon.db.owner),
  SVC_DATA_DIR: world.daemon.config.dataDir,
  SVC_KEYRING_FILE: world.daemon.config.keyringFile,
  SVC_LEDGER_FILE: `${world.daemon.config.ledgerFile}.traced`,
  SVC_PORT: '0',
  SVC_EGRESS_ALLOW: '127.0.0.1',
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_BSP_SCHEDULE_DELAY: '50',
  OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
})

beforeAll(async () => {
  world = await webhookWorld({}, { dispatches: false })
  collector = await traceCollector()
  target = await receiver()
  await world.subscribe(target.url, { types: ['svc.work.item.created.v1'] })
  const hub = await world.call('POST', '/containers', { kind: 'HUB', name: 'Hub' })
  const board = await world.call('POST', '/containers', { kind: 'COLLECTION', name: 'Board', parent_id: hub.json.id })
  boardId = board.json.id
  daemon = await spawnDaemon(environment())
  expect(daemon.address, daemon.stderr()).not.toBe('')
}, 60_000)
afterAll(async () => {
  daemon.process.kill('SIGTERM')
  await daemon.ended
  await world.close()
  await target.close()
  await collector.close()
})

const hex = (bytes: number) => randomBytes(bytes).toString('hex')
const caller = (flags = '01') => {
  const [traceId, spanId] = [hex(16), hex(8)]
  return { traceId, spanId, traceparent: `00-${traceId}-${spanId}-${flags}` }
}

/** A call of the traced daemon. */
async function call(method: string, path: string, body: unknown, traceparent?: string) {
  const answer = await fetch(`${daemon.address}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${world.admin.token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(traceparent === undefined ? {} : { traceparent }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: answer.status, requestId: answer.headers.get('x-request-id') ?? '', text: await answer.text() }
}
const createItem = (title: string, traceparent?: string) =>
  call('POST', '/items', { container_id: boardId, type: 'TASK', title }, traceparent)

const named = (spans: readonly CollectedSpan[], name: string) => spans.filter((span) => span.name === name)
/** Waits until the trace has a span of each name, and no more come. */
async function traceWith(traceId: string, ...names: string[]): Promise<CollectedSpan[]> {
  const found = () => names.filter((name) => named(collector.ofTrace(traceId), name).length > 0)
  await vi.waitFor(() => expect(found()).toEqual(names), { timeout: 20_000 })
  return collector.ofTrace(traceId)
}
const parentOf = (spans: readonly CollectedSpan[], { parentSpanId }: CollectedSpan) =>
  spans.find(({ spanId }) => spanId === parentSpanId)

describe('one trace from POST /items to the receipt of a webhook', () => {
  const from = caller()
  let spans: CollectedSpan[]
  let requestId: string
  let received: Receiver['received'][number]
  beforeAll(async () => {
    // The first call looks its token up before the work; from the second on, that leaves with the work.
    await createItem('first')
    await target.until(1)
    const made = await createItem('CANARY of a title', from.traceparent)
    expect(made.status, made.text).toBe(201)
    requestId = made.requestId
    await target.until(2)
    received = target.received.at(-1)!
    spans = await traceWith(from.traceId, 'delivery', 'POST /items', 'rule createItem', 'gate createItem', 'packet')
  }, 60_000)

  test('begins at the caller, and has the request, its gate, its rule and its packets', () => {
    const [request] = named(spans, 'POST /items')
    expect(request).toMatchObject({ kind: 'SERVER', parentSpanId: from.spanId, isError: false })
    expect(request?.attributes).toMatchObject({
      'svc.operation': 'createItem',
      'http.request.method': 'POST',
      'http.route': '/items',
      'http.response.status_code': 201,
    })
    for (const name of ['gate createItem', 'rule createItem'])
      expect(parentOf(spans, named(spans, name)[0]!)?.name, name).toBe('POST /items')
    const packets = named(spans, 'packet')
    expect(packets.length).toBeGreaterThanOrEqual(2)
    expect(packets.every(({ attributes }) => Number(attributes['svc.statements']) > 0)).toBe(true)
    const above = new Set(packets.map((packet) => parentOf(spans, packet)?.name))
    expect([...above].every((name) => name?.match(/^(?:POST \/items|gate createItem|rule createItem|delivery)$/))).toBe(
      true,
    )
  })

  test('goes on in the delivery, whose target hears of it', () => {
    const [delivery] = named(spans, 'delivery')
    expect(delivery).toMatchObject({ kind: 'CLIENT', isError: false })
    expect(delivery?.attributes).toMatchObject({
      'svc.attempt': 1,
      'svc.cause': 'EVENT',
      'http.response.status_code': 204,
    })
    expect(parentOf(spans, delivery!)?.name).toBe('POST /items')
    expect(received.headers['traceparent']).toBe(`00-${from.traceId}-${delivery?.spanId}-01`)
  })

  test('does not go on in what the dispatcher does from then on', async () => {
    const recorded = () => world.sql`select from delivery where status <> 'SUCCEEDED'`
    await vi.waitFor(async () => expect(await recorded()).toHaveLength(0), { timeout: 20_000 })
    // Spans leave in their order: those of the trace have come when this call's have.
    const marker = caller()
    await call('GET', '/accounts/me', undefined, marker.traceparent)
    await traceWith(marker.traceId, 'GET /accounts/me')
    // An item that is made takes four; the turns that claimed and recorded its delivery would be four more.
    expect(named(collector.ofTrace(from.traceId), 'packet').length).toBeLessThanOrEqual(5)
  })

  test('has the id of the request in every span', () => {
    expect(new Set(spans.map(({ attributes }) => attributes['svc.request_id']))).toEqual(new Set([requestId]))
  })

  test('is named in the line that the log has of the request', async () => {
    const line = await vi.waitFor(() => {
      const [found] = daemon
        .stderr()
        .split('\n')
        .filter((one) => one.includes(requestId))
      expect(found).not.toBe(undefined)
      return JSON.parse(found ?? '')
    })
    const ids = { trace_id: from.traceId, span_id: named(spans, 'POST /items')[0]?.spanId }
    expect(line).toMatchObject({ event: 'request', request_id: requestId, ...ids })
  })

  test('comes from a resource with a name and the attributes of the environment', () => {
    expect(collector.resource).toMatchObject({ 'service.name': 'svc', 'deployment.environment.name': 'test' })
  })

  test('tells nothing of who works or on what', () => {
    const sent = collector.bodies.join('\n')
    for (const secret of [
      'CANARY',
      world.admin.tenantId,
      world.admin.accountId,
      world.admin.token,
      boardId,
      target.url,
    ])
      expect(sent).not.toContain(secret)
  })
})

test('a job is in the trace of the request that queued it, with the id of that request', async () => {
  const from = caller()
  const { text } = await createItem('thrown away')
  await call('DELETE', `/items/${JSON.parse(text).id}`, undefined)
  const emptied = await call('POST', '/trash:empty', { confirm_count: 1 }, from.traceparent)
  expect(emptied.status, emptied.text).toBe(202)
  const spans = await traceWith(from.traceId, 'POST /trash:empty', 'job empty_trash')
  const [job] = named(spans, 'job empty_trash')
  expect(job).toMatchObject({
    kind: 'CONSUMER',
    attributes: { 'svc.result': 'completed', 'svc.request_id': emptied.requestId },
  })
  expect(spans.some((span) => span.name === 'packet' && span.parentSpanId === job?.spanId)).toBe(true)
})

test('a failed attempt is an error in the trace, and so is each retry', async () => {
  target.respond(status(500))
  const from = caller()
  await createItem('for a target that fails', from.traceparent)
  const [delivery] = named(await traceWith(from.traceId, 'delivery'), 'delivery')
  expect(delivery).toMatchObject({
    isError: true,
    attributes: { 'error.type': 'response.status', 'http.response.status_code': 500 },
  })
  target.respond(status(204))
})

test('a refusal names its code; the caller is to blame, so it is no error', async () => {
  const from = caller()
  await call('POST', '/items', { title: 'in no container' }, from.traceparent)
  const [request] = named(await traceWith(from.traceId, 'POST /items'), 'POST /items')
  expect(request).toMatchObject({
    isError: false,
    attributes: { 'svc.code': 'request.invalid', 'http.response.status_code': 422 },
  })
})

test('a caller that does not record its trace gets none recorded, and the target is told so', async () => {
  const from = caller('00')
  const before = target.received.length
  await createItem('not recorded', from.traceparent)
  await target.until(before + 1)
  expect(target.received.at(-1)?.headers['traceparent']).toMatch(new RegExp(`^00-${from.traceId}-[0-9a-f]{16}-00$`))
  const marker = caller()
  await createItem('recorded', marker.traceparent)
  await traceWith(marker.traceId, 'delivery')
  expect(collector.ofTrace(from.traceId)).toEqual([])
})

test.each([
  ['no header', undefined],
  ['zeros', `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`],
  ['capitals', `00-${'A'.repeat(32)}-${'B'.repeat(16)}-01`],
  ['a forbidden version', `ff-${'a'.repeat(32)}-${'b'.repeat(16)}-01`],
  ['a longer id', `00-${'a'.repeat(33)}-${'b'.repeat(16)}-01`],
  ['something else', 'CANARY-traceparent'],
])('with %s a new trace begins', async (_, traceparent) => {
  const before = target.received.length
  const made = await createItem('of nobody', traceparent)
  expect(made.status).toBe(201)
  await target.until(before + 1)
  const [, traceId = ''] =
    /^00-([0-9a-f]{32})-[0-9a-f]{16}-01$/.exec(String(target.received.at(-1)?.headers['traceparent'])) ?? []
  expect(traceId).not.toMatch(/^(?:0+|a+)$/)
  const [request] = named(await traceWith(traceId, 'POST /items'), 'POST /items')
  expect(request?.parentSpanId).toBe('')
})

describe('off, as it is by default', () => {
  test('the work is done as it is: no span, no promise besides, no origin', async () => {
    expect(isTraced()).toBe(false)
    const work = Promise.resolve('done')
    expect(spanned('rule', 'createItem', () => work)).toBe(work)
    expect(openSpan('SERVER', 'request', { traceparent: caller().traceparent })).toBe(undefined)
    expect(openPacket()).toBe(undefined)
    expect(originNow()).toBe(null)
  })

  test('nothing of a trace is kept with an event', async () => {
    const { traceparent } = caller()
    const made = await world.call(
      'POST',
      '/items',
      { container_id: boardId, type: 'TASK', title: 'untraced' },
      { headers: { traceparent } },
    )
    expect(made.status).toBe(201)
    const [event] = await world.sql`select origin from outbox_event where body like '%untraced%'`
    expect(event).toEqual({ origin: null })
  })

  test('no package of the SDK is loaded, also where the environment says that it is disabled', async () => {
    const off = await spawnDaemon({
      ...environment(),
      OTEL_SDK_DISABLED: 'true',
      ...hooked(`console.error('LOADED ' + specifier)`),
    })
    expect(off.address, off.stderr()).not.toBe('')
    off.process.kill('SIGTERM')
    await off.ended
    expect(off.stderr()).not.toContain('LOADED')
  })
})

test('without its packages a daemon does not start, and says what to install', async () => {
  const fail = `throw Object.assign(new Error('gone'), { code: 'ERR_MODULE_NOT_FOUND' })`
  const bare = await spawnDaemon({ ...environment(), ...hooked(fail) })
  expect(await bare.ended).toBe(2)
  expect(bare.stderr()).toContain('npm install @opentelemetry/sdk-trace-node')
})

/** Environment of a process that does this when a package of the SDK is asked for. */
function hooked(does: string): NodeJS.ProcessEnv {
  const hook = `import { registerHooks } from 'node:module'
    registerHooks({ resolve(specifier, context, next) {
      if (/^@opentelemetry\\/(sdk-trace-node|exporter)/.test(specifier)) { ${does} }
      return next(specifier, context)
    } })`
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(hook)}` }
}
