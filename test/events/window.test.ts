/** The window of the outbox: what is past it goes, what a delivery waits for stays, and no cursor misses anything. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sweepOutbox } from '../../src/core/areas/events/retention.ts'
import { agedEvents, namesIn, pullAll, pullPage, writeLabels } from '../kit/events.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

let own: TestInstallation
beforeAll(async () => {
  own = await testInstallation()
})
afterAll(() => own.close())

const sweep = () => sweepOutbox.run(own.installation, {})
const kept = async (tenantId: string) =>
  (
    await own.oracle<{ days: number; count: number }[]>`
      select floor(extract(epoch from now() - occurred_at) / 86400)::int as days, count(*)::int as count
      from outbox_event where tenant_id = ${tenantId} and type <> 'svc.work.tenant.provisioned.v1' group by 1 order by 1 desc`
  ).map(({ days, count }) => [days, count])

async function emptied(): Promise<string> {
  const { tenant } = await own.provision()
  await own.oracle`delete from outbox_event where tenant_id = ${tenant.id}`
  return tenant.id
}

test('events of months past the window go, in batches, in every workspace that has some', async () => {
  const [one, two, none] = [await emptied(), await emptied(), await emptied()]
  await agedEvents(own.oracle, one, 2500, 62)
  await agedEvents(own.oracle, one, 7, 29)
  await agedEvents(own.oracle, two, 3, 400)
  await agedEvents(own.oracle, none, 5, 0)
  await sweep()
  expect([await kept(one), await kept(two), await kept(none)]).toEqual([[[29, 7]], [], [[0, 5]]])
  const marks = await own.oracle`select tenant_id from outbox_watermark order by tenant_id`
  expect(marks.map(({ tenant_id }) => tenant_id as string)).toEqual([one, two].sort())
})

test('an event past the window stays until its month is past it, and is not answered', async () => {
  const id = await emptied()
  await agedEvents(own.oracle, id, 2, 31)
  const early = await pullPage(own.installation, id, { limit: 1 })
  await agedEvents(own.oracle, id, 3, 29)
  const isSameMonth = new Date(Date.now() - 30 * 86_400_000).getUTCDate() > 1
  await sweep()
  expect(await kept(id)).toEqual([...(isSameMonth ? [[31, 2]] : []), [29, 3]])
  expect((await pullAll(own.installation, id)).names).toEqual(['1', '2', '3'])
  await expect(pullPage(own.installation, id, { since: early.next_since })).rejects.toMatchObject({ code: 'gone' })
})

test('no event is passed twice, and all are that came since, although their numbers are in another order', async () => {
  const id = await emptied()
  await agedEvents(own.oracle, id, 12_000, 31)
  await own.oracle`update outbox_event set seq = 20000 - abs(seq - 6000) where tenant_id = ${id}`
  await sweep()
  const [mark] = await own.oracle`select seq, passed_id from outbox_watermark where tenant_id = ${id}`
  const [last] = await own.oracle`select max(seq) as seq, max(id::text) as id from outbox_event where tenant_id = ${id}`
  expect(mark).toEqual({ seq: last!['seq'], passed_id: last!['id'] })

  await own.oracle`insert into outbox_event (tenant_id, id, seq, type, body) values (${id}, uuidv7(interval '-30 days -1 hour'), 30000, 't', '{}')`
  await sweep()
  const [moved] = await own.oracle`select seq from outbox_watermark where tenant_id = ${id}`
  expect(moved!['seq']).toBe('30000')
})

test('an event that a delivery is on its way with stays, and is not answered', async () => {
  const id = await emptied()
  await agedEvents(own.oracle, id, 4, 70)
  const events = await own.oracle<{ id: string }[]>`select id from outbox_event where tenant_id = ${id} order by id`
  const deliver = (eventId: string, finished: boolean) => own.oracle`
    insert into delivery (tenant_id, id, webhook_id, event_id, event_type, cause, status, due_at, finished_at)
    values (${id}, ${randomUUIDv7()}, ${randomUUIDv7()}, ${eventId}, 'svc.work.label.created.v1', 'EVENT', ${finished ? 'SUCCEEDED' : 'FAILED'},
            ${finished ? null : own.oracle`now()`}, ${finished ? own.oracle`now()` : null})`
  await deliver(events[1]!.id, true)
  await deliver(events[2]!.id, true)
  await deliver(events[2]!.id, false)
  await sweep()
  const left = await own.oracle`select id from outbox_event where tenant_id = ${id}`
  expect(left.map((event) => event['id'] as string)).toEqual([events[2]!.id])
  expect((await pullPage(own.installation, id)).data).toEqual([])

  await own.oracle`update delivery set status = 'DEAD_LETTER', due_at = null, finished_at = now() where tenant_id = ${id} and finished_at is null`
  await sweep()
  expect(await kept(id)).toEqual([])
})

test('a cursor before what was removed is gone; one behind it goes on, and a new reader begins with what is kept', async () => {
  const id = await emptied()
  await agedEvents(own.oracle, id, 3, 31)
  const early = await pullPage(own.installation, id, { limit: 1 })
  await writeLabels(own.installation, id, 'a')
  const late = await pullAll(own.installation, id, early.next_since)
  expect(late.names).toEqual(['2', '3', 'a'])
  await sweep()
  await writeLabels(own.installation, id, 'b')

  await expect(pullPage(own.installation, id, { since: early.next_since })).rejects.toMatchObject({
    code: 'gone',
    status: 410,
  })
  expect((await pullAll(own.installation, id, late.next)).names).toEqual(['b'])
  expect((await pullAll(own.installation, id)).names).toEqual(['a', 'b'])
})

test('who polls an idle workspace is never told that a cursor is gone', async () => {
  const id = await emptied()
  await agedEvents(own.oracle, id, 2, 31)
  let { names, next } = await pullAll(own.installation, id)
  expect(names).toEqual(['1', '2'])
  await sweep()
  for (let poll = 0; poll < 3; poll += 1) {
    const page = await pullPage(own.installation, id, { since: next })
    expect(namesIn(page)).toEqual([])
    next = page.next_since
  }
})
