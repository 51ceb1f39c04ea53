/** Pulling events: the order, the place to go on from, and the text. Threats T-13; spec: Webhooks and event pull, rule 6. */
import { randomUUIDv7 } from 'node:crypto'
import type { Sql } from 'postgres'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { recorded } from '../../bench/recording.ts'
import { perform, performForAnswer } from '../../src/core/app/perform.ts'
import { catalog } from '../../src/core/contract/event-catalog.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { asTenant } from '../../src/core/kernel/database/roles.ts'
import { testDatabase } from '../kit/database.ts'
import {
  adminOf,
  emitLabel,
  eventHubId,
  layEventHub,
  namesIn,
  pullAll,
  pulledType,
  pullPage,
  system,
  writeLabels,
} from '../kit/events.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

let own: TestInstallation
beforeAll(async () => {
  own = await testInstallation()
})
afterAll(() => own.close())

/** A workspace whose starter board has been pulled already, and the cursor behind it. */
async function quiet(): Promise<{ id: string; since: string }> {
  const { tenant } = await own.provision()
  await own.installation.transaction(system, { tenantId: tenant.id }, (ctx) => layEventHub(ctx, tenant.id))
  const { next } = await pullAll(own.installation, tenant.id)
  return { id: tenant.id, since: next }
}

/** A transaction that stays open until it is told how to end. */
function openTransaction(tenantId: string, ...names: string[]) {
  const end = Promise.withResolvers<'commit' | 'rollback'>()
  const written = Promise.withResolvers<void>()
  const over = own.installation
    .transaction(system, { tenantId }, async (ctx) => {
      for (const name of names) await emitLabel(ctx, name)
      await ctx.tx.settled() // an event is not waited for, and it is the event that gives the transaction its place
      written.resolve()
      if ((await end.promise) === 'rollback') throw new Error('rolled back')
    })
    .catch((error: Error) => {
      if (error.message !== 'rolled back') throw error
    })
  return {
    written: written.promise,
    async end(how: 'commit' | 'rollback') {
      end.resolve(how)
      await over
    },
  }
}

/** With another `outbox_horizon()` meanwhile, made of the text of the real one. */
async function withHorizon<T>(change: (text: string) => string, work: () => Promise<T>): Promise<T> {
  const [horizon] = await own.oracle<{ text: string }[]>`select pg_get_functiondef('outbox_horizon'::regproc) as text`
  await own.oracle.unsafe(change(horizon!.text))
  try {
    return await work()
  } finally {
    await own.oracle.unsafe(horizon!.text)
  }
}

/** How many wait for the advisory lock 1 of this database: others of the cluster have theirs. */
async function waitAtGate(sql: Sql): Promise<number> {
  const waiting = await sql`
    select from pg_locks l join pg_database d on d.oid = l.database
    where d.datname = current_database() and l.locktype = 'advisory' and l.objid = 1 and not l.granted`
  return waiting.length
}

