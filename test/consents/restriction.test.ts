/** Restricted accounts: stored, no more, wherever names are read. Spec: Keeping, 2, N6; decision 0474. */
import { existsSync, readdirSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sendNotification } from '../../src/core/areas/notifications/sending.ts'
import type { Account } from '../../src/core/contract/identity/accounts.ts'
import { mailFolderOf } from '../../src/core/kernel/config/mail-settings.ts'
import { type Desk, openDesk } from '../items/desk.ts'
import { linesAbout } from '../kit/ledger-lines.ts'
import { type Person, person } from '../kit/people.ts'
import { openTelling, type Telling } from '../notifications/telling-kit.ts'

let desk: Desk
let telling: Telling
let who: Person
beforeAll(async () => {
  desk = await openDesk()
  telling = await openTelling(desk)
})
afterAll(async () => {
  await telling.close()
  await desk.close()
})
beforeEach(async () => {
  who = await person(desk.daemon, desk.tenantId, { role: 'MEMBER' })
  await sql()`update account set display_name = 'Zelda Quick', external_id = 'hr-77', worded = '-' where id = ${who.accountId}`
  await sql()`
    insert into account_word (tenant_id, account_id, word, of_address) values (${desk.tenantId}, ${who.accountId}, 'zelda quick', false)`
})

const sql = () => desk.daemon.db.sql
const restrict = (body: object, more: Parameters<Desk['ask']>[2] = {}) =>
  desk.ask(`POST /accounts/${who.accountId}:restrict`, body, more)
const restricted = async () => expect((await restrict({ restricted: true, ground: 'ACCURACY' })).status).toBe(200)
const account = async (as = desk.people.OWNER): Promise<Account> =>
  (await desk.ask(`GET /accounts/${who.accountId}`, undefined, { as })).json
const found = async (query: string, as = desk.people.OWNER): Promise<string[]> =>
  (await desk.ask(`GET /accounts?size=200&${query}`, undefined, { as })).json.data.map(({ id }: Account) => id)

describe('an administrator', () => {
  test('restricts with a ground, anew with another one, and ends it: the person is mailed', async () => {
    const before = await account()
    const { json, headers } = await restrict({ restricted: true, ground: 'ACCURACY' })
    const { accountId } = desk.people.OWNER
    expect(json).toEqual({
      ...{
        account_id: who.accountId,
        is_restricted: true,
        ground: 'ACCURACY',
        since: expect.any(String),
        by: accountId,
      },
      version: before.version + 1,
    })
    expect(headers['etag']).toBe(`"${before.version + 1}"`)
    expect((await restrict({ restricted: true, ground: 'ACCURACY' })).json).toEqual(json)
    expect((await restrict({ restricted: true, ground: 'CLAIMS' })).json).toMatchObject({
      ground: 'CLAIMS',
      since: json.since,
    })
    const ended = await restrict({ restricted: false })
    expect(ended.json).toMatchObject({ is_restricted: false, ground: null, since: null, by: null })
    expect((await restrict({ restricted: false })).json).toEqual(ended.json)
    const mails = await sql()`
      select data ->> 'accountId' as to from pgboss.job where data ->> 'name' = 'restriction_ended' and data ->> 'accountId' = ${who.accountId}`
    expect(mails).toHaveLength(1)
    const trail =
      await sql()`select action, params from audit_entry where subject_id = ${who.accountId} order by at, id`
    expect([...trail]).toEqual([
      { action: 'account.restricted', params: { ground: 'ACCURACY' } },
      { action: 'account.restricted', params: { ground: 'CLAIMS' } },
      { action: 'account.unrestricted', params: {} },
    ])
    const acts = linesAbout(desk.daemon.config.ledgerFile, who.accountId).map(({ act }) => act)
    expect(acts).toEqual(['account.restricted', 'account.restricted', 'account.unrestricted'])
  })

  test('needs a ground, the version, and a person who is not above', async () => {
    expect((await restrict({ restricted: true })).json.errors).toEqual([
      { pointer: '/ground', code: 'member.required', params: {} },
    ])
    expect((await restrict({ restricted: false, ground: 'CLAIMS' })).json.errors).toEqual([
      { pointer: '/ground', code: 'member.unknown', params: {} },
    ])
    const stale = await restrict({ restricted: true, ground: 'CLAIMS' }, { headers: { 'if-match': '"99"' } })
    expect(stale.json.code).toBe('precondition.failed')
    const robot = await person(desk.daemon, desk.tenantId, { kind: 'SERVICE' })
    const body = { restricted: true, ground: 'CLAIMS' }
    expect((await desk.ask(`POST /accounts/${robot.accountId}:restrict`, body)).json.code).toBe('privacy.person_only')
    const above = await desk.ask(`POST /accounts/${desk.people.OWNER.accountId}:restrict`, body, {
      as: desk.people.ADMIN,
    })
    expect([above.status, above.json.code]).toEqual([403, 'auth.role_required'])
  })
})

