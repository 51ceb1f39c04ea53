/**
 * An erased person is nowhere: not in a table, not in an event, not in a copy of an archive, and not after a rewind. What a legal
 * hold covers stays in no answer, until it is released. Keeping 1 and 2; docs/decisions/0461, 0462.
 */
import { randomUUIDv7 } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fateOf } from '../../src/core/areas/erasure/columns.ts'
import { readErasureList, readErasures } from '../../src/core/areas/erasure/reading.ts'
import { readLedger } from '../../src/core/kernel/ledger/ledger.ts'
import { furnish } from '../kit/leaving-workspace.ts'
import { type Person, plantProof } from '../kit/people.ts'
import { grantErasure, type PrivacyHouse, privacyHouse } from './privacy-kit.ts'

let house: PrivacyHouse
let collectionId: string
beforeAll(async () => {
  house = await privacyHouse()
  collectionId = house.collectionId
})
afterAll(() => house.close())

let n = 0
let canary: string
let who: Person
/** A person with a name that nobody else has, and rows in every table. */
beforeEach(async () => {
  n += 1
  canary = `Zanzibar${n}`
  who = await house.member()
  await name(who, canary)
})

async function name({ accountId }: Person, word: string): Promise<void> {
  const email = `${word.toLowerCase()}@people.example`
  await house.sql`
    update account set display_name = ${word}, email = ${email}, email_fold = ${email}, external_id = ${`ext-${word}`}, worded = null
    where id = ${accountId}`
  await house.sql`
    insert into account_address (tenant_id, id, account_id, email, email_fold, is_primary, confirmed_at)
    values (${house.tenantId}, ${randomUUIDv7()}, ${accountId}, ${email}, ${email}, true, now())`
  await house.sql`
    insert into account_word (tenant_id, word, account_id, of_address) values (${house.tenantId}, ${word.toLowerCase()}, ${accountId}, false)`
}

/** Every table with a row that has the word, as text. */
async function placesWith(word: string): Promise<string[]> {
  const tables = await house.sql<{ name: string }[]>`
    select c.relname as name from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') order by 1`
  const found: string[] = []
  for (const { name: table } of tables) {
    const rows = await house.sql.unsafe(`select 1 from "${table}" t where t::text ilike $1 limit 1`, [`%${word}%`])
    if (rows.length > 0) found.push(table)
  }
  return found
}

const item = async (by: Person, title: string, description?: string) =>
  (
    await house.call(by, 'POST', '/items', {
      ...{ container_id: collectionId, title },
      ...(description === undefined ? {} : { description }),
    })
  ).json
const comment = async (by: Person, itemId: string, body: string) =>
  (await house.call(by, 'POST', `/items/${itemId}/comments`, { body })).json
const request = (id: string) => house.call(house.owner, 'GET', `/privacy/requests/${id}`)