describe('pages', () => {
  test('begin with the oldest event kept, and go on where the last one ended', async () => {
    const { tenant } = await own.provision()
    await writeLabels(own.installation, tenant.id, 'a', 'b', 'c')
    const all = await pullAll(own.installation, tenant.id)
    expect(all.names.slice(-3)).toEqual(['a', 'b', 'c'])
    expect((await pullAll(own.installation, tenant.id, undefined, 1)).names).toEqual(all.names)

    await writeLabels(own.installation, tenant.id, 'd')
    expect((await pullAll(own.installation, tenant.id, all.next)).names).toEqual(['d'])
  })

  test('a cursor answers the same as often as it is used, and then what came behind it', async () => {
    const { id, since } = await quiet()
    await writeLabels(own.installation, id, 'a', 'b')
    const page = () => pullPage(own.installation, id, { since, limit: 1 })
    expect(namesIn(await page())).toEqual(['a'])
    expect(namesIn(await page())).toEqual(['a'])
    expect(await page()).toMatchObject({ has_more: true })
    expect(namesIn(await pullPage(own.installation, id, { since: (await page()).next_since, limit: 200 }))).toEqual([
      'b',
    ])
  })

  test('a page that ends where the events do says so, and an empty one has a place to go on from', async () => {
    const { id, since } = await quiet()
    const empty = await pullPage(own.installation, id, { since })
    expect(empty).toMatchObject({
      data: [],
      has_more: false,
      next_since: expect.stringMatching(/^[A-Za-z0-9_-]{40,}$/),
    })
    await writeLabels(own.installation, id, 'a', 'b')
    const exact = await pullPage(own.installation, id, { since: empty.next_since, limit: 2 })
    expect(namesIn(exact)).toEqual(['a', 'b'])
    expect(exact.has_more).toBe(false)
    expect(await pullPage(own.installation, id, { since: exact.next_since })).toMatchObject({
      data: [],
      has_more: false,
    })
  })

  test('may begin behind all that there is', async () => {
    const { id } = await quiet()
    await writeLabels(own.installation, id, 'old')
    const now = await pullPage(own.installation, id, { since: 'now' })
    expect(now).toMatchObject({ data: [], has_more: false })
    await writeLabels(own.installation, id, 'new')
    expect(namesIn(await pullPage(own.installation, id, { since: now.next_since }))).toEqual(['new'])
  })

  test("answer one type of one workspace's events", async () => {
    const [one, two] = [await quiet(), await quiet()]
    await writeLabels(own.installation, two.id, 'theirs')
    expect(await pullPage(own.installation, one.id, { since: one.since })).toMatchObject({ data: [] })
    const provisioned = await pullPage(own.installation, one.id, { eventType: 'svc.work.tenant.provisioned.v1' })
    expect(provisioned.data.map(({ type, source }) => [type, source])).toEqual([
      ['svc.work.tenant.provisioned.v1', `/tenants/${one.id}`],
    ])
  })

  test('a type that no event has is not found; one that nothing has happened of is empty', async () => {
    const { id } = await quiet()
    for (const eventType of [
      'other.work.label.created.v1',
      'svc.work.label.created.v2',
      'svc.work.label.painted.v1',
      'svc.a.b.c.v1',
    ])
      await expect(pullPage(own.installation, id, { eventType }), eventType).rejects.toMatchObject({
        code: 'not_found',
      })
    expect(await pullPage(own.installation, id, { eventType: 'svc.lifecycle.hold.placed.v1' })).toMatchObject({
      data: [],
    })
  })

  test('what a restore wrote is never answered', async () => {
    const { id, since } = await quiet()
    await writeLabels(own.installation, id, 'first', 'restored', 'last')
    await own.oracle`update outbox_event set is_restored = true where tenant_id = ${id} and body like '%"restored"%'`
    expect((await pullAll(own.installation, id, since)).names).toEqual(['first', 'last'])
    expect((await pullAll(own.installation, id)).names).not.toContain('restored')
  })
})