describe('others', () => {
  test('read no name and no address, only that it is restricted; the person reads all', async () => {
    await restricted()
    const hidden = { is_restricted: true, display_name: null, email: null, sign_in_name: null }
    expect(await account()).toMatchObject({ ...hidden, admin: { addresses: [], external_id: null } })
    expect(await account(desk.people.VIEWER)).toMatchObject({ ...hidden, admin: null })
    const listed = (await desk.ask('GET /accounts?size=200')).json.data.find(({ id }: Account) => id === who.accountId)
    expect(listed).toMatchObject(hidden)
    expect(await account(who)).toMatchObject({ is_restricted: true, display_name: 'Zelda Quick' })
    const without = (await desk.ask('GET /tenant/accounts-without-provider?size=200')).json.data
    expect(without.find(({ id }: Account) => id === who.accountId)).toMatchObject({ email: null, display_name: null })
  })

  test('find it by no word, address or id of a directory, nor among those who see a container', async () => {
    const queries = [
      'q=zelda',
      `email=${who.accountId}@people.example`,
      'external_id=hr-77',
      `container_id=${desk.collectionId}`,
    ]
    for (const query of queries)
      expect([query, await found(query)]).toEqual([query, expect.arrayContaining([who.accountId])])
    await restricted()
    for (const query of queries) expect([query, (await found(query)).includes(who.accountId)]).toEqual([query, false])
    expect(await found('q=zelda', who)).toContain(who.accountId)
    await restrict({ restricted: false })
    expect(await found('q=zelda')).toContain(who.accountId)
  })

  test('assign and mention it newly nowhere; what was stays, and its own acts go on', async () => {
    const [before, item] = [await desk.item(), await desk.item()]
    await desk.act(before, 'assign', { account_id: who.accountId })
    await desk.field({ key: `who${who.accountId.slice(-6)}`, kind: 'USER' })
    await restricted()
    const body = { account_id: who.accountId }
    expect((await desk.ask(`POST /items/${item.id}:assign`, body)).json.code).toBe('item.account_no_access')
    expect((await desk.ask(`PUT /items/${item.id}/members/${who.accountId}`)).json.code).toBe('item.account_no_access')
    expect((await desk.ask(`POST /items/${item.id}/comments`, { body: `<@${who.accountId}>` })).json.code).toBe(
      'mention.no_access',
    )
    const field = await desk.ask(`PUT /items/${item.id}/custom-fields/who${who.accountId.slice(-6)}`, {
      value: who.accountId,
    })
    expect(field.json.errors).toEqual([{ pointer: '/value', code: 'reference.unknown', params: {} }])
    await desk.ask(`POST /items/${item.id}:auto-assign`, { account_ids: [who.accountId] })
    expect((await desk.read(item)).assignee_id).toBeNull()
    expect((await desk.read(before)).assignee_id).toBe(who.accountId)
    expect((await desk.ask(`POST /items/${item.id}:assign`, body, { as: who })).json.assignee_id).toBe(who.accountId)
    expect((await desk.ask(`POST /items/${before.id}:unassign`, body)).status).toBe(200)
  })

  test('do not reach it by mail, but for its security', async () => {
    await restricted()
    const mail = async (category: string) => {
      const id = crypto.randomUUID()
      await sql()`
        insert into notification (tenant_id, account_id, event_id, category, id, event_type, subject, began_at, at, is_listed, mail_form, mail_id, mailed_at, mail_count)
        values (${desk.tenantId}, ${who.accountId}, ${id}, ${category}, ${id}, 'svc.work.item.assigned.v1', ${`/accounts/${who.accountId}`}, now(), now(), true, 'IMMEDIATE', ${id}, now(), 1)`
      await sendNotification.run(telling.installation, {
        ...{ tenantId: desk.tenantId, accountId: who.accountId, mailId: id, form: 'IMMEDIATE' },
      })
      const folder = mailFolderOf(telling.installation.config.mail, desk.tenantId) ?? ''
      return existsSync(folder) && readdirSync(folder).some((name) => name.includes(id))
    }
    expect([await mail('CHANGED'), await mail('SECURITY')]).toEqual([false, true])
  })
})

test('retention passes over it', async () => {
  await sql()`update account set state = 'DISABLED', state_before = 'ACTIVE', disabled_at = now() - interval '100 days' where id = ${who.accountId}`
  const preview = async () => (await desk.ask('GET /retention/rules/ACCOUNTS/preview?days=90')).json.would_go
  expect(await preview()).toBe(1)
  await restricted()
  expect(await preview()).toBe(0)
})
