/** When a notification is mailed, to whom, and what the mail says. Spec: people 3; decision 0433. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import PostalMime from 'postal-mime'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sendNotification } from '../../src/core/areas/notifications/sending.ts'
import type { Item } from '../../src/core/contract/items/operations.ts'
import { mailFolderOf } from '../../src/core/kernel/config/mail-settings.ts'
import type { AccountActor } from '../../src/core/kernel/values/actor.ts'
import { type Desk, openDesk } from '../items/desk.ts'
import type { Person } from '../kit/people.ts'
import { openTelling, type Telling } from './telling-kit.ts'

let desk: Desk
let telling: Telling
let maker: Person
let other: Person
let item: Item
beforeAll(async () => {
  desk = await openDesk()
  telling = await openTelling(desk)
  maker = desk.people.ADMIN
  other = desk.people.OWNER
})
beforeEach(async () => {
  await telling.clean()
  await sql()`delete from pgboss.job where name = 'send_notification'`
  await sql()`delete from account_preference`
  rmSync(folder(), { recursive: true, force: true })
  item = await desk.item({ title: 'The invitation' }, maker)
})
afterAll(async () => {
  await telling.close()
  await desk.close()
})

const sql = () => desk.daemon.db.sql
const folder = () => mailFolderOf(desk.daemon.config.mail, desk.tenantId)
const ask = async (call: string, body: unknown, as: Person) => {
  const { status, json, text } = await desk.ask(call as 'POST /x', body, { as })
  expect([call, status < 300], text).toEqual([call, true])
  return json
}
const say = (body: string, as: Person, on: Item = item) => ask(`POST /items/${on.id}/comments`, { body }, as)
const mention = (who: Person, on: Item = item) => say(`<@${who.accountId}>`, other, on)
const prefer = (category: string, body: object, as: Person = maker) =>
  ask(`PUT /accounts/${as.accountId}/notification-preferences/${category}/MAIL`, body, as)
/** Lets time pass for everything that waits to be mailed. */
const pass = (minutes: number) =>
  sql()`
    update notification set mail_due_at = mail_due_at - make_interval(mins => ${minutes}), mail_since = mail_since - make_interval(mins => ${minutes}),
      mailed_at = mailed_at - make_interval(mins => ${minutes})`
const seconds = async () =>
  (
    await sql()`select extract(epoch from mail_due_at - now())::int as left from notification where mail_due_at is not null order by 1`
  ).map(({ left }) => left as number)

interface Sent {
  readonly to: string
  readonly subject: string
  readonly lines: readonly string[]
}

/** Tells, and sends what was queued; answers the mails of this test so far, by their address. */
async function mails(): Promise<readonly Sent[]> {
  await telling.tell()
  const jobs =
    await sql()`update pgboss.job set state = 'completed' where name = 'send_notification' and state = 'created' returning data`
  for (const { data } of jobs) await sendNotification.run(telling.installation, data)
  if (!existsSync(folder())) return []
  const read = readdirSync(folder()).map((name) => PostalMime.parse(readFileSync(join(folder(), name))))
  return (await Promise.all(read))
    .map(({ to, subject, text }) => ({
      to: to?.[0]?.address ?? '',
      subject: subject ?? '',
      lines: (text ?? '')
        .split('\n\n')
        .filter((line) => line.trim() !== '' && !line.startsWith('-- '))
        .map((line) => line.trim()),
    }))
    .sort((a, b) => (a.subject < b.subject ? -1 : 1))
}
const addressOf = ({ accountId }: Person) => `${accountId}@people.example`
const actorOf = ({ tenantId, accountId, credentialId }: Person) =>
  ({
    ...{ kind: 'ACCOUNT', tenantId, accountId, credentialId, bearerId: credentialId, sessionId: null },
    ...{ scopes: [], role: 'OWNER', isOperator: false },
  }) as AccountActor