describe('an erasure', () => {
  test('empties every table of the person, and keeps what others did', async () => {
    await furnish(house.two, { id: house.tenantId, ownerId: who.accountId, collectionId })
    await house.sql`delete from tenant_quota where quota = 'items'`
    const mine = await item(who, 'The plan', 'of all')
    const said = await comment(who, mine.id, 'my words')
    const theirs = await item(house.owner, 'Theirs')
    await house.call(house.owner, 'POST', `/items/${theirs.id}:assign`, { account_id: who.accountId })
    await house.sql`
      insert into item_view (tenant_id, id, name, layout, columns, visibility, created_by)
      values (${house.tenantId}, ${randomUUIDv7()}, ${canary}, 'LIST', '[]', 'PRIVATE', ${who.accountId})`
    const id = await grantErasure(house, who)
    await house.runJobs()

    expect((await request(id)).json).toMatchObject({
      state: 'DONE',
      held_parts: [],
      subject: { account_id: who.accountId, name: null, contact: null },
    })
    expect((await house.call(house.owner, 'GET', `/accounts/${who.accountId}`)).json).toMatchObject({
      ...{ id: who.accountId, kind: 'PERSON', state: 'ERASED', display_name: null, email: null, role: null },
    })
    expect(await placesWith(canary)).toEqual([])
    for (const [column, fate] of Object.entries(fateOf)) {
      if (fate !== 'goes' && fate !== 'empty') continue
      const [table, member] = column.split('.')
      const rows = await house.sql.unsafe(`select 1 from "${table}" where "${member}" = $1`, [who.accountId])
      expect([column, rows.length]).toEqual([column, 0])
    }
    expect((await house.call(who, 'GET', '/accounts/me')).status).toBe(401)
    // KEEP: what was written stays, and its maker is an id.
    const kept = (await house.call(house.owner, 'GET', `/items/${mine.id}`)).json
    expect(kept).toMatchObject({ title: 'The plan', description: 'of all', created_by: who.accountId })
    expect((await house.call(house.owner, 'GET', `/items/${theirs.id}`)).json).toMatchObject({
      assignee_id: null,
      member_ids: [],
    })
    const [row] = await house.sql`select body from comment where id = ${said.id}`
    expect(row).toEqual({ body: 'my words' })
    // The address is free for a new account.
    const again = await house.call(house.owner, 'POST', '/accounts:invite', {
      email: `${canary.toLowerCase()}@people.example`,
    })
    expect(again.status).toBe(201)
    expect(again.json.account.id).not.toBe(who.accountId)
  })

  test('leaves an account that gets no role, no item and no field any more, as an unknown one', async () => {
    const { accountId } = who
    const target = await item(house.owner, 'To be done')
    const key = `reader_${n}`
    await house.sql`
      insert into custom_field (tenant_id, id, key, kind, is_required, applies_to)
      values (${house.tenantId}, ${randomUUIDv7()}, ${key}, 'USER', false, '["TASK"]')`
    await grantErasure(house, who)
    await house.runJobs()
    const group = await house.call(house.owner, 'POST', '/groups', { name: `Readers ${n}` })
    const refusals = async (id: string) => {
      const asked: readonly (readonly [method: string, path: string, body?: unknown])[] = [
        ['POST', '/memberships', { account_id: id, role: 'VIEWER' }],
        ['POST', '/memberships', { account_id: id, container_id: collectionId, role: 'VIEWER' }],
        ['POST', `/items/${target.id}:assign`, { account_id: id }],
        ['PUT', `/items/${target.id}/members/${id}`],
        ['POST', `/items/${target.id}:auto-assign`, { account_ids: [id] }],
        ['PUT', `/items/${target.id}/custom-fields/${key}`, { value: id }],
        ['PUT', `/groups/${group.json.id}/members/${id}`],
        ['POST', '/groups', { name: `Writers ${n}`, member_ids: [id] }],
      ]
      const answers: unknown[] = []
      for (const [method, path, body] of asked) {
        const { status, json } = await house.call(house.owner, method, path, body)
        answers.push([status, json.code, json.errors])
      }
      return answers
    }
    /** What a template leaves out that names the account as a value. */
    const leftOut = async (id: string) => {
      const content = {
        buckets: [],
        labels: [],
        fields: [],
        items: [{ title: 'Read', custom_fields: { [key]: id } }],
      }
      const made = await house.call(house.owner, 'POST', '/templates', { name: 'Read', kind: 'ITEM', content })
      const applied = await house.call(house.owner, 'POST', `/templates/${made.json.id}:apply`, {
        container_id: collectionId,
      })
      return [applied.status, applied.json.left_out]
    }
    const nobody = randomUUIDv7()
    const unknown = await refusals(nobody)
    expect(unknown.map((answer) => (answer as unknown[])[0])).toEqual([422, 422, 422, 404, 422, 422, 404, 422])
    expect(await refusals(accountId)).toEqual(unknown)
    const pointer = `/items/0/custom_fields/${key}`
    expect(await leftOut(house.owner.accountId)).toEqual([201, []])
    for (const id of [nobody, accountId])
      expect(await leftOut(id)).toEqual([201, [{ pointer, code: 'reference.unknown' }]])
    const rows = await house.sql`
      select 1 from membership where account_id = ${accountId} union all select 1 from item_member where account_id = ${accountId}`
    expect(rows).toHaveLength(0)
  })

  test('that the database refuses keeps no other one back, whether it begins or goes on', async () => {
    const other = await house.member()
    const refuse = (what: 'insert' | 'update of swept_at', whose: readonly Person[]) =>
      house.sql.unsafe(`
        create or replace trigger refuse_some before ${what} on erasure for each row
        when (new.account_id in (${whose.map(({ accountId }) => `'${accountId}'`)})) execute function refuse()`)
    await house.sql.unsafe(
      `create function refuse() returns trigger language plpgsql as $$ begin raise exception 'not this one'; end $$`,
    )
    const due = (id: string) =>
      house.sql`update privacy_request set executes_at = now() - interval '2 minutes' where id = ${id}`
    const stateAfterRuns = async (id: string) => {
      await house.runJobs().catch(() => {})
      await expect(house.runJobs()).rejects.toThrow('not this one')
      return (await request(id)).json.state
    }
    const stuck = await grantErasure(house, who, {}, false)
    const [beginning, going] = [
      await grantErasure(house, await house.member(), {}, false),
      await grantErasure(house, other, {}, false),
    ]
    await refuse('insert', [who])
    await due(stuck)
    await due(beginning)
    expect(await stateAfterRuns(beginning)).toBe('DONE')

    await refuse('update of swept_at', [who, other])
    await due(going)
    expect(await stateAfterRuns(going)).not.toBe('DONE')
    // What has begun goes on by itself, and is not begun again.
    await house.sql`update privacy_request set executes_at = now() + interval '1 day' where id = ${going}`
    await refuse('update of swept_at', [who])
    expect(await stateAfterRuns(going)).toBe('DONE')

    await house.sql`drop function refuse() cascade`
    await house.runJobs()
    expect((await request(stuck)).json.state).toBe('DONE')
  })

  test('is in the ledger, in the trail, at the targets, and told once', async () => {
    await house.sql`
      insert into backup_target (tenant_id, id, name, kind, config)
      values ('00000000-0000-0000-0000-000000000000', ${randomUUIDv7()}, 'disk', 'LOCAL', '{"path":"erasures"}')`
    await grantErasure(house, who, { texts: 'REDACT', mentions: [] })
    await house.runJobs()
    const { ledger, keyring, config } = house.two.installation
    const { obligations } = await readLedger(ledger.file, keyring)
    expect(obligations.map(({ act }) => act)).toContainEqual({
      ...{ act: 'account.erased', tenant_id: house.tenantId, account_id: who.accountId },
      ...{ texts: 'REDACT', files: 'KEEP', mentions: [] },
    })
    const file = `${config.backupDir}/erasures/tenants/${house.tenantId}/erasures.json`
    const list = readErasureList(keyring, house.tenantId, await readFile(file, 'utf8'))
    expect(list?.map(({ accountId }) => accountId)).toContain(who.accountId)
    expect(readErasureList(keyring, randomUUIDv7(), await readFile(file, 'utf8'))).toBeUndefined()
    const forged = (await readFile(file, 'utf8')).replace(who.accountId, randomUUIDv7())
    expect(readErasureList(keyring, house.tenantId, forged)).toBeUndefined()
    const known = await readErasures(house.two.installation, house.tenantId, {
      actor: { kind: 'SYSTEM', job: 'test' },
    })
    expect(known.find(({ accountId }) => accountId === who.accountId)?.choices.texts).toBe('REDACT')
    const events = await house.sql<{ body: string }[]>`
      select body from outbox_event where type like '%.work.account.erased.v1' and body like ${`%${who.accountId}%`}`
    expect(events.map(({ body }) => JSON.parse(body).data)).toEqual([{ id: who.accountId }])
    await house.runJobs()
    const [entries] = await house.sql`
      select count(*)::int as count from audit_entry where action = 'account.erased' and subject_id = ${who.accountId}`
    expect(entries).toEqual({ count: 1 })
  })

  test('waits: nothing goes before both clocks saw the end, twice, and until then it is withdrawn', async () => {
    const id = await grantErasure(house, who, {}, false)
    await house.runJobs()
    expect((await request(id)).json.state).toBe('GRANTED')
    house.two.clock.jump(5 * 86_400)
    await house.two.installation
      .transaction({ kind: 'SYSTEM', job: 'test' }, { readOnly: true }, async () => undefined)
      .catch(() => undefined)
    await house.runJobs().catch(() => undefined)
    expect((await request(id)).json.state).toBe('GRANTED')
    house.two.clock.jump(-5 * 86_400)
    expect((await house.patch(who, id, { state: 'WITHDRAWN' })).json.state).toBe('WITHDRAWN')
    await house.runJobs()
    const [row] = await house.sql`select state from account where id = ${who.accountId}`
    expect(row).toEqual({ state: 'ACTIVE' })
  })

  test('once begun leads nowhere back', async () => {
    const id = await grantErasure(house, who)
    await house.runJobs()
    expect((await house.patch(house.owner, id, { state: 'WITHDRAWN' })).json.code).toBe('privacy.closed')
  })
})

