/** What a legal hold keeps of the trash, and when time purges. Spec: items 3; keeping 1; decisions 0203 and 0204. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { performForAnswer } from '../../src/core/app/perform.ts'
import { removePurged } from '../../src/core/areas/items/trash/removal.ts'
import { sweepTrash } from '../../src/core/areas/items/trash/sweep.ts'
import type { Item } from '../../src/core/contract/items/operations.ts'
import type { HoldScope } from '../../src/core/contract/retention/operations.ts'
import { retentionOperations } from '../../src/core/contract/retention/operations.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { type TestClock, testClock } from '../kit/two-ways.ts'
import { type Desk, openDesk } from './desk.ts'

let desk: Desk
let installation: Installation
let clock: TestClock
let close: () => Promise<void>
beforeAll(async () => {
  desk = await openDesk()
  clock = testClock()
  const booted = await bootInstallation(desk.daemon.config, { works: false, applicationName: 'svc test', clock })
  ;({ installation } = booted)
  close = () => booted.close()
})
afterAll(async () => {
  await close()
  await desk.close()
})

const sql = () => desk.daemon.db.sql
const place = (scope: HoldScope) =>
  performForAnswer(installation, retentionOperations.placeHold, recoveryActor(), {
    body: { tenant_id: desk.tenantId, scope, reason: 'court' },
  })
const release = ({ id }: { readonly id: string }) =>
  performForAnswer(installation, retentionOperations.releaseHold, recoveryActor(), { holdId: id })
const destroy = () => removePurged.run(installation, { tenantId: desk.tenantId })
async function deleted(members: object = {}): Promise<Item> {
  const item = await desk.item({ label_ids: [desk.labels[0]], ...members })
  expect((await desk.ask(`DELETE /items/${item.id}`)).status).toBe(204)
  return item
}
const purge = async (item: Item) => expect((await desk.ask(`POST /items/${item.id}:purge`)).status).toBe(204)
/** Rows of an item and its label. */
const rowsOf = async ({ id }: { readonly id: string }) => {
  const [row] = await sql()`
    select (select count(*)::int from item where id = ${id}) as item, (select count(*)::int from item_label where item_id = ${id}) as labels`
  return [row!['item'], row!['labels']]
}

describe('a template that is deleted under a hold is in no answer, and its row stays until the release', () => {
  const make = async (container_id: string | null) => {
    const { status, json } = await desk.ask('POST /templates', {
      ...{ name: 'Kept', kind: 'ITEM', container_id, content: { items: [{ title: 'Words of somebody' }] } },
    })
    expect(status).toBe(201)
    return json as { readonly id: string; readonly created_by: string }
  }
  const isThere = async ({ id }: { readonly id: string }) =>
    (await sql()`select 1 from template where id = ${id}`).length
  const hub = async () => (await desk.ask(`GET /containers/${desk.collectionId}`)).json.parent_id as string
  type Made = Awaited<ReturnType<typeof make>>
  const scopes: readonly (readonly [string, HoldScope['kind'], (made: Made) => Promise<string | null>])[] = [
    ['the workspace', 'TENANT', async () => null],
    ['its container', 'CONTAINER', async () => desk.collectionId],
    ['the hub of its container', 'CONTAINER', hub],
    ['its maker', 'ACCOUNT', async ({ created_by }) => created_by],
  ]
  test.each(scopes)('a hold on %s', async (_, kind, idOf) => {
    const template = await make(desk.collectionId)
    const hold = await place({ kind, id: await idOf(template) })
    expect((await desk.ask(`DELETE /templates/${template.id}`)).status).toBe(204)
    for (const request of ['GET', 'DELETE'])
      expect((await desk.ask(`${request} /templates/${template.id}`)).status).toBe(404)
    expect((await desk.ask(`POST /templates/${template.id}:apply`, { container_id: desk.collectionId })).status).toBe(
      404,
    )
    expect((await desk.ask('GET /templates')).json.data).toEqual([])
    await destroy()
    expect(await isThere(template)).toBe(1)
    await release(hold)
    await destroy()
    expect(await isThere(template)).toBe(0)
  })

  test('without one it goes at once, as beside a hold on somebody else', async () => {
    const hold = await place({ kind: 'ACCOUNT', id: desk.people.COMMENTER.accountId })
    const templates = [await make(null), await make(desk.collectionId)]
    for (const template of templates) {
      expect((await desk.ask(`DELETE /templates/${template.id}`)).status).toBe(204)
      expect(await isThere(template)).toBe(0)
    }
    await release(hold)
  })
})