describe('at once', () => {
  test('a mail waits for two quiet minutes of its subject, and says what the item is called as it leaves', async () => {
    await mention(maker)
    expect(await mails()).toEqual([])
    expect(await seconds()).toEqual([expect.toBeOneOf([119, 120])])
    await pass(1)
    await ask(`POST /items/${item.id}:assign`, { account_id: maker.accountId }, other)
    expect(await mails(), 'not quiet yet').toEqual([])
    expect(await seconds()).toEqual([expect.toBeOneOf([119, 120]), expect.toBeOneOf([119, 120])])
    await pass(2)
    await ask(`PATCH /items/${item.id}`, { title: 'Another\ntitle' }, maker)
    expect(await mails()).toEqual([
      {
        to: addressOf(maker),
        subject: 'Another title: Home',
        lines: [
          expect.stringMatching(/^Home, .* UTC:$/),
          'You were mentioned in a comment on “Another title”.',
          'You are now responsible for “Another title”.',
        ],
      },
    ])
  })

  test('what never becomes quiet is mailed 30 minutes after its first event', async () => {
    await mention(maker)
    await telling.tell()
    await pass(29)
    await mention(maker)
    await telling.tell()
    const [left = 0] = await seconds()
    expect(left).toBeLessThanOrEqual(60)
    await pass(1)
    expect(await mails()).toHaveLength(1)
  })

  test('a subject is mailed once in 30 minutes, and other subjects meanwhile', async () => {
    await mention(maker)
    await telling.tell()
    await pass(2)
    expect(await mails()).toHaveLength(1)
    await mention(maker)
    const second = await desk.item({ title: 'Another one' }, maker)
    await mention(maker, second)
    await telling.tell()
    await pass(3)
    expect((await mails()).map(({ subject }) => subject)).toEqual(['Another one: Home', 'The invitation: Home'])
    await pass(30)
    expect((await mails()).map(({ subject }) => subject)).toEqual([
      'Another one: Home',
      'The invitation: Home',
      'The invitation: Home',
    ])
  })

  test('what was read in the application, or is hidden by then, is not mailed', async () => {
    const { MEMBER } = desk.people
    await mention(maker)
    await mention(MEMBER)
    await telling.tell()
    await ask('POST /accounts/me/notifications:mark-read', { until: new Date().toISOString() }, maker)
    await pass(2)
    await sql()`update container set is_private = true where id = ${desk.collectionId}`
    expect(await mails()).toEqual([])
    await sql()`update container set is_private = false where id = ${desk.collectionId}`
  })

  test('nor is one of an item that was moved to where the account sees nothing', async () => {
    const { MEMBER } = desk.people
    const shelf = await desk.shelf(1)
    await sql()`update container set is_private = true where id = ${shelf.collectionId}`
    await mention(MEMBER)
    await telling.tell()
    await pass(2)
    await ask(`POST /items/${item.id}:move`, { container_id: shelf.collectionId, bucket_id: shelf.buckets[0] }, other)
    expect(await mails()).toEqual([])
    expect((await telling.shown(MEMBER)).data, 'nor is it shown').toEqual([])
    expect((await telling.shown(MEMBER)).unread_count).toBe(0)
  })

  test('nor is one of an item that was purged before the mail leaves; in a digest the rest is told', async () => {
    const stays = await desk.item({ title: 'What stays' }, maker)
    for (const on of [item, stays]) {
      await mention(maker, on)
      await say('a word', other, on)
    }
    await telling.tell()
    await pass(24 * 60)
    // The turn that finds them due: from here on only the jobs stand between the mails and the relay.
    await telling.tell()
    const [queued] = await sql()`
      select count(*)::int as jobs from pgboss.job where name = 'send_notification' and state = 'created'`
    expect(queued).toEqual({ jobs: 3 })
    await ask(`DELETE /items/${item.id}` as 'POST /x', undefined, other)
    await ask(`POST /items/${item.id}:purge`, undefined, other)
    expect(await mails()).toEqual([
      {
        to: addressOf(maker),
        subject: expect.stringContaining('Home'),
        lines: [expect.anything(), expect.stringContaining('What stays')],
      },
      {
        to: addressOf(maker),
        subject: 'What stays: Home',
        lines: [expect.anything(), expect.stringContaining('What stays')],
      },
    ])
  })

  test('an account that is not ACTIVE, and a workspace that is not, are sent nothing', async () => {
    const { MEMBER } = desk.people
    await mention(maker)
    await mention(MEMBER)
    await telling.tell()
    await pass(2)
    await sql()`update account set state = 'DISABLED' where id = ${MEMBER.accountId}`
    expect((await mails()).map(({ to }) => to)).toEqual([addressOf(maker)])
    await sql()`update account set state = 'ACTIVE' where id = ${MEMBER.accountId}`
    await pass(40)
    await mention(maker)
    await telling.tell()
    await pass(40)
    await sql()`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${desk.tenantId}`
    await mails()
    await sql()`update tenant set state = 'ACTIVE', suspended_at = null where id = ${desk.tenantId}`
    expect(await mails(), 'nor later').toHaveLength(1)
  })

  test('nothing is sent to an address that nobody confirmed', async () => {
    const address = addressOf(maker)
    await sql()`
      insert into account_address (tenant_id, id, account_id, email, email_fold, is_primary)
      values (${desk.tenantId}, gen_random_uuid(), ${maker.accountId}, ${address}, ${address}, true)`
    await mention(maker)
    await telling.tell()
    await pass(2)
    expect(await mails()).toEqual([])
    await sql()`update account_address set confirmed_at = now() where account_id = ${maker.accountId}`
    await pass(40)
    await mention(maker)
    await telling.tell()
    await pass(2)
    expect(await mails()).toHaveLength(1)
    await sql()`delete from account_address where account_id = ${maker.accountId}`
  })

  test('of the own ways in each address is told, also one that was removed behind it, and also where it was read', async () => {
    const address = (email: string, more: { primary?: true; confirmed?: false; removed?: string } = {}) => sql()`
      insert into account_address (tenant_id, id, account_id, email, email_fold, is_primary, confirmed_at, removed_at, ends_at)
      values (${desk.tenantId}, gen_random_uuid(), ${maker.accountId}, ${email}, ${email}, ${more.primary ?? false},
              ${more.confirmed === false ? null : new Date()}, ${more.removed ?? null}, ${more.removed ?? null})`
    const record = (name: 'identity.account.start_password_issued' | 'identity.account.enabled') =>
      telling.installation.transaction(actorOf(other), { tenantId: desk.tenantId }, (ctx) =>
        ctx.record(name, { id: maker.accountId, kind: 'PERSON', state: 'ACTIVE' }),
      )
    await sql()`update account set created_at = now() - interval '1 day' where id = ${maker.accountId}`
    await prefer('ACCESS', { delivery: 'IMMEDIATE' })
    await address(addressOf(maker), { primary: true, confirmed: false })
    await address('second@people.example')
    await address('former@people.example')
    await address('waits@people.example', { confirmed: false })
    await address('gone@people.example', { removed: new Date(Date.now() - 3_600_000).toISOString() })

    await record('identity.account.enabled')
    await record('identity.account.start_password_issued')
    await telling.tell()
    await ask('POST /accounts/me/notifications:mark-read', { until: new Date().toISOString() }, maker)
    await sql()`
      update account_address set removed_at = now(), ends_at = now() + interval '1 day' where email = 'former@people.example'`
    await pass(2)
    const told = 'Somebody else changed how you sign in to Home.'
    const to = async () => (await mails()).map(({ to: at, lines }) => [at, ...lines.slice(1)]).sort()
    const everyone = [addressOf(maker), 'former@people.example', 'second@people.example'].sort()
    expect(await to()).toEqual(everyone.map((at) => [at, told]))

    // Of a confirmed primary address the rest of the subject is told, too; nowhere else.
    await sql()`update account_address set confirmed_at = now() where email = ${addressOf(maker)}`
    await pass(60)
    rmSync(folder(), { recursive: true, force: true })
    await record('identity.account.enabled')
    await record('identity.account.start_password_issued')
    await telling.tell()
    await pass(2)
    expect(await to()).toEqual(
      [
        [addressOf(maker), 'Your access to “Home” was changed.', told],
        ['second@people.example', told],
      ].sort(),
    )
    await sql()`delete from account_address where account_id = ${maker.accountId}`
  })

  test('a mail that is sent twice has one Message-ID', async () => {
    await mention(maker)
    await telling.tell()
    await pass(2)
    await telling.tell()
    const [job] = await sql()`select data from pgboss.job where name = 'send_notification'`
    await sendNotification.run(telling.installation, job?.['data'])
    await sendNotification.run(telling.installation, job?.['data'])
    expect(readdirSync(folder())).toEqual([expect.stringContaining(job?.['data'].mailId)])
  })
})