describe('an account that is restricted for claims', () => {
  const restrict = (restricted: boolean) =>
    house.call(house.owner, 'POST', `/accounts/${who.accountId}:restrict`, {
      ...(restricted ? { restricted, ground: 'CLAIMS' } : { restricted }),
    })
  const state = async () => (await house.sql`select state from account where id = ${who.accountId}`)[0]?.['state']

  test('is not granted its erasure, and one that was granted waits until the restriction ends', async () => {
    expect((await restrict(true)).status).toBe(200)
    await expect(grantErasure(house, who)).rejects.toThrow('privacy.restricted')
    const [open] = await house.sql<{ id: string }[]>`
      select id from privacy_request where account_id = ${who.accountId} and state = 'RECEIVED'`
    await house.patch(who, open!.id, { state: 'WITHDRAWN' })
    expect((await restrict(false)).status).toBe(200)
    const id = await grantErasure(house, who)
    expect((await restrict(true)).status).toBe(200)
    await house.runJobs()
    expect([(await request(id)).json.state, await state()]).toEqual(['GRANTED', 'ACTIVE'])
    expect((await restrict(false)).status).toBe(200)
    await house.runJobs()
    expect([(await request(id)).json.state, await state()]).toEqual(['DONE', 'ERASED'])
  })
})