describe('order', () => {
  test('an event is not answered while a transaction is open that could write one before it', async () => {
    const { id, since } = await quiet()
    const early = openTransaction(id, 'early')
    await early.written
    await writeLabels(own.installation, id, 'late')
    const before = await pullPage(own.installation, id, { since })
    expect(namesIn(before)).toEqual([])

    await early.end('commit')
    expect(namesIn(await pullPage(own.installation, id, { since: before.next_since }))).toEqual(['early', 'late'])
    expect(namesIn(await pullPage(own.installation, id, { since }))).toEqual(['early', 'late'])
  })

  test('one that is rolled back leaves no gap and nothing else behind', async () => {
    const { id, since } = await quiet()
    const early = openTransaction(id, 'never')
    await early.written
    await writeLabels(own.installation, id, 'late')
    const before = await pullPage(own.installation, id, { since })
    await early.end('rollback')
    expect(namesIn(await pullPage(own.installation, id, { since: before.next_since }))).toEqual(['late'])
  })

  test('another database of the cluster holds nobody up', async () => {
    const { id, since } = await quiet()
    const other = await testDatabase()
    await other.sql.begin(async (sql) => {
      const [running] = await sql<{ tx: string }[]>`select pg_current_xact_id()::text as tx`
      await writeLabels(own.installation, id, 'a')
      const [snapshot] = await own.oracle<{ is_running: boolean }[]>`
        select not pg_visible_in_snapshot(${running!.tx}::xid8, pg_current_snapshot()) as is_running`
      expect(snapshot).toEqual({ is_running: true })
      expect(namesIn(await pullPage(own.installation, id, { since }))).toEqual(['a'])
    })
    await other.drop()
  })

  test('one of another database that ends between the snapshot and the look for it holds nobody up either', async () => {
    const { id, since } = await quiet()
    const [other, gate] = await Promise.all([testDatabase(), own.oracle.reserve()])
    await gate`select pg_advisory_lock(1)`
    // The page's statement has its snapshot when it comes to the gate, and looks who is running behind it.
    const gated = (text: string) => text.replace(/AS \$function\$/, '$& select pg_advisory_xact_lock_shared(1);')
    await withHorizon(gated, async () => {
      const { polled } = await other.sql.begin(async (sql) => {
        await sql`select pg_current_xact_id()`
        await writeLabels(own.installation, id, 'a')
        const polled = pullPage(own.installation, id, { since })
        await vi.waitFor(async () => expect(await waitAtGate(gate)).toBe(1), 10_000)
        return { polled }
      })
      await gate`select pg_advisory_unlock(1)`
      expect(namesIn(await polled)).toEqual(['a'])
    })
    gate.release()
    await other.drop()
  })

  test('a transaction of another database that was passed over and then holds repeats nothing', async () => {
    const { id, since } = await quiet()
    const [before] = await own.oracle<{ tx: string }[]>`select pg_current_xact_id()::text as tx`
    await writeLabels(own.installation, id, 'a')
    const page = await pullPage(own.installation, id, { since })
    expect(namesIn(page)).toEqual(['a'])
    // What the horizon says once such a transaction is prepared, and so in no list of the running any more.
    const atBefore = `create or replace function outbox_horizon() returns xid8 language sql stable as $$ select '${before!.tx}'::xid8 $$`
    const held = await withHorizon(
      () => atBefore,
      () => pullPage(own.installation, id, { since: page.next_since }),
    )
    expect(namesIn(held)).toEqual([])

    await writeLabels(own.installation, id, 'b')
    expect(namesIn(await pullPage(own.installation, id, { since: held.next_since }))).toEqual(['b'])
  })

  test('a page that was cut in the middle of a transaction goes on within it', async () => {
    const { id, since } = await quiet()
    await writeLabels(own.installation, id, 'a', 'b', 'c')
    await writeLabels(own.installation, id, 'd')
    expect((await pullAll(own.installation, id, since, 1)).names).toEqual(['a', 'b', 'c', 'd'])
  })
})

describe('the text', () => {
  test('is the stored one, byte for byte', async () => {
    const { id, since } = await quiet()
    await writeLabels(own.installation, id, '\u2028 Zoë "\\" 🏷 </script>', '__proto__')
    // What a parser in between would write differently: large numbers, the order of members, spaces, escapes.
    const odd = String.raw`{"specversion":"1.0", "id":"${randomUUIDv7()}","n":90071992547409931234,"f":1.0,"10":1,"2":2,"e":"\u00e9"}`
    await own.oracle`insert into outbox_event (tenant_id, id, type, body) values (${id}, ${randomUUIDv7()}, ${pulledType}, ${odd})`
    const stored = await own.oracle<{ body: string }[]>`
      select body from outbox_event where tenant_id = ${id} and type = ${pulledType} order by tx, seq`

    const { body } = await perform(own.installation, operations.pullEvents, adminOf(id), {
      params: { eventType: pulledType },
      query: { since },
    })
    const texts = stored.slice(-3).map((event) => event.body)
    expect(body?.startsWith(`{"data":[${texts.join(',')}],"next_since":"`)).toBe(true)
    expect(texts[2]).toBe(odd)
  })

  test('of an event has what its type declares and nothing else', async () => {
    const { id, since } = await quiet()
    const label = { id: randomUUIDv7(), container_id: eventHubId, name: 'Urgent', color_token: 'red' }
    const withMore = { ...label, secret: 'not declared' }
    await own.installation.transaction(system, { tenantId: id }, (ctx) =>
      ctx.emit({
        name: 'work.label.created',
        data: withMore,
      }),
    )
    const [event] = (await pullPage(own.installation, id, { since })).data
    expect(event?.data).toEqual(label)
    expect(event).toMatchObject({
      specversion: '1.0',
      type: pulledType,
      actor: 'system',
      datacontenttype: 'application/json',
    })
    expect(operations.pullEvents.success.answer.shape.data.element.safeParse(event).success).toBe(true)
  })
})

