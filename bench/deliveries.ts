/**
 * Deliveries: the whole path from rows to a receiver's 204 and back into rows, against a bare loop
 * that signs and posts the same bytes as many at a time; the time from a change to the receipt of
 * its event; and the cost for a healthy target of a dead target with a long queue. The receivers
 * run in their own process.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import postgres from 'postgres'
import { Agent, request } from 'undici'
import { type Dispatcher, startDispatcher } from '../src/core/areas/webhooks/dispatch/dispatcher.ts'
import { productLimits } from '../src/core/areas/webhooks/dispatch/lanes.ts'
import { addSecret } from '../src/core/areas/webhooks/secret.ts'
import { postgresOptions } from '../src/core/kernel/database/address.ts'
import { openEgress } from '../src/core/kernel/egress/client.ts'
import { type Release, readRelease } from '../src/core/kernel/egress/guard.ts'
import type { Ctx } from '../src/core/kernel/transaction/context.ts'
import { recoveryActor } from '../src/core/kernel/values/actor.ts'
import { newId } from '../src/core/kernel/values/id.ts'
import { type Ground, layGround } from './ground.ts'
import { type Server, startServer } from './processes.ts'
import { compare, median, throughput } from './rounds.ts'
import { ceilingLine, type Line, ratioLine } from './table.ts'

const workspaces = 4
const targetsEach = 5
/** So many that a round lasts for seconds and the start of the dispatcher does not count. */
const eventsEach = 3_000
const perRound = workspaces * targetsEach * eventsEach
/** As many as the dispatcher has under way at these targets. */
const width = workspaces * Math.min(targetsEach * productLimits.quick.target, productLimits.quick.workspace)
const rounds = 5
/** Asking takes the processors from what is measured. */
const askedEveryMs = 25
const samples = 300
const deadQueue = 100_000

const type = 'svc.work.label.created.v1'
const id = (n: number) => `0199c0de-0000-7000-8000-${String(n).padStart(12, '0')}`

export async function deliveries(): Promise<Line[]> {
  const ground = await layGround()
  const receiver = await startServer([process.execPath, join(import.meta.dirname, 'receiving-server.ts')])
  const egress = openEgress({ release: readRelease('127.0.0.1') as Release, own: [] })
  const bench = new Bench(ground, receiver)
  const dispatch = () =>
    startDispatcher(ground.installation, egress, {
      onFailure: (what, error) => process.stderr.write(`${what}: ${error}\n`),
    })
  try {
    return [...(await throughputLine(bench, dispatch)), ...(await latencyLines(bench, dispatch))]
  } finally {
    await egress.close()
    await bench.sql.end()
    await receiver.stop()
    await ground.remove()
  }
}

async function throughputLine(bench: Bench, dispatch: () => Dispatcher): Promise<Line[]> {
  const tenants = [bench.ground.tenantId]
  while (tenants.length < workspaces) tenants.push(await bench.workspace(`bench-${tenants.length}`))
  for (const tenantId of tenants)
    for (let n = 0; n < targetsEach; n += 1) await bench.webhook(tenantId, `/${tenantId}/${n}`)
  const agent = new Agent({ connections: width })
  const key = randomBytes(32)
  const body = Buffer.from(await bench.emit(tenants[0] as string, eventsEach))
  await bench.drained(dispatch)

  const compared = await compare(
    async () => {
      for (const tenantId of tenants) await bench.emit(tenantId, eventsEach)
      const before = await bench.received()
      const started = performance.now()
      const dispatcher = dispatch()
      await bench.until(before + perRound)
      const seconds = (performance.now() - started) / 1000
      await dispatcher.close()
      return perRound / seconds
    },
    () =>
      throughput(perRound, width, async () => {
        const headers = bareHeaders(key, body)
        const answer = await request(`${bench.receiver.address}/bare`, {
          method: 'POST',
          headers,
          body,
          dispatcher: agent,
        })
        await answer.body.dump()
      }),
    rounds,
  )
  await agent.close()
  const what = `deliveries, ${width} at a time (claimed, signed, posted, recorded)`
  return [ratioLine(what, { ...compared, unit: '/s' }, 'at least', 0.55)]
}

async function latencyLines(bench: Bench, dispatch: () => Dispatcher): Promise<Line[]> {
  const tenantId = await bench.workspace('bench-light')
  await bench.webhook(tenantId, '/light')
  const dispatcher = dispatch()
  await bench.latencies(tenantId, '/light', 50)
  const alone = (await bench.latencies(tenantId, '/light', samples)).sort((a, b) => a - b)
  await bench.deadQueue(tenantId, deadQueue)
  await dispatcher.look()
  const beside = await bench.latencies(tenantId, '/light', samples)
  await dispatcher.close()
  const p99 = alone[Math.floor(alone.length * 0.99)] ?? Number.POSITIVE_INFINITY
  const compared = { ours: median(beside), bare: median(alone), unit: 'ms' }
  return [
    ceilingLine('deliveries: change to receipt at light load, median', median(alone), 'ms', 25),
    ceilingLine('deliveries: change to receipt at light load, 99th percentile', p99, 'ms', 150),
    ratioLine(`deliveries: the same beside ${deadQueue} to a dead target`, compared, 'at most', 1.5),
  ]
}

