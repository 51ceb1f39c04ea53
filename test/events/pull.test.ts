/** Pulling events: the order, the place to go on from, and the text. Threats T-13; spec: Webhooks and event pull, rule 6. */
import { randomUUIDv7 } from 'node:crypto'
import type { ISql } from 'postgres'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { perform } from '../../src/core/app/perform.ts'
import { catalog } from '../../src/core/contract/event-catalog.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { asTenant } from '../../src/core/kernel/database/roles.ts'
import {
  adminOf,
  emitLabel,
  eventHubId,
  layEventHub,
  namesIn,
  numberEvents,
  pullAll,
  pulledType,
  pullPage,
  system,
  writeLabels,
} from '../kit/events.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { visitedByPull } from '../kit/pulled-plan.ts'

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

/** A change that has recorded its events, and commits or not when it is told to. */
function openChange(tenantId: string, ...names: string[]) {
  const end = Promise.withResolvers<'commit' | 'rollback'>()
  const written = Promise.withResolvers<void>()
  const over = own.installation
    .transaction(system, { tenantId }, async (ctx) => {
      for (const name of names) await emitLabel(ctx, name)
      await ctx.tx`select pg_current_xact_id()`
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

/** Writes an event as the release before the counter did: without a number. */
async function writeUnnumbered(sql: ISql, id: string, name: string): Promise<void> {
  await sql.unsafe(asTenant(id))
  await sql`
    insert into outbox_event (tenant_id, id, type, body)
    values (${id}, ${randomUUIDv7()}, ${pulledType}, ${JSON.stringify({ data: { name } })})`
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
  test('who writes events waits for the one that has the counter, and comes behind it', async () => {
    const { id, since } = await quiet()
    const first = await own.oracle.reserve()
    await first`begin`
    await writeUnnumbered(first, id, 'early')
    const late = writeLabels(own.installation, id, 'late')
    const isLate = vi.fn()
    void late.then(isLate)
    await vi.waitFor(async () => {
      const waiting = await own.oracle`
        select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%into outbox_event%'`
      expect(waiting).toHaveLength(1)
    }, 10_000)
    const before = await pullPage(own.installation, id, { since })
    expect(namesIn(before)).toEqual([])
    expect(isLate).not.toHaveBeenCalled()

    await first`commit`
    first.release()
    await late
    expect(namesIn(await pullPage(own.installation, id, { since: before.next_since }))).toEqual(['early', 'late'])
    expect(namesIn(await pullPage(own.installation, id, { since }))).toEqual(['early', 'late'])
  })

  test('a change that has recorded its events holds nobody up, and its events come behind those committed before', async () => {
    const { id, since } = await quiet()
    const open = openChange(id, 'recorded first')
    await open.written
    await writeLabels(own.installation, id, 'committed first')
    const page = await pullPage(own.installation, id, { since })
    expect(namesIn(page)).toEqual(['committed first'])

    await open.end('commit')
    expect(namesIn(await pullPage(own.installation, id, { since: page.next_since }))).toEqual(['recorded first'])
  })

  test('a transaction of something else in the database holds nobody up', async () => {
    const { id, since } = await quiet()
    await own.oracle.begin(async (sql) => {
      await sql`select pg_current_xact_id()`
      await writeLabels(own.installation, id, 'a')
      expect(namesIn(await pullPage(own.installation, id, { since }))).toEqual(['a'])
    })
  })

  test('one that is rolled back leaves no gap and nothing else behind', async () => {
    const { id, since } = await quiet()
    const open = openChange(id, 'never')
    await open.written
    const before = await pullPage(own.installation, id, { since })
    await open.end('rollback')
    await expect(
      own.oracle.begin(async (sql) => {
        await writeUnnumbered(sql, id, 'never')
        throw new Error('rolled back')
      }),
    ).rejects.toThrow('rolled back')
    await writeLabels(own.installation, id, 'late')
    expect(namesIn(await pullPage(own.installation, id, { since: before.next_since }))).toEqual(['late'])
    const [numbers] = await own.oracle`
      select count(*)::int as events, (max(seq) - min(seq) + 1)::int as numbers, max(seq) = (select last from outbox_counter where tenant_id = ${id}) as is_last
      from outbox_event where tenant_id = ${id}`
    expect(numbers).toMatchObject({ numbers: numbers!['events'], is_last: true })
  })

  test('what a rolled back savepoint recorded is not written', async () => {
    const { id, since } = await quiet()
    await own.installation.transaction(system, { tenantId: id }, async (ctx) => {
      await emitLabel(ctx, 'before')
      const refused = ctx.savepoint(async () => {
        await emitLabel(ctx, 'undone')
        throw new Error('refused')
      })
      await expect(refused).rejects.toThrow('refused')
      await ctx.savepoint(() => emitLabel(ctx, 'kept'))
    })
    expect((await pullAll(own.installation, id, since)).names).toEqual(['before', 'kept'])
  })

  test('a transaction records events of several workspaces, each in the order of its own', async () => {
    const all = [await quiet(), await quiet()]
    await own.installation.transaction(system, {}, async (ctx) => {
      for (const name of ['a', 'b', 'c'])
        for (const { id } of all) await ctx.inWorkspace(id, () => emitLabel(ctx, name))
    })
    for (const { id, since } of all) expect((await pullAll(own.installation, id, since)).names).toEqual(['a', 'b', 'c'])
  })

  test('hundreds of events of one transaction keep their order', async () => {
    const { id, since } = await quiet()
    const names = Array.from({ length: 250 }, (_, n) => String(n))
    await writeLabels(own.installation, id, ...names)
    expect((await pullAll(own.installation, id, since)).names).toEqual(names)
  })

  test('a cursor goes on from the events of before the counter to those that it has numbered', async () => {
    const { id } = await quiet()
    await own.oracle`delete from outbox_event where tenant_id = ${id}`
    await writeLabels(own.installation, id, 'second', 'first', 'new')
    // As they were before: in the order of their transactions' numbers, and of a sequence of the whole database.
    for (const [name, tx, seq] of [
      ['first', '811', '905'],
      ['second', '812', '904'],
    ] as const)
      await own.oracle`
        update outbox_event set tx = ${tx}::xid8, seq = ${seq} where tenant_id = ${id} and body::jsonb -> 'data' ->> 'name' = ${name}`
    const page = await pullPage(own.installation, id, { limit: 1 })
    expect(namesIn(page)).toEqual(['first'])
    expect((await pullAll(own.installation, id, page.next_since, 1)).names).toEqual(['second', 'new'])
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
    await own.oracle`
      with before as (${numberEvents(own.oracle, id, 1)})
      insert into outbox_event (tenant_id, id, seq, type, body) select ${id}, ${randomUUIDv7()}, last + 1, ${pulledType}, ${odd} from before`
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
  test('of a page is the page, however much lies before and behind it, and was restored', async () => {
    const { id, since } = await quiet()
    const fill = (name: string, isRestored = false) => own.oracle`
      with before as (${numberEvents(own.oracle, id, 3000)})
      insert into outbox_event (tenant_id, id, seq, type, is_restored, body)
      select ${id}, uuidv7(), last + n, ${pulledType}, ${isRestored}, json_build_object('data', json_build_object('name', ${name}::text))
      from before, generate_series(1, 3000) n`
    await fill('before')
    const middle = (await pullAll(own.installation, id, since, 200)).next
    await fill('restored', true)
    await fill('answered')
    await own.oracle`vacuum analyze outbox_event`
    for (const place of [since, middle])
      for (const role of ['ADMIN', 'OWNER'] as const)
        expect(await visitedByPull(own, id, place, role)).toEqual({
          ...{ unordered: [], rows: 11, filtered: 0, sorted: [] },
        })
    const { next } = await pullAll(own.installation, id, middle, 200)
    expect(await visitedByPull(own, id, next, 'ADMIN')).toMatchObject({ rows: 0, filtered: 0 })
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