describe('the cost', () => {
  /** What the page's statement visits, as PostgreSQL counts it. */
  async function visited(id: string, since: string, role: 'ADMIN' | 'OWNER') {
    const [statement] = (
      await recorded(own.installation, (installation) =>
        performForAnswer(
          installation,
          operations.pullEvents,
          { ...adminOf(id), role },
          { eventType: pulledType, since, limit: 10 },
        ),
      )
    ).filter(({ text }) => text.includes('outbox_event'))
    const { text, values } = statement!
    const [row] = await own.installation.pool.transaction(
      asTenant(id),
      (tx) =>
        tx.text<{ 'QUERY PLAN': [{ Plan: Plan }] }[]>(`explain (analyze, format json, timing off) ${text}`, values),
      { readOnly: true },
    )
    const scan = scanOf(row!['QUERY PLAN'][0].Plan)
    return { index: scan?.['Index Name'], rows: scan?.['Actual Rows'], filtered: scan?.['Rows Removed by Filter'] ?? 0 }
  }

  interface Plan {
    readonly 'Relation Name'?: string
    readonly 'Index Name'?: string
    readonly 'Actual Rows': number
    readonly 'Rows Removed by Filter'?: number
    readonly Plans?: readonly Plan[]
  }
  const scanOf = (plan: Plan): Plan | undefined =>
    plan['Relation Name'] === 'outbox_event' ? plan : plan.Plans?.map(scanOf).find((found) => found !== undefined)

  test('of a page is the page, however much lies before, behind, above the horizon, and was restored', async () => {
    const { id, since } = await quiet()
    const fill = (name: string, isRestored = false) => own.oracle`
      insert into outbox_event (tenant_id, id, type, is_restored, body)
      select ${id}, uuidv7(), ${pulledType}, ${isRestored}, json_build_object('data', json_build_object('name', ${name}::text)) from generate_series(1, 3000)`
    await fill('before')
    const middle = (await pullAll(own.installation, id, since, 200)).next
    await fill('restored', true)
    await fill('answered')
    const holding = openTransaction(id, 'open')
    await holding.written
    await fill('above')
    await own.oracle`vacuum analyze outbox_event`
    try {
      for (const place of [since, middle])
        for (const role of ['ADMIN', 'OWNER'] as const)
          expect(await visited(id, place, role)).toEqual({ index: 'outbox_event_answered', rows: 11, filtered: 0 })
      const { next } = await pullAll(own.installation, id, middle, 200)
      expect(await visited(id, next, 'ADMIN'), 'while a transaction is open').toMatchObject({ rows: 0, filtered: 0 })
    } finally {
      await holding.end('rollback')
    }
  })
})

test('the types there are can be read by anybody, with schemas and examples that fit', async () => {
  const { data } = await own.asRecovery(operations.listEventTypes)
  expect(data.map(({ type }) => type)).toEqual(Object.keys(catalog).map((name) => `svc.${name}.v1`))
  for (const { type, example, subject, data_schema } of data) {
    expect(example.type).toBe(type)
    expect(example.subject).toMatch(new RegExp(`^${subject.replaceAll(/\{[a-z_]+\}/g, '[0-9a-f-]{36}')}$`))
    expect(Object.keys(data_schema['properties'] as object)).toEqual(expect.arrayContaining(Object.keys(example.data)))
  }
})