describe('once a day', () => {
  /** When the digest is due, as the clocks of a zone show it, and whether that is the next time they do. */
  const due = async (zone: string) => {
    const rows = await sql()`
      select distinct to_char(mail_due_at at time zone ${zone}, 'HH24:MI') as at, mail_due_at > now() and mail_due_at <= now() + interval '24 hours' as is_next
      from notification where mail_form = 'DAILY' and mail_due_at is not null`
    return rows.map(({ at, is_next }) => [at, is_next])
  }
  const zoned = (zone: string | null) =>
    ask(`PATCH /accounts/${maker.accountId}/preferences`, { time_zone: zone }, maker)

  test('at 08:00 in the zone of the account, which may be changed meanwhile', async () => {
    await zoned('Pacific/Auckland')
    await say('Hello', other)
    await telling.tell()
    expect(await due('Pacific/Auckland')).toEqual([['08:00', true]])
    await zoned('America/St_Johns')
    expect(await due('America/St_Johns')).toEqual([['08:00', true]])
    await zoned(null)
    await telling.tell()
    expect(await due('UTC'), 'that of the workspace').toEqual([['08:00', true]])
  })

  test('all that waits, in one mail: a subject and category once, what is hidden left out', async () => {
    const second = await desk.item({ title: 'Another one' }, maker)
    const shelf = await desk.shelf(1)
    const hidden = await desk.item({ title: 'Hidden', container_id: shelf.collectionId }, maker)
    for (const on of [item, second, hidden]) await say('Hello', other, on)
    await telling.tell()
    await sql()`update notification set began_at = began_at - interval '2 hours'`
    await say('Hello again', other)
    await telling.tell()
    await sql()`update container set is_private = true where id = ${shelf.collectionId}`
    expect(await mails()).toEqual([])
    await pass(24 * 60)
    expect(await mails()).toEqual([
      {
        to: addressOf(maker),
        subject: 'What is new: Home',
        lines: [
          expect.stringMatching(/^What is new in Home, /),
          'New comments on “The invitation”: 2.',
          'New comments on “Another one”: 1.',
        ],
      },
    ])
    await pass(24 * 60)
    expect(await mails(), 'each is told of once').toHaveLength(1)
  })

  test('nothing is to tell: no mail', async () => {
    await say('Hello', other)
    await telling.tell()
    await ask('POST /accounts/me/notifications:mark-read', { until: new Date().toISOString() }, maker)
    await pass(24 * 60)
    expect(await mails()).toEqual([])
  })
})