describe('a purge under a hold answers as any other, shows nothing, and its rows stay until the release', () => {
  const scopes: readonly (readonly [HoldScope['kind'], (item: Item) => string | null])[] = [
    ['TENANT', () => null],
    ['ITEM', ({ id }) => id],
    ['CONTAINER', ({ container_id }) => container_id],
    ['ACCOUNT', ({ created_by }) => created_by],
  ]
  test.each(scopes)('%s', async (kind, idOf) => {
    const item = await deleted()
    const hold = await place({ kind, id: idOf(item) })
    await purge(item)
    for (const request of ['GET /items/', 'POST /items/'] as const)
      expect((await desk.ask(`${request}${item.id}${request.startsWith('POST') ? ':restore' : ''}`)).status).toBe(404)
    await destroy()
    expect(await rowsOf(item)).toEqual([1, 1])
    await release(hold)
    const queued = await sql()`select data from pgboss.job where name = 'remove_purged' and state = 'created'`
    expect(queued.map(({ data }) => data)).toContainEqual({ tenantId: desk.tenantId })
    await destroy()
    expect(await rowsOf(item)).toEqual([0, 0])
  })

  test('of the hub of its collection, and of an account that takes part in it', async () => {
    const { json } = await desk.ask(`GET /containers/${desk.collectionId}`)
    const [a, b] = [await deleted(), await desk.item({ label_ids: [desk.labels[0]] })]
    await desk.ask(`PUT /items/${b.id}/members/${desk.people.VIEWER.accountId}`)
    await desk.ask(`DELETE /items/${b.id}`)
    for (const item of [a, b]) await purge(item)
    const onHub = await place({ kind: 'CONTAINER', id: json.parent_id })
    const onViewer = await place({ kind: 'ACCOUNT', id: desk.people.VIEWER.accountId })
    await destroy()
    expect([await rowsOf(a), await rowsOf(b)]).toEqual([
      [1, 1],
      [1, 1],
    ])
    await release(onHub)
    await destroy()
    expect([await rowsOf(a), await rowsOf(b)]).toEqual([
      [0, 0],
      [1, 1],
    ])
    await release(onViewer)
    await destroy()
    expect(await rowsOf(b)).toEqual([0, 0])
  })

  test('on another item, another container or another account it keeps nothing', async () => {
    const [item, other] = [await deleted({ label_ids: [] }), await deleted()]
    const { collectionId } = await desk.shelf(1)
    const holds = [
      await place({ kind: 'ITEM', id: other.id }),
      await place({ kind: 'CONTAINER', id: collectionId }),
      await place({ kind: 'ACCOUNT', id: desk.people.COMMENTER.accountId }),
    ]
    await purge(item)
    await destroy()
    expect(await rowsOf(item)).toEqual([0, 0])
    for (const hold of holds) await release(hold)
  })

  test('an item keeps all that is below it, however deep, and nothing beside it', async () => {
    const child = (parent: Item) => desk.item({ label_ids: [desk.labels[0]], parent_id: parent.id })
    const top = await desk.item({ label_ids: [desk.labels[0]] })
    const held = await child(top)
    const below = await child(await child(held))
    const beside = await child(top)
    const hold = await place({ kind: 'ITEM', id: held.id })
    expect((await desk.ask(`DELETE /items/${top.id}`)).status).toBe(204)
    await purge(top)
    await destroy()
    expect([await rowsOf(top), await rowsOf(beside)]).toEqual([
      [0, 0],
      [0, 0],
    ])
    expect([await rowsOf(held), await rowsOf(below)]).toEqual([
      [1, 1],
      [1, 1],
    ])
    await release(hold)
    await destroy()
    expect([await rowsOf(held), await rowsOf(below)]).toEqual([
      [0, 0],
      [0, 0],
    ])
  })

  test('an item keeps what is in the trash below one that has moved down: more than five levels', async () => {
    const child = (parent: Item) => desk.item({ label_ids: [desk.labels[0]], parent_id: parent.id })
    const held = await desk.item({ label_ids: [desk.labels[0]] })
    let fourth = held
    for (let level = 2; level <= 4; level += 1) fourth = await child(fourth)
    const other = await desk.item()
    const [gone, free] = [await child(other), await child(await desk.item())]
    for (const { id } of [gone, free]) expect((await desk.ask(`DELETE /items/${id}`)).status).toBe(204)
    await desk.act(other, 'move', { parent_id: fourth.id })
    const hold = await place({ kind: 'ITEM', id: held.id })
    for (const one of [gone, free]) await purge(one)
    await destroy()
    expect([await rowsOf(gone), await rowsOf(free)]).toEqual([
      [1, 1],
      [0, 0],
    ])
    await release(hold)
    await destroy()
    expect(await rowsOf(gone)).toEqual([0, 0])
  })

  test('a held item keeps its purged container, and the others in it go', async () => {
    const hub = await desk.hub()
    const { id } = await desk.collection(hub)
    const label = await desk.label(id, 'kept')
    const make = () => desk.item({ container_id: id, bucket_id: null, label_ids: [label] })
    const [held, free] = [await make(), await make()]
    const hold = await place({ kind: 'ITEM', id: held.id })
    await sql()`update container set deleted_at = now(), purged_at = now() where id in (${hub.id}, ${id})`
    await destroy()
    expect([await rowsOf(held), await rowsOf(free)]).toEqual([
      [1, 1],
      [0, 0],
    ])
    expect(await sql()`select 1 from label where id = ${label}`).toHaveLength(1)
    expect(await sql()`select 1 from container where id in (${hub.id}, ${id})`).toHaveLength(2)
    await release(hold)
    await destroy()
    expect(await rowsOf(held)).toEqual([0, 0])
    expect(await sql()`select 1 from container where id in (${hub.id}, ${id})`).toHaveLength(0)
  })

  test('a suspended workspace is let alone', async () => {
    const item = await deleted()
    await purge(item)
    await sql()`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${desk.tenantId}`
    await destroy()
    await sql()`update tenant set state = 'ACTIVE', suspended_at = null where id = ${desk.tenantId}`
    expect(await rowsOf(item)).toEqual([1, 1])
    await destroy()
    expect(await rowsOf(item)).toEqual([0, 0])
  })

  test('no table is locked above ROW EXCLUSIVE while rows go', async () => {
    const item = await deleted()
    await purge(item)
    const held = await sql().reserve()
    // Holds up the removal at its first row, so that its locks can be looked at.
    await held`begin`
    await held`select 1 from item_label where item_id = ${item.id} for update`
    const running = destroy()
    await desk.untilWaiting(1)
    const modes = await sql()`
      select distinct l.mode from pg_locks l join pg_class c on c.oid = l.relation
      join pg_stat_activity a using (pid) where a.datname = current_database() and c.relnamespace = 'public'::regnamespace and l.locktype = 'relation'`
    await held`rollback`
    held.release()
    await running
    expect(modes.map(({ mode }) => mode)).toContain('RowExclusiveLock')
    expect(modes.filter(({ mode }) => !['AccessShareLock', 'RowShareLock', 'RowExclusiveLock'].includes(mode))).toEqual(
      [],
    )
  })
})