/** Standard Webhooks, in the simplest code. */
function bareHeaders(key: Buffer, body: Buffer): Record<string, string> {
  const id = newId()
  const at = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', key).update(`${id}.${at}.`).update(body).digest('base64')
  return {
    'content-type': 'application/cloudevents+json; charset=utf-8',
    'webhook-id': id,
    'webhook-timestamp': at,
    'webhook-signature': `v1,${signature}`,
  }
}

class Bench {
  readonly ground: Ground
  readonly receiver: Server
  readonly sql: postgres.Sql

  constructor(ground: Ground, receiver: Server) {
    this.ground = ground
    this.receiver = receiver
    this.sql = postgres({ ...postgresOptions(ground.superuser), max: 1, onnotice: () => undefined })
  }

  async workspace(slug: string): Promise<string> {
    const tenantId = newId()
    await this.sql`
      insert into tenant (id, slug, display_name, default_locale, default_time_zone) values (${tenantId}, ${slug}, ${slug}, 'en', 'UTC')`
    return tenantId
  }

  webhook(tenantId: string, path: string, origin = this.receiver.address): Promise<string> {
    return this.within(tenantId, async (ctx) => {
      const webhookId = newId()
      await ctx.tx`
        insert into container (tenant_id, id, kind, name, rank) values (${tenantId}, ${id(1)}, 'HUB', 'Events', 'a0')
        on conflict (tenant_id, id) do nothing`
      await ctx.tx`
        insert into webhook (tenant_id, id, target_url, host, event_types)
        values (${tenantId}, ${webhookId}, ${`${origin}${path}`}, ${new URL(origin).host}, ${ctx.tx.json([type])})`
      await addSecret(ctx, tenantId, webhookId)
      return webhookId
    })
  }

  /** Commits events and answers the text of one. */
  emit(tenantId: string, count: number): Promise<string> {
    return this.within(tenantId, async (ctx) => {
      await ctx.emit(...Array.from({ length: count }, (_, n) => event(n)))
      const [row] = await ctx.tx<{ body: string }[]>`
        select body from outbox_event where tenant_id = ${tenantId} and type = ${type} order by tx desc limit 1`
      return row?.body ?? ''
    })
  }

  async received(): Promise<number> {
    return (await this.read('/')) as number
  }

  async until(count: number): Promise<void> {
    while ((await this.received()) < count) await pause(askedEveryMs)
  }

  async drained(dispatch: () => Dispatcher): Promise<void> {
    const dispatcher = dispatch()
    await this.until(targetsEach * eventsEach)
    await dispatcher.close()
  }

  /**
   * Milliseconds from the beginning of a transaction to its event's receipt, one event at a time. The event leaves with the
   * commit (decision 0176), so no moment between the two can be seen from here.
   */
  async latencies(tenantId: string, path: string, count: number): Promise<number[]> {
    const began: number[] = []
    const known = ((await this.read(path)) as number[]).length
    for (let n = 0; n < count; n += 1) {
      began.push(performance.timeOrigin + performance.now())
      await this.within(tenantId, (ctx) => ctx.emit(event(n)))
      while (((await this.read(path)) as number[]).length < known + n + 1) await pause(2)
      await pause(Math.random() * 10)
    }
    const received = ((await this.read(path)) as number[]).slice(known)
    return received.map((at, n) => at - (began[n] ?? 0))
  }

  /** Pending deliveries to a port on which no process listens. */
  async deadQueue(tenantId: string, count: number): Promise<void> {
    const webhookId = await this.webhook(tenantId, '/dead', 'http://127.0.0.1:9')
    await this.sql`
      insert into delivery (tenant_id, id, webhook_id, event_id, event_type, cause)
      select ${tenantId}, new_id(), ${webhookId}, (select id from outbox_event where tenant_id = ${tenantId} limit 1), ${type}, 'EVENT'
      from generate_series(1, ${count}::int)`
    await this.sql`analyze delivery`
  }

  private within<T>(tenantId: string, work: (ctx: Ctx) => Promise<T>): Promise<T> {
    return this.ground.installation.transaction(recoveryActor(), { tenantId }, work)
  }

  private async read(path: string): Promise<unknown> {
    const { body } = await request(`${this.receiver.address}${path}`)
    return body.json()
  }
}

const event = (n: number) => ({
  name: 'work.label.created' as const,
  subject: `/containers/${id(1)}/labels/${id(n)}`,
  data: { id: id(n), container_id: id(1), name: `Label ${n}`, color_token: 'red' },
})

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