describe('of many subjects at once', () => {
  const assigned = async (count: number) => {
    const items: Item[] = []
    while (items.length < count) items.push(await desk.item({ title: 'One of many' }, other))
    await telling.clean()
    const assign = [{ action: 'assign', account_id: maker.accountId }]
    await ask('POST /items:bulk', { items: items.map(({ id }) => ({ id })), actions: assign }, other)
    await telling.tell()
    await pass(2)
  }

  test('three are three mails', async () => {
    await assigned(3)
    expect((await mails()).map(({ subject }) => subject)).toEqual(Array(3).fill(expect.stringMatching(/^One of many/)))
  })

  test('200 assignments to one person are one mail, and none follows (items 10, 14)', { timeout: 60_000 }, async () => {
    await assigned(200)
    const sent = await mails()
    expect(sent.map(({ to, subject }) => [to, subject])).toEqual([
      [addressOf(maker), expect.stringMatching(/^What is new/)],
    ])
    expect(sent[0]?.lines).toHaveLength(101)
    await pass(60)
    expect(await mails()).toHaveLength(1)
  })

  test('what concerns the own ways in is a mail of its own among them', async () => {
    await assigned(5)
    await sql()`
      update notification set category = 'SECURITY' where id = (select id from notification where category = 'ASSIGNED' limit 1)`
    const lines = (await mails()).map((one) => one.lines.length)
    expect(lines.sort()).toEqual([2, 5])
  })
})

