/**
 * An installation that delivers to loopback: its API, and a dispatcher in this process. The test moves the dispatcher's
 * clock.
 */
import { randomUUIDv7 } from 'node:crypto'
import { bootInstallation } from '../../src/core/app/boot.ts'
import {
  type Dispatcher,
  type DispatcherOptions,
  startDispatcher,
} from '../../src/core/areas/webhooks/dispatch/dispatcher.ts'
import type { Delivery } from '../../src/core/contract/webhooks/operations.ts'
import type { Config } from '../../src/core/kernel/config/config.ts'
import type { Egress } from '../../src/core/kernel/egress/client.ts'
import { type Release, readRelease } from '../../src/core/kernel/egress/guard.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import { type Answered, type TestDaemon, testDaemon } from './daemon.ts'
import { eventHubId, layEventHub } from './events.ts'
import { type Home, type Person, person, setUp, workspace } from './people.ts'

export const eventType = 'svc.work.label.created.v1'

export interface Subscribed {
  readonly id: string
  readonly secret: string
  readonly tenantId: string
  readonly token: string
}

export interface WebhookWorld {
  readonly daemon: TestDaemon
  readonly sql: TestDaemon['db']['sql']
  readonly home: Home
  readonly admin: Person
  readonly installation: Installation
  /** How far the clock of the deliveries is ahead. */
  ahead: number
  /** Failures that the dispatcher reported. */
  readonly failures: unknown[]
  dispatcher(): Dispatcher
  startDispatcher(options?: Partial<DispatcherOptions> & { webhookClient?: Pick<Egress, 'post'> }): Dispatcher
  call(
    method: string,
    path: string,
    body?: unknown,
    more?: { token?: string; headers?: Record<string, string> },
  ): Promise<Answered>
  /** Another workspace and its administrator. */
  another(slug: string): Promise<Person>
  subscribe(url: string, more?: { of?: Person; types?: readonly string[] }): Promise<Subscribed>
  /** Commits events of a workspace and answers their ids. */
  emit(tenantId: string, count?: number): Promise<string[]>
  deliveries(of: Subscribed, query?: string): Promise<Delivery[]>
  /** Waits until the condition holds; checks every few milliseconds. */
  until(what: string, holds: () => Promise<boolean>, withinMs?: number): Promise<void>
  close(): Promise<void>
}

/** Attempts that a dispatcher has under way. */
export const underWay = ({ inFlight }: Dispatcher) => inFlight.quick + inFlight.fresh + inFlight.slow

export const released = (text = '127.0.0.1') => readRelease(text) as Release

export async function webhookWorld(
  config: Partial<Config> = {},
  options: { readonly dispatches?: boolean } = {},
): Promise<WebhookWorld> {
  const daemon = await testDaemon({ role: 'api', config: { egress: released(), ...config } })
  const { sql } = daemon.db
  const home = await setUp(daemon)
  const admin = await person(daemon, home.tenantId, { role: 'ADMIN', expires: "now() + interval '1 day'" })
  await sql`insert into tenant_quota (tenant_id, quota, ceiling) values (${home.tenantId}, 'api_requests_per_minute', 0), (${home.tenantId}, 'webhook_targets', 0)`
  const booted = await bootInstallation(daemon.config, { works: false, applicationName: 'svc test' })
  const { installation } = booted
  const failures: unknown[] = []
  const started: Dispatcher[] = []

  const world: WebhookWorld = {
    daemon,
    sql,
    home,
    admin,
    installation,
    ahead: 0,
    failures,
    dispatcher: () => started.at(-1) as Dispatcher,
    startDispatcher({ webhookClient = guarded, ...more } = {}) {
      const dispatcher = startDispatcher(installation, webhookClient, {
        onFailure: (_, error) => failures.push(error),
        aheadSeconds: () => world.ahead,
        ...more,
      })
      started.push(dispatcher)
      return dispatcher
    },
    call: (method, path, body, { token = admin.token, headers = {} } = {}) =>
      daemon.call(method, `/api/v1${path}`, { token, headers, ...(body === undefined ? {} : { body }) }),
    async another(slug) {
      const tenantId = await workspace(daemon, slug)
      await sql`insert into tenant_quota (tenant_id, quota, ceiling) values (${tenantId}, 'api_requests_per_minute', 0), (${tenantId}, 'webhook_targets', 0)`
      return person(daemon, tenantId, { role: 'ADMIN', expires: "now() + interval '1 day'" })
    },
    async subscribe(url, { of = admin, types = [eventType] } = {}) {
      const made = await world.call(
        'POST',
        '/integrations/webhooks',
        { target_url: url, event_types: types },
        { token: of.token },
      )
      if (made.status !== 201) throw new Error(`a webhook was answered with ${made.status}: ${made.text}`)
      return { id: made.json.id, secret: made.json.secret, tenantId: of.tenantId, token: of.token }
    },
    emit: (tenantId, count = 1) => emit(installation, tenantId, count),
    async deliveries({ id, token }, query = '') {
      return (await world.call('GET', `/integrations/webhooks/${id}/deliveries${query}`, undefined, { token })).json
        .data
    },
    async until(what, holds, withinMs = 20_000) {
      const deadline = Date.now() + withinMs
      while (!(await holds())) {
        if (Date.now() > deadline) throw new Error(`did not come about: ${what}; ${failures.map(String).join('; ')}`)
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    },
    async close() {
      await Promise.all(started.map((dispatcher) => dispatcher.close()))
      await booted.close()
      await daemon.close()
    },
  }
  const guarded = await installation.egress()
  if (options.dispatches !== false) world.startDispatcher()
  return world
}

async function emit(installation: Installation, tenantId: string, count: number): Promise<string[]> {
  const id = (n: number) => `0199c0de-0000-7000-8000-${String(n).padStart(12, '0')}`
  const system = { kind: 'SYSTEM', job: 'test' } as const
  const batch = randomUUIDv7()
  await installation.transaction(system, { tenantId }, async (ctx) => {
    await layEventHub(ctx, tenantId)
    await ctx.emit(
      ...Array.from({ length: count }, (_, n) => ({
        name: 'work.label.created' as const,
        data: { id: id(n), container_id: eventHubId, name: `Label ${batch} “${n}”`, color_token: 'red' },
      })),
    )
  })
  return installation.transaction(system, { tenantId, readOnly: true }, async ({ tx }) => {
    const rows = await tx<{ id: string }[]>`
      select id from outbox_event where tenant_id = ${tenantId} and body like ${`%${batch}%`} order by tx, seq`
    return rows.map((row) => row.id)
  })
}
