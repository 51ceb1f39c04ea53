/** The objection to AI: one filter before every question, and the notice that one may object. Spec: Keeping, 2 (N10, N11); decision 0475. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { followAiModel } from '../../src/core/areas/ai/follow-model.ts'
import { tellAiNotice } from '../../src/core/areas/ai/notice-mails.ts'
import { type Release, readRelease } from '../../src/core/kernel/egress/guard.ts'
import { type Desk, openDesk } from '../items/desk.ts'
import { type AiServer, aiServer } from '../kit/ai-server.ts'
import { type Person, person } from '../kit/people.ts'
import { openTelling, type Telling } from '../notifications/telling-kit.ts'

let desk: Desk
let telling: Telling
let server: AiServer
let operator: Person
let writer: Person
let asker: Person
let modelId: string
beforeAll(async () => {
  server = await aiServer()
  desk = await openDesk({ egress: readRelease(`127.0.0.1:${server.port}`) as Release })
  telling = await openTelling(desk)
  operator = await person(desk.daemon, desk.tenantId, { operator: true })
})
afterAll(async () => {
  await telling.close()
  await desk.close()
  await server.close()
})
beforeEach(async () => {
  const { sql } = desk.daemon.db
  for (const table of [
    'ai_choice',
    'ai_model',
    'consent',
    'consent_text',
    'account_restriction',
    'comment',
    'item_field_key',
  ])
    await sql`delete from ${sql(table)}`
  await sql`update item set deleted_at = now() where deleted_at is null`
  await sql`delete from pgboss.job where name in ('tell_ai_notice', 'follow_ai_model', 'send_mail')`
  server.requests.length = 0
  writer = await person(desk.daemon, desk.tenantId, { role: 'MEMBER' })
  asker = await person(desk.daemon, desk.tenantId, { role: 'MEMBER' })
  modelId = await offer()
  await desk.ask(`POST /ai/models/${modelId}:choose`)
})

const configuration = (more: object = {}) => ({
  ...{ display_name: 'Small', processor: 'Vendor Ltd', kind: 'VENDOR_COMPATIBLE', base_url: `${server.url}/v1` },
  ...{ completion_model: 'small', jurisdiction: 'EEA', ...more },
})
const offer = async () => {
  const { status, json, text } = await desk.ask('POST /admin/ai-providers', configuration(), { as: operator })
  if (status !== 201) throw new Error(text)
  return json.id as string
}
const standing = async (as = asker) => (await desk.ask('GET /privacy/ai-objection', undefined, { as })).json
const noticed = (version: number, as = asker) => desk.ask('POST /privacy/ai-objection:noticed', { version }, { as })
const summary = (as = asker) => desk.ask(`POST /containers/${desk.collectionId}:summarize`, undefined, { as })
const summaryOf = ({ id }: { id: string }, as = asker) => desk.ask(`POST /items/${id}:summarize`, undefined, { as })
const object = (as: Person) => desk.ask('POST /privacy/consents:withdraw', { kind: 'ai_content' }, { as })
const content = () => server.requests.at(-1)?.body.messages[1].content as string

describe('the notice', () => {
  test('is seen before anything is asked; again changes nothing, and the proof is a row', async () => {
    const due = { version: 1, is_due: true, noticed_version: null, noticed_at: null }
    const model = { display_name: 'Small', processor: 'Vendor Ltd', jurisdiction: 'EEA' }
    expect(await standing()).toEqual({ is_objected: false, objected_at: null, notice: due, model })
    expect((await summary()).json).toMatchObject({ status: 409, code: 'ai.notice_due', params: { version: 1 } })
    expect((await noticed(0)).json).toMatchObject({ code: 'privacy.text_changed', params: { version: 1 } })
    const seen = await noticed(1)
    expect([seen.status, seen.json.notice]).toMatchObject([200, { version: 1, is_due: false, noticed_version: 1 }])
    expect((await noticed(1)).json).toEqual(seen.json)
    expect((await summary()).status).toBe(200)
    const rows = await desk.daemon.db
      .sql`select kind, act, version, credential_id from consent where account_id = ${asker.accountId}`
    expect([...rows]).toEqual([{ kind: 'ai_notice', act: 'SEEN', version: 1, credential_id: asker.credentialId }])
    const trail = await desk.daemon.db
      .sql`select action from audit_entry where subject_id = ${asker.accountId} and action like 'ai%'`
    expect([...trail]).toEqual([{ action: 'ai_notice.seen' }])
    expect(server.requests).toHaveLength(1)
  })

  test('moves with the model: chosen, or changed by its operator; from that moment it is due', async () => {
    await noticed(1)
    const change = (more: object) =>
      desk.ask(`PUT /admin/ai-providers/${modelId}`, configuration(more), { as: operator })
    expect((await change({ completion_model: 'larger' })).status).toBe(200)
    expect((await standing()).notice).toMatchObject({ version: 1, is_due: false })
    expect((await change({ processor: 'Another Ltd' })).status).toBe(200)
    expect((await standing()).notice).toMatchObject({ version: 2, is_due: true, noticed_version: 1 })
    expect((await summary()).json).toMatchObject({ code: 'ai.notice_due', params: { version: 2 } })
    await followAiModel.run(telling.installation, { modelId })
    await followAiModel.run(telling.installation, { modelId })
    const [texts] = await desk.daemon.db.sql`select count(*)::int as count from consent_text where kind = 'ai_notice'`
    expect(texts?.['count']).toBe(2)
    expect((await noticed(2)).json.notice.is_due).toBe(false)
    const other = await offer()
    await desk.ask(`POST /ai/models/${other}:choose`)
    expect((await standing()).notice).toMatchObject({ version: 3, is_due: true })
    await desk.ask(`POST /ai/models/${other}:unchoose`)
    expect(await standing()).toMatchObject({ notice: { version: 3, is_due: false }, model: null })
    expect((await noticed(3)).json.notice.noticed_version).toBe(2)
  })

  test('is mailed to everybody, once for each version', async () => {
    const { sql } = desk.daemon.db
    const [job] = await sql`select data from pgboss.job where name = 'tell_ai_notice'`
    await desk.ask(`POST /ai/models/${modelId}:choose`)
    expect(await sql`select 1 from pgboss.job where name = 'tell_ai_notice'`).toHaveLength(1)
    await tellAiNotice.run(telling.installation, job!['data'])
    const mails =
      await sql`select data ->> 'accountId' as to from pgboss.job where name = 'send_mail' and data ->> 'name' = 'ai_model_changed'`
    const [people] =
      await sql`select count(*)::int as count from account where kind = 'PERSON' and state = 'ACTIVE' and email is not null`
    expect([mails.length, new Set(mails.map(({ to }) => to)).has(writer.accountId)]).toEqual([people?.['count'], true])
  })

  test('is for people: a service account sees none, and asks', async () => {
    const robot = await person(desk.daemon, desk.tenantId, { kind: 'SERVICE', role: 'MEMBER' })
    expect((await noticed(1, robot)).json.code).toBe('privacy.person_only')
    expect((await summary(robot)).status).toBe(200)
  })
})

describe('an objection', () => {
  beforeEach(() => noticed(1))

  test('leaves out what the person wrote, and what it changed last, and says how many', async () => {
    const [own, changed, other] = [
      await desk.item({ title: 'canary one' }, writer),
      await desk.item({ title: 'before' }),
      await desk.item({ title: 'plain' }),
    ]
    await desk.patch(changed, { title: 'canary two' }, { as: writer })
    await desk.patch(other, { due_at: '2030-01-01T00:00:00Z' }, { as: writer })
    expect((await summary()).json).toMatchObject({ excluded: 0 })
    expect(content()).toContain('canary')
    expect((await object(writer)).json.state).toBe('WITHDRAWN')
    expect(await standing(writer)).toMatchObject({ is_objected: true, objected_at: expect.any(String) })
    expect((await summary()).json).toMatchObject({ excluded: 2 })
    expect(content()).not.toContain('canary')
    expect(content()).toContain('- plain')
    for (const item of [own, changed])
      expect((await summaryOf(item)).json).toMatchObject({ status: 409, code: 'ai.objected' })
    expect((await summaryOf(other)).json).toMatchObject({ excluded: 0 })
    await desk.patch(changed, { title: 'mine again' })
    expect((await summaryOf(changed)).status).toBe(200)
  })

  test('finds who changed a text before this was kept in the trail', async () => {
    const item = await desk.item({ title: 'before' })
    await desk.patch(item, { description: 'canary' }, { as: writer })
    await desk.daemon.db.sql`update item set text_by = null where id = ${item.id}`
    await object(writer)
    expect((await summary()).json.excluded).toBe(1)
    expect((await summaryOf(item)).json.code).toBe('ai.objected')
  })

  test('is taken back by giving alone, and a restriction does the same', async () => {
    const item = await desk.item({ title: 'canary' }, writer)
    await object(writer)
    await desk.ask('POST /privacy/consents:give', { kind: 'ai_content', version: 0 }, { as: writer })
    expect((await summaryOf(item)).status).toBe(200)
    await desk.ask(`POST /accounts/${writer.accountId}:restrict`, { restricted: true, ground: 'CLAIMS' })
    expect((await summaryOf(item)).json.code).toBe('ai.objected')
    expect((await summary()).json.excluded).toBe(1)
    expect(content()).not.toContain('canary')
  })
})