describe('as decided', () => {
  test('a category is mailed at once, once a day or not at all', async () => {
    await prefer('COMMENTED', { delivery: 'IMMEDIATE' })
    await prefer('MENTIONED', { delivery: 'OFF' })
    await say('Hello', other)
    await mention(maker)
    await telling.tell()
    await pass(2)
    expect((await mails()).map(({ lines }) => lines)).toEqual([
      [expect.any(String), 'New comments on “The invitation”: 1.'],
    ])
  })

  /** An item in another collection of the same hub. */
  async function beside() {
    const [row] = await sql()`select parent_id from container where id = ${desk.collectionId}`
    const hub = row?.['parent_id']
    const sibling = await desk.collection({ id: hub })
    const [bucket] = await sql()`
      insert into bucket (tenant_id, id, container_id, name, name_fold, rank)
      values (${desk.tenantId}, gen_random_uuid(), ${sibling.id}, 'b', 'b', 'a0') returning id`
    const there = await desk.item({ container_id: sibling.id, bucket_id: bucket?.['id'], title: 'There' }, maker)
    return { hub, there }
  }

  test('the same order decides what is shown in the application', async () => {
    const { hub, there } = await beside()
    await ask(
      `PUT /accounts/${maker.accountId}/notification-preferences/COMMENTED/IN_APP`,
      {
        delivery: 'OFF',
        overrides: [
          { container_id: hub, delivery: 'IMMEDIATE' },
          { container_id: desk.collectionId, delivery: 'OFF' },
        ],
      },
      maker,
    )
    await say('Hello', other)
    await say('Hello', other, there)
    expect((await telling.shown(maker)).data.map(({ subject }) => subject)).toEqual([`/items/${there.id}`])
  })

  test('what holds in a collection goes before what holds in its hub, and that before the rest', async () => {
    const { hub, there } = await beside()
    await prefer('COMMENTED', {
      delivery: 'OFF',
      overrides: [
        { container_id: hub, delivery: 'IMMEDIATE' },
        { container_id: desk.collectionId, delivery: 'OFF' },
      ],
    })
    await say('Hello', other)
    await say('Hello', other, there)
    await telling.tell()
    await pass(2)
    expect((await mails()).map(({ subject }) => subject)).toEqual(['There: Home'])
  })

  test('what is not shown in the application may still be mailed, and nothing is kept of what is neither', async () => {
    const path = `/accounts/${maker.accountId}/notification-preferences`
    await ask(`PUT ${path}/MENTIONED/IN_APP`, { delivery: 'OFF' }, maker)
    await ask(`PUT ${path}/CHANGED/IN_APP`, { delivery: 'OFF' }, maker)
    await mention(maker)
    await ask(`PATCH /items/${item.id}`, { title: 'New' }, other)
    expect(await telling.shown(maker)).toMatchObject({ data: [], unread_count: 0 })
    expect(await sql()`select category from notification`).toEqual([{ category: 'MENTIONED' }])
    await pass(2)
    expect((await mails()).map(({ subject }) => subject)).toEqual(['New: Home'])
  })
})