describe('time purges', () => {
  const day = 24 * 3600
  const sweep = () => sweepTrash.run(installation, {})
  /** As if it had been deleted so many days ago. */
  const age = (item: { readonly id: string }, days: number) => sql()`
    update item set deleted_at = now() - make_interval(days => ${days}, secs => 7200), kept_since = now() - interval '1 year' where id = ${item.id}`
  const isPurged = async ({ id }: Item) => {
    const [row] = await sql()`select purged_at is not null as is_purged from item where id = ${id}`
    return row === undefined || row['is_purged'] === true
  }
  /** Lets time pass on the test's clocks; the database's goes on by itself. */
  const pass = (seconds: number) => clock.pass(seconds)

  test('what has been in the trash for 30 days, once both clocks have agreed on it for an hour', async () => {
    const [old, young] = [await deleted(), await deleted()]
    await age(old, 30)
    await age(young, 29)
    await sweep()
    await sweep()
    expect([await isPurged(old), await isPurged(young)]).toEqual([false, false])
    installation = await withSettleSeconds(0)
    await sweep()
    await sweep()
    expect([await isPurged(old), await isPurged(young)]).toEqual([true, false])
    const [entry] = await sql()`
      select actor_kind, params from audit_entry where subject_id = ${old.id} and action = 'item.purged'`
    expect(entry).toEqual({ actor_kind: 'SYSTEM', params: { by: 'time' } })
  })

  test('nothing, where this host is 31 days ahead of the database: it fails and says so', async () => {
    const item = await deleted()
    await age(item, 30)
    clock.jump(31 * day)
    await expect(sweep()).rejects.toThrow('differ by more than a minute')
    clock.jump(-31 * day)
    await sweep()
    expect(await isPurged(item)).toBe(false)
    await sweep()
    expect(await isPurged(item)).toBe(true)
  })

  test('a tree whole, by the item that was deleted', async () => {
    const top = await desk.item()
    const below = await desk.item({ parent_id: top.id })
    expect((await desk.ask(`DELETE /items/${top.id}`)).status).toBe(204)
    await age(below, 31)
    await sweep()
    await sweep()
    expect([await isPurged(top), await isPurged(below)]).toEqual([false, false])
    await age(top, 30)
    await sweep()
    await sweep()
    expect([await isPurged(top), await isPurged(below)]).toEqual([true, true])
  })

  test('nothing in an archived container, and nothing that was in the trash before the trash was', async () => {
    const shelf = await desk.shelf(1)
    const [archived, before] = [
      await deleted({ container_id: shelf.collectionId, label_ids: [] }),
      await deleted({ label_ids: [] }),
    ]
    await age(archived, 30)
    await sql()`update item set deleted_at = now() - interval '1 year', kept_since = now() - interval '1 day' where id = ${before.id}`
    await desk.ask(`POST /containers/${shelf.collectionId}:archive`)
    await sweep()
    await sweep()
    expect([await isPurged(archived), await isPurged(before)]).toEqual([false, false])
    const rows = (await desk.ask('GET /trash')).json.data
    const row = rows.find(({ id }: Item) => id === before.id)
    expect(Date.parse(row.purge_after) - Date.now()).toBeGreaterThan(28 * day * 1000)
    pass(1)
  })

  test('by the days of each container: sooner, later, and never', async () => {
    const ages = async (trash_days: number, days: number) => {
      const shelf = await desk.shelf(1)
      await desk.ask(`PUT /containers/${shelf.collectionId}/policies`, { trash_days })
      const item = await deleted({ container_id: shelf.collectionId, label_ids: [] })
      await age(item, days)
      return item
    }
    const items = [await ages(1, 1), await ages(2, 1), await ages(90, 89), await ages(90, 90), await ages(0, 5000)]
    await sweep()
    await sweep()
    expect(await Promise.all(items.map(isPurged))).toEqual([true, false, false, true, false])
  })

  test('a deleted container, with what is in it', async () => {
    const hub = await desk.hub()
    const { id } = await desk.collection(hub)
    const item = await desk.item({ container_id: id, bucket_id: null })
    await desk.ask(`DELETE /containers/${hub.id}`)
    await sql()`update container set deleted_at = now() - interval '40 days', kept_since = now() - interval '1 year' where id = ${hub.id}`
    await sweep()
    await sweep()
    expect(await sql()`select 1 from container where id in (${hub.id}, ${id})`).toHaveLength(0)
    expect(await rowsOf(item)).toEqual([0, 0])
  })
})

/** The same installation with another wait before a time is trusted. */
async function withSettleSeconds(purgeSettleSeconds: number): Promise<Installation> {
  await close()
  const config = { ...desk.daemon.config, purgeSettleSeconds }
  const booted = await bootInstallation(config, { works: false, applicationName: 'svc test', clock })
  close = () => booted.close()
  return booted.installation
}