describe('the choices', () => {
  test('REDACT strikes the words out, REMOVE takes comments away, events of both go', async () => {
    for (const texts of ['REDACT', 'REMOVE']) {
      const one = await house.member()
      const word = `Wallaby${texts}`
      const mine = await item(one, `${word} title`, `${word} description`)
      const said = await comment(one, mine.id, `${word} said`)
      await grantErasure(house, one, { texts })
      await house.runJobs()
      expect(await placesWith(word)).toEqual([])
      const now = (await house.call(house.owner, 'GET', `/items/${mine.id}`)).json
      expect(now).toMatchObject({ title: '[…]', description: null })
      const [row] =
        await house.sql`select body, deleted_at is not null as is_deleted from comment where id = ${said.id}`
      expect(row).toEqual(texts === 'REDACT' ? { body: '[…]', is_deleted: false } : { body: '', is_deleted: true })
    }
  })

  test('mentions that are named are struck out, others stay', async () => {
    const asked = await item(
      house.owner,
      `Ask ${canary} and ${canary}son`,
      `${canary.toLowerCase()}@people.example knows`,
    )
    const other = await item(house.owner, `Praise ${canary}`)
    const opened = await house.proven(who, 'POST', '/privacy/requests', { kind: 'ERASURE' })
    await house.runJobs()
    const path = `/privacy/requests/${opened.json.id}/erasure-preview`
    const preview = (await house.call(house.owner, 'GET', path)).json
    expect(preview.mentions).toMatchObject({ state: 'DONE', found: 3 })
    expect(preview.mentions.hits).toEqual(
      expect.arrayContaining([
        { kind: 'ITEM', id: asked.id, member: 'title' },
        { kind: 'ITEM', id: asked.id, member: 'description' },
        { kind: 'ITEM', id: other.id, member: 'title' },
      ]),
    )
    const body = {
      ...{ decision: 'GRANTED', plan_hash: preview.hash },
      choices: { mentions: [{ kind: 'ITEM', id: asked.id }] },
    }
    expect((await house.patch(house.owner, opened.json.id, body, true)).status).toBe(200)
    await house.sql`update privacy_request set executes_at = now() - interval '2 minutes' where id = ${opened.json.id}`
    await house.runJobs()
    expect((await house.call(house.owner, 'GET', `/items/${asked.id}`)).json).toMatchObject({
      title: `Ask […] and ${canary}son`,
      description: '[…] knows',
    })
    expect((await house.call(house.owner, 'GET', `/items/${other.id}`)).json.title).toBe(`Praise ${canary}`)
  })
})

