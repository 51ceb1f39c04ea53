/** Consents: their texts, what people say of them, and the proof that stays. Spec: Keeping, 2 (N7–N9, K3); decision 0473. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { consents as obligation } from '../../src/core/areas/recovery/obligations/consents.ts'
import type { Consent } from '../../src/core/contract/privacy/consents.ts'
import { type Board, openBoard } from '../containers/board.ts'
import { linesAbout } from '../kit/ledger-lines.ts'
import { type Person, person } from '../kit/people.ts'

let board: Board
let who: Person
beforeAll(async () => {
  board = await openBoard()
})
afterAll(() => board.close())
beforeEach(async () => {
  await board.daemon.db.sql`delete from consent`
  await board.daemon.db.sql`delete from consent_text`
  who = await person(board.daemon, board.tenantId, { role: 'VIEWER' })
})

const texts = {
  en: { title: 'News', text: 'We write once a month.' },
  de: { title: 'Neues', text: 'Wir schreiben einmal im Monat.' },
}
const write = (kind: string, body: object = { texts }, headers: Record<string, string> = {}) =>
  board.ask(`PUT /privacy/consent-texts/${kind}`, body, { headers })
const list = async (as = who): Promise<Consent[]> =>
  (await board.ask('GET /privacy/consents', undefined, { as })).json.data
const entry = async (kind: string, as = who) => (await list(as)).find((one) => one.kind === kind)!
const give = (kind: string, version: number, as = who) =>
  board.ask('POST /privacy/consents:give', { kind, version }, { as })
const withdraw = (kind: string, as = who) => board.ask('POST /privacy/consents:withdraw', { kind }, { as })
const acts = () => board.daemon.db.sql`
  select kind, n, act, version, language, sha256, credential_id from consent where account_id = ${who.accountId} order by kind, n`

describe('a text', () => {
  test('is a version each time it is another one', async () => {
    const first = await write('announcements')
    expect([first.status, first.json, first.headers['etag']]).toMatchObject([
      200,
      { kind: 'announcements', version: 1, texts, given: 0, withdrawn: 0 },
      '"1"',
    ])
    expect((await write('announcements', { texts: { de: texts.de, en: texts.en } })).json).toEqual(first.json)
    expect((await write('announcements', { texts: { en: texts.en } })).json.version).toBe(2)
    expect((await write('announcements', { texts: { en: texts.en }, renews: true })).json.version).toBe(3)
    expect((await write('announcements', { texts }, { 'if-match': '"2"' })).json.params).toEqual({
      current_etag: '"3"',
    })
    const rows = await board.daemon.db.sql`select version from consent_text order by version`
    expect(rows.map(({ version }) => version)).toEqual([1, 2, 3])
  })

  test('is of the product’s kinds, and of twenty others', async () => {
    for (let n = 0; n < 20; n += 1) expect((await write(`own_${n}`)).status).toBe(200)
    expect((await write('one_more')).json).toMatchObject({ code: 'structure.full', params: { limit: 20 } })
    expect((await write('statistics')).status).toBe(200)
    expect((await write('own_3', { texts: { en: texts.en } })).status).toBe(200)
    expect((await write('ai_notice')).status).toBe(404)
    expect((await write('Own')).status).toBe(404)
    expect((await write('x', { texts: {} })).status).toBe(422)
    expect((await write('x', { texts: { EN: texts.en } })).status).toBe(422)
  })

  test('is shown in the language of the person, of the workspace, or the first there is', async () => {
    await write('announcements')
    expect(await entry('announcements')).toMatchObject({ language: 'en', ...texts.en })
    await board.ask(
      `PATCH /accounts/${who.accountId}/preferences`,
      { locale: 'de-CH' },
      {
        as: who,
        headers: { 'content-type': 'application/merge-patch+json' },
      },
    )
    const sha256 = createHash('sha256').update(`${texts.de.title}\n\n${texts.de.text}`).digest('hex')
    expect(await entry('announcements')).toMatchObject({ language: 'de', ...texts.de, sha256 })
    await write('announcements', { texts: { ja: texts.en, fr: texts.de } })
    expect(await entry('announcements')).toMatchObject({ language: 'fr' })
  })
})

describe('a consent', () => {
  test('is given to the version that is shown, again changes nothing, and each act is a row', async () => {
    await write('announcements')
    expect(await entry('announcements')).toMatchObject({
      basis: 'CONSENT',
      state: 'NONE',
      given_version: null,
      at: null,
    })
    const given = await give('announcements', 1)
    expect([given.status, given.json]).toMatchObject([200, { state: 'GIVEN', given_version: 1, version: 1 }])
    expect((await give('announcements', 1)).json).toEqual(given.json)
    const withdrawn = await withdraw('announcements')
    expect(withdrawn.json).toMatchObject({ state: 'WITHDRAWN', given_version: 1 })
    expect((await withdraw('announcements')).json).toEqual(withdrawn.json)
    await give('announcements', 1)
    const { sha256 } = withdrawn.json
    const shown = { kind: 'announcements', version: 1, language: 'en', sha256, credential_id: who.credentialId }
    expect([...(await acts())]).toEqual([
      { ...shown, n: 1, act: 'GIVEN' },
      { ...shown, n: 2, act: 'WITHDRAWN' },
      { ...shown, n: 3, act: 'GIVEN' },
    ])
    const trail = await board.daemon.db
      .sql`select action from audit_entry where subject_id = ${who.accountId} order by at, id`
    expect(trail.map(({ action }) => action)).toEqual(['consent.given', 'consent.withdrawn', 'consent.given'])
    expect((await write('announcements')).json).toMatchObject({ given: 1, withdrawn: 0 })
  })

  test('is refused to a text that changed, to one that nobody wrote, and to an unknown kind', async () => {
    await write('announcements')
    await write('announcements', { texts: { en: texts.en } })
    expect((await give('announcements', 1)).json).toMatchObject({
      code: 'privacy.text_changed',
      params: { version: 2 },
    })
    expect((await give('statistics', 0)).json.errors).toEqual([
      { pointer: '/version', code: 'value.minimum', params: { minimum: 1 } },
    ])
    expect((await give('unheard_of', 1)).json.errors).toEqual([
      { pointer: '/kind', code: 'reference.unknown', params: {} },
    ])
    expect((await withdraw('unheard_of')).status).toBe(422)
    expect(await acts()).toHaveLength(0)
  })

  test('lapses with a text that renews, and with no other', async () => {
    await write('announcements')
    await give('announcements', 1)
    await write('announcements', { texts: { en: texts.en } })
    expect(await entry('announcements')).toMatchObject({ state: 'GIVEN', given_version: 1, version: 2 })
    expect((await write('announcements', { texts, renews: true })).json).toMatchObject({ version: 3, given: 0 })
    expect(await entry('announcements')).toMatchObject({ state: 'LAPSED', given_version: 1, version: 3 })
    expect((await give('announcements', 3)).json).toMatchObject({ state: 'GIVEN', given_version: 3 })
  })

  test('is a person’s own affair, of guests, too', async () => {
    await write('announcements')
    const robot = await person(board.daemon, board.tenantId, { kind: 'SERVICE' })
    expect((await give('announcements', 1, robot)).json.code).toBe('privacy.person_only')
    expect((await withdraw('announcements', robot)).json.code).toBe('privacy.person_only')
    const guest = await board.guest()
    const hub = await board.hub()
    await board.grant(hub, guest, 'VIEWER')
    expect((await give('announcements', 1, guest)).status).toBe(200)
    expect((await entry('announcements')).state).toBe('NONE')
  })

  test('stays as it was said: nobody of the workspace changes a row', async () => {
    await write('announcements')
    await give('announcements', 1)
    for (const statement of ["update consent set act = 'WITHDRAWN'", 'delete from consent', 'delete from consent_text'])
      await expect(
        board.daemon.db.sql.begin(async (tx) => {
          await tx.unsafe(`set local role svc_tenant; set local app.tenant_id = '${board.tenantId}'`)
          await tx.unsafe(statement)
        }),
      ).rejects.toThrow('permission denied')
  })

  test('said fifty times at once is said once', async () => {
    await write('announcements')
    const answers = await Promise.all(Array.from({ length: 20 }, () => give('announcements', 1)))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await acts()).toHaveLength(1)
  })
})

test('`ai_content` is objected to without a text, and the objection is taken back', async () => {
  expect(await entry('ai_content')).toMatchObject({
    basis: 'OBJECTION',
    state: 'NONE',
    version: 0,
    text: null,
    sha256: null,
  })
  expect((await withdraw('ai_content')).json).toMatchObject({ state: 'WITHDRAWN', version: 0 })
  expect((await give('ai_content', 0)).json).toMatchObject({ state: 'GIVEN', version: 0 })
  expect((await list()).map(({ kind }) => kind)).toEqual(['announcements', 'statistics', 'ai_content'])
})

test('an act is an event, and a line of the ledger of which the last counts', async () => {
  await write('statistics')
  await give('statistics', 1)
  await withdraw('statistics')
  const events = await board.daemon.db.sql`
    select body from outbox_event where type = 'svc.work.consent.changed.v1' and body::jsonb -> 'data' ->> 'account_id' = ${who.accountId} order by id`
  expect(events.map(({ body }) => JSON.parse(body).data)).toMatchObject([
    { kind: 'statistics', state: 'GIVEN', version: 1 },
    { kind: 'statistics', state: 'WITHDRAWN', version: 1 },
  ])
  const lines = linesAbout(board.daemon.config.ledgerFile, who.accountId)
  expect(lines.map(({ act }) => act)).toEqual(['consent.given', 'consent.withdrawn'])
  const settled = (acts: readonly object[]) =>
    acts.map((act, seq) => ({ seq, at: '', mac: '', act, isSettled: true })) as never
  expect(obligation.desired(settled(lines)).get(who.accountId)?.kinds.get('statistics')).toBe(true)
  expect(obligation.desired(settled(lines.toReversed())).size).toBe(0)
})