describe('a legal hold', () => {
  const place = async (scope: Record<string, unknown>) =>
    (
      await house.two.daemon.call('POST', '/api/v1/retention/holds', {
        token: house.two.operator.token,
        body: { tenant_id: house.tenantId, scope, reason: 'a case' },
      })
    ).json.id as string
  const release = async (id: string) =>
    house.two.daemon.call('POST', `/api/v1/retention/holds/${id}:release`, {
      token: house.two.operator.token,
      headers: { 'x-service-step-up': await plantProof(house.two.daemon, house.two.operator) },
    })

  test('placed between preview and execution keeps its parts in no answer, and its release erases the rest', async () => {
    const mine = await item(who, `${canary} in court`)
    const id = await grantErasure(house, who, { texts: 'REDACT' })
    const hold = await place({ kind: 'ACCOUNT', id: who.accountId })
    await house.runJobs()
    const held = (await request(id)).json
    expect(held.state).toBe('PARTLY_DONE')
    expect(held.held_parts).toEqual(expect.arrayContaining(['ACCOUNT', 'BELONGING', 'TEXTS', 'WAYS_IN']))
    expect((await house.call(house.owner, 'GET', `/accounts/${who.accountId}`)).json).toMatchObject({
      ...{ state: 'ERASED', display_name: null, email: null, is_restricted: true },
    })
    expect((await house.call(house.owner, 'GET', `/items/${mine.id}`)).json.title).toBe('[…]')
    expect(await placesWith(canary)).toEqual(['erasure_held'])
    const copies = await house.sql<{ body: Record<string, unknown> }[]>`
      select body from erasure_held where place = 'account' and body ->> 'id' = ${who.accountId}`
    expect(copies[0]!.body).toMatchObject({ display_name: canary, state: 'ACTIVE' })
    expect(copies[0]!.body).not.toHaveProperty('password_hash')
    await house.runJobs()
    expect((await request(id)).json.state).toBe('PARTLY_DONE')
    expect((await release(hold)).status).toBe(200)
    await house.runJobs()
    expect((await request(id)).json).toMatchObject({ state: 'DONE', held_parts: [] })
    expect(await placesWith(canary)).toEqual([])
    expect((await house.call(house.owner, 'GET', `/accounts/${who.accountId}`)).json.is_restricted).toBe(false)
  })

  test('of an item or its container keeps what is in it, and not the account', async () => {
    const mine = await item(who, `${canary} there`)
    const hold = await place({ kind: 'CONTAINER', id: collectionId })
    const id = await grantErasure(house, who, { texts: 'REMOVE' })
    await house.runJobs()
    const held = (await request(id)).json
    expect([held.state, held.held_parts]).toEqual(['PARTLY_DONE', ['TEXTS']])
    const copies = await house.sql`select body ->> 'title' as title from erasure_held where item_id = ${mine.id}`
    expect([...copies]).toEqual([{ title: `${canary} there` }])
    await release(hold)
    await house.runJobs()
    expect((await request(id)).json.state).toBe('DONE')
    expect(await placesWith(canary)).toEqual([])
  })
})
