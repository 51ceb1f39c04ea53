/** A summary end to end: what is asked of which model, what the workspace sees, what it costs, and what stays out of every record. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { boundOf, dayIn } from '../../src/core/areas/ai/token-budget.ts'
import { type Release, readRelease } from '../../src/core/kernel/egress/guard.ts'
import { openLog } from '../../src/daemon/log.ts'
import { type AiServer, aiServer, sendJson } from '../kit/ai-server.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { dump, occurrences } from '../kit/dump.ts'
import { type Person, person, setUp, workspace } from '../kit/people.ts'

let daemon: TestDaemon
let model: AiServer
let operator: Person
let member: Person
let owner: Person
let hubId: string
let boardId: string
let modelId: string
const logged: string[] = []

beforeAll(async () => {
  model = await aiServer()
  const log = openLog('trace', { write: (line: string) => void logged.push(line) })
  daemon = await testDaemon({ log, config: { egress: readRelease(`127.0.0.1:${model.port}`) as Release } })
  const home = await setUp(daemon)
  operator = await person(daemon, home.tenantId, { operator: true })
  member = await person(daemon, home.tenantId, { role: 'MEMBER', scopes: ['workspace:read', 'workspace:write'] })
  owner = await person(daemon, home.tenantId, { scopes: ['workspace:read', 'workspace:write', 'workspace:admin'] })
  await daemon.db.sql`insert into tenant_quota select id, 'api_requests_per_minute', 0 from tenant`
  const rows = await daemon.db.sql<{ id: string; kind: string }[]>`select id, kind from container`
  hubId = rows.find(({ kind }) => kind === 'HUB')!.id
  boardId = rows.find(({ kind }) => kind === 'COLLECTION')!.id
})
afterAll(async () => {
  await daemon.close()
  await model.close()
})
beforeEach(async () => {
  const { sql } = daemon.db
  await sql`delete from ai_model`
  await sql`delete from ai_choice`
  await sql`delete from ai_usage`
  await sql`delete from setting`
  await sql`delete from tenant_quota where quota = 'ai_tokens_per_day'`
  await sql`update tenant set default_time_zone = 'UTC', state = 'ACTIVE', suspended_at = null`
  model.misbehave = undefined
  model.requests.length = 0
  modelId = await offer()
  await choose(modelId)
})

const apiKey = 'canary-key-71aa'
async function offer(more: Record<string, unknown> = {}): Promise<string> {
  const { status, json } = await daemon.call('POST', '/api/v1/admin/ai-providers', {
    token: operator.token,
    body: {
      display_name: 'Small',
      processor: 'Vendor Ltd',
      kind: 'VENDOR_COMPATIBLE',
      base_url: `${model.url}/v1`,
      completion_model: 'small',
      jurisdiction: 'EEA',
      api_key: apiKey,
      ...more,
    },
  })
  expect(status).toBe(201)
  return json.id
}
/** Whoever asks has seen what is told of the model. */
async function choose(id: string, chosen = true, who = owner) {
  const answer = await daemon.call('POST', `/api/v1/ai/models/${id}:${chosen ? 'choose' : 'unchoose'}`, {
    token: who.token,
  })
  const { token } = member
  const { json } = await daemon.call('GET', '/api/v1/privacy/ai-objection', { token })
  await daemon.call('POST', '/api/v1/privacy/ai-objection:noticed', { token, body: { version: json.notice.version } })
  return answer
}
const seen = async (who = member) => (await daemon.call('GET', '/api/v1/ai/models', { token: who.token })).json.data
const summarize = (id = boardId, who = member) =>
  daemon.call('POST', `/api/v1/containers/${id}:summarize`, { token: who.token })
const decide = (name: string, value: unknown) =>
  daemon.db
    .sql`insert into setting (name, value) values (${name}, ${daemon.db.sql.json(value as never)}) on conflict (name) do update set value = excluded.value`
const ceiling = (tokens: number) =>
  daemon.db
    .sql`insert into tenant_quota select id, 'ai_tokens_per_day', ${tokens} from tenant on conflict (tenant_id, quota) do update set ceiling = excluded.ceiling`
const used = async () =>
  (await daemon.db.sql<{ tokens: number }[]>`select tokens::int from ai_usage where tenant_id = ${owner.tenantId}`).map(
    ({ tokens }) => tokens,
  )

describe('what a workspace sees', () => {
  test('is name, processor and jurisdiction of each model, and which one is on', async () => {
    const other = await offer({ display_name: 'Large', kind: 'NOOP' })
    expect(await seen()).toEqual([
      { id: modelId, display_name: 'Small', processor: 'Vendor Ltd', jurisdiction: 'EEA', chosen: true },
      { id: other, display_name: 'Large', processor: 'Vendor Ltd', jurisdiction: 'EEA', chosen: false },
    ])
  })

  test('one model at most is on, and switching it off is a choice too', async () => {
    const other = await offer({ kind: 'NOOP' })
    expect((await choose(other)).json).toMatchObject({ id: other, chosen: true })
    expect((await seen()).map(({ chosen }: { chosen: boolean }) => chosen)).toEqual([false, true])
    // The one that is not on is not what this switches off.
    expect((await choose(modelId, false)).status).toBe(200)
    expect((await seen())[1].chosen).toBe(true)
    await choose(other, false)
    expect((await seen()).map(({ chosen }: { chosen: boolean }) => chosen)).toEqual([false, false])
    expect((await summarize()).json).toMatchObject({ status: 409, code: 'ai.no_model' })
  })

  test('each change leaves one entry and one event, and no change leaves none', async () => {
    const { sql } = daemon.db
    const trace = async () => ({
      trail: (await sql`select action from audit_entry where subject_kind = 'ai_model' order by id`).map(
        (r) => r['action'],
      ),
      events: (await sql`select type from outbox_event where type like '%.ai.model.%' order by occurred_at`).map(
        (r) => r['type'],
      ),
    })
    const before = await trace()
    await choose(modelId)
    expect(await trace()).toEqual(before)
    await choose(modelId, false)
    await choose(modelId, false)
    const after = await trace()
    expect(after.trail.slice(before.trail.length)).toEqual(['ai_model.switched_off'])
    expect(after.events.slice(before.events.length)).toEqual(['svc.ai.model.switched_off.v1'])
  })

  test('nobody offers it: not_found, also for a model of a jurisdiction that is not allowed', async () => {
    expect((await choose(randomUUID())).json.code).toBe('not_found')
    await decide('ai.allowed_jurisdictions', ['SELF_HOSTED'])
    expect([await seen(), (await choose(modelId)).json.code]).toEqual([[], 'not_found'])
  })

  test("one workspace's choice is nobody else's", async () => {
    const stranger = await person(daemon, await workspace(daemon, `other-${Date.now()}`), {
      scopes: ['workspace:read', 'workspace:write', 'workspace:admin'],
    })
    expect((await seen(stranger))[0].chosen).toBe(false)
    await choose(modelId, false, stranger)
    expect((await seen())[0].chosen).toBe(true)
    expect((await summarize(boardId, stranger)).json.code).toBe('not_found')
  })
})

describe('a summary', () => {
  test('asks the model for an outline of the container, and answers what it said', async () => {
    await daemon.db.sql`update tenant set default_locale = 'de-AT'`
    await daemon.db.sql`
      insert into label (tenant_id, id, container_id, name, name_fold, color_token, deleted_at)
      values (${owner.tenantId}, ${randomUUID()}, ${boardId}, 'deleted label', 'deleted label', 'red', now())`
    const { status, json } = await summarize()
    expect([status, json]).toEqual([
      200,
      {
        summary: 'A hub and its boards.',
        model: { id: modelId, display_name: 'Small', processor: 'Vendor Ltd', jurisdiction: 'EEA' },
        tokens: 47,
        excluded: 0,
      },
    ])
    const [asked] = model.requests
    const [instruction, content] = asked!.body.messages.map((message: { content: string }) => message.content)
    expect(instruction).toContain('"de-AT"')
    const [board] = await daemon.db.sql`select name from container where id = ${boardId}`
    const buckets = await daemon.db.sql`select name from bucket where container_id = ${boardId} order by rank`
    const labels = await daemon.db.sql`select name from label where container_id = ${boardId} and deleted_at is null`
    expect(content.startsWith(`# Collection\n- ${board!['name']}\n`)).toBe(true)
    const places = buckets.map(({ name }) => content.indexOf(`- ${name}`))
    expect(places).toEqual([...places].sort((a, b) => a - b))
    expect(Math.min(...places)).toBeGreaterThan(0)
    for (const { name } of labels) expect(content).toContain(`- ${name}`)
    expect(content).not.toContain('deleted label')
    expect(asked?.headers.authorization).toBe(`Bearer ${apiKey}`)
    await daemon.db.sql`update tenant set default_locale = 'en'`
  })

  test('of a container names its items, open ones first; of an item says what is said of it', async () => {
    const { sql } = daemon.db
    const [label] = await sql<
      { id: string; name: string }[]
    >`select id, name from label where container_id = ${boardId} and deleted_at is null order by id`
    const ask = (path: string, body?: object) =>
      daemon.call('POST', `/api/v1${path}`, { token: member.token, ...(body ? { body } : {}) })
    const members = {
      container_id: boardId,
      title: 'Paint the fence',
      description: 'Both sides.',
      label_ids: [label!.id],
    }
    const { json: done } = await ask('/items', { ...members, due_at: '2027-01-02T03:04:05Z' })
    await ask(`/items/${done.id}:complete`)
    await ask('/items', { container_id: boardId, title: 'Buy paint' })
    await summarize()
    expect(model.requests.at(-1)?.body.messages[1].content).toContain(
      '# Items\n- Buy paint\n- Paint the fence; done; due 2027-01-02T03:04:05.000Z',
    )
    const { status, json } = await ask(`/items/${done.id}:summarize`)
    expect([status, json.summary]).toEqual([200, 'A hub and its boards.'])
    expect(model.requests.at(-1)?.body.messages[1].content).toBe(
      `# TASK\n- Paint the fence; done; due 2027-01-02T03:04:05.000Z\n- Both sides.\n# Labels\n- ${label!.name}`,
    )
    const [entry] = await sql`select params from audit_entry where action = 'item.summarized'`
    expect(entry).toEqual({ params: { model_id: modelId, tokens: 47 } })
    expect((await ask(`/items/${randomUUID()}:summarize`)).json.code).toBe('not_found')
    await sql`update item set deleted_at = now() where container_id = ${boardId}`
  })

  test('of a hub names its collections', async () => {
    expect((await summarize(hubId)).status).toBe(200)
    const [board] = await daemon.db.sql`select name from container where id = ${boardId}`
    expect(model.requests[0]?.body.messages[1].content).toContain(`# Collections\n- ${board!['name']}`)
  })

  test('by the API of a local runtime', async () => {
    await choose(await offer({ kind: 'LOCAL_RUNTIME', base_url: model.url, jurisdiction: 'SELF_HOSTED', api_key: '' }))
    expect((await summarize()).json).toMatchObject({ summary: 'A hub and its boards.', tokens: 47 })
    expect(model.requests[0]?.path).toBe('/api/chat')
  })

  test('by a NOOP is empty, costs nothing and calls nobody', async () => {
    await choose(await offer({ kind: 'NOOP' }))
    expect((await summarize()).json).toMatchObject({ summary: '', tokens: 0 })
    expect([model.requests, await used()]).toEqual([[], [0]])
  })

  test('never holds more than an outline may, however much there is', async () => {
    const { sql } = daemon.db
    await sql.begin(async (tx) => {
      await tx`update container set description = ${'d🦉'.repeat(9000)} where id = ${boardId}`
      await tx`
        insert into label (tenant_id, id, container_id, name, name_fold, color_token)
        select ${owner.tenantId}, gen_random_uuid(), ${boardId}, 'many ' || n || repeat('ж', 100), 'many ' || n, 'red' from generate_series(1, 300) n`
    })
    const { status, json } = await summarize()
    const [, content] = model.requests[0]!.body.messages.map((message: { content: string }) => message.content)
    await sql`update container set description = null where id = ${boardId}`
    await sql`delete from label where name like 'many %'`
    expect([status, json.tokens]).toEqual([200, 47])
    expect(Buffer.byteLength(content)).toBeLessThanOrEqual(16 * 1024)
    expect(content.isWellFormed()).toBe(true)
    expect(content).toContain('# Buckets')
    expect(content).toContain('many 1')
  })

  test('of what is not there is not_found, before any model is asked for', async () => {
    await choose(modelId, false)
    for (const id of [randomUUID(), modelId]) expect((await summarize(id)).json.code).toBe('not_found')
    expect(model.requests).toEqual([])
  })

  test('once its model is removed there is none, until the workspace chooses again', async () => {
    await daemon.call('DELETE', `/api/v1/admin/ai-providers/${modelId}`, { token: operator.token })
    expect((await summarize()).json.code).toBe('ai.no_model')
    await choose(await offer())
    expect((await summarize()).status).toBe(200)
  })

  test.each([
    ['allowed_jurisdictions', ['SELF_HOSTED', 'ADEQUACY', 'THIRD_COUNTRY'], 'EEA'],
    ['third_country_confirmed', false, 'THIRD_COUNTRY'],
  ])('the switch %s that is taken back holds from the next call', async (name, value, jurisdiction) => {
    await decide('ai.third_country_confirmed', true)
    await choose(await offer({ jurisdiction }))
    expect((await summarize()).status).toBe(200)
    await decide(`ai.${name}`, value)
    expect((await summarize()).json.code).toBe('ai.no_model')
    expect(model.requests).toHaveLength(1)
  })
})

describe('a model that fails', () => {
  test.each([
    [401, 'credentials'],
    [429, 'rate_limited'],
    [500, 'failed'],
  ])('with %i is ai.model_failed, %s, and costs nothing', async (status, reason) => {
    model.misbehave = (_, response) => sendJson(response, status, { error: { message: 'canary-said' } })
    const answer = await summarize()
    expect(answer.json).toMatchObject({ status: 503, code: 'ai.model_failed', params: { reason } })
    expect(answer.text).not.toContain('canary')
    expect(await used()).toEqual([0])
  })

  test('at a place that the guard refuses by now is refused', async () => {
    await daemon.db.sql`update ai_model set base_url = 'https://169.254.169.254/v1' where id = ${modelId}`
    expect((await summarize()).json).toMatchObject({ code: 'ai.model_failed', params: { reason: 'refused' } })
  })

  test('with a key that does not open is secret.unavailable, and nothing is set aside', async () => {
    await daemon.db.sql`update sealed_value set key_id = 'gone' where owner_id = ${modelId}`
    expect((await summarize()).json.code).toBe('secret.unavailable')
    expect([await used(), model.requests]).toEqual([[], []])
  })
})

describe('the tokens of a day', () => {
  /** What one call for the board sets aside. */
  async function bound(): Promise<number> {
    await summarize()
    const [{ content: instruction }, { content }] = model.requests.at(-1)!.body.messages
    await daemon.db.sql`delete from ai_usage`
    model.requests.length = 0
    return boundOf({ instruction, content, maxAnswerTokens: 512 })
  }

  test('count as the model reports them', async () => {
    await summarize()
    model.promptTokens = 60
    await summarize()
    model.promptTokens = 40
    expect(await used()).toEqual([47 + 67])
    const { json } = await daemon.call('PATCH', `/api/v1/admin/tenants/${owner.tenantId}/quotas`, {
      token: operator.token,
      body: {},
    })
    expect(json.ai_tokens_per_day.used).toBe(114)
  })

  test('of 20 calls at once exactly those are let out that fit, to the token', async () => {
    const each = await bound()
    for (const [fits, more] of [
      [5, 0],
      [5, -1],
    ] as const) {
      await ceiling(5 * each + more)
      await daemon.db.sql`delete from ai_usage`
      model.requests.length = 0
      const held = Promise.withResolvers<void>()
      model.misbehave = async (_, response) => {
        await held.promise
        sendJson(response, 200, { choices: [{ message: { content: 'x' } }], usage: { total_tokens: 11 } })
      }
      const let_out = more === 0 ? fits : fits - 1
      const calls = Array.from({ length: 20 }, () => summarize())
      const refused: Awaited<(typeof calls)[number]>[] = []
      for (const call of calls) void call.then((answer) => answer.status === 409 && refused.push(answer))
      await expect
        .poll(() => [model.requests.length, refused.length], { timeout: 20_000 })
        .toEqual([let_out, 20 - let_out])
      expect(await used()).toEqual([let_out * each])
      held.resolve()
      const answers = await Promise.all(calls)
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(let_out)
      for (const { json } of refused)
        expect([json.code, json.params.quota, json.params.limit]).toEqual([
          'quota.exceeded',
          'ai_tokens_per_day',
          5 * each + more,
        ])
      expect(await used()).toEqual([let_out * 11])
    }
  })

  test("the installation's ceiling holds where the workspace has none of its own", async () => {
    await decide('quotas.ai_tokens_per_day', 1)
    expect((await summarize()).json.params).toEqual({ quota: 'ai_tokens_per_day', limit: 1, used: 0 })
    await ceiling(20_000)
    expect((await summarize()).status).toBe(200)
  })

  test('0 is no ceiling', async () => {
    await ceiling(0)
    await daemon.db
      .sql`insert into ai_usage (tenant_id, day, tokens) values (${owner.tenantId}, ${dayIn('UTC', new Date())}, 9000000000000000)`
    expect((await summarize()).status).toBe(200)
  })

  test('are those of a call whose model reports none: its bound', async () => {
    const each = await bound()
    model.misbehave = (_, response) => sendJson(response, 200, { choices: [{ message: { content: 'x' } }] })
    expect((await summarize()).json.tokens).toBe(each)
    expect(await used()).toEqual([each])
  })

  test('begin anew with the day of the workspace, not of the server', async () => {
    const { sql } = daemon.db
    // 25 hours apart: never the same date.
    await sql`update tenant set default_time_zone = 'Pacific/Kiritimati'`
    await summarize()
    await sql`update tenant set default_time_zone = 'Pacific/Pago_Pago'`
    await summarize()
    await summarize()
    const rows = await sql`select day::text, tokens::int from ai_usage order by day`
    expect(rows.map(({ tokens }) => tokens)).toEqual([94, 47])
    const { json } = await daemon.call('PATCH', `/api/v1/admin/tenants/${owner.tenantId}/quotas`, {
      token: operator.token,
      body: {},
    })
    expect(json.ai_tokens_per_day.used).toBe(94)
  })

  test('a day that is over a month ago is forgotten with the next call', async () => {
    const { sql } = daemon.db
    await sql`insert into ai_usage (tenant_id, day, tokens) select ${owner.tenantId}, (now() at time zone 'UTC')::date - n, 1 from generate_series(30, 40) n`
    await summarize()
    const [row] =
      await sql`select count(*)::int as count, min(day) = (now() at time zone 'UTC')::date - 31 as is_month from ai_usage`
    expect(row).toEqual({ count: 3, is_month: true })
  })

  test.each([
    ['Europe/Vienna', '2026-03-29T00:59:59.999Z', '2026-03-29'],
    ['Europe/Vienna', '2026-03-28T22:59:59.999Z', '2026-03-28'],
    ['Europe/Vienna', '2026-03-28T23:00:00.000Z', '2026-03-29'],
    ['Europe/Vienna', '2026-03-29T21:59:59.999Z', '2026-03-29'],
    ['Europe/Vienna', '2026-03-29T22:00:00.000Z', '2026-03-30'],
    ['Asia/Kathmandu', '2026-11-20T18:14:59.999Z', '2026-11-20'],
    ['Asia/Kathmandu', '2026-11-20T18:15:00.000Z', '2026-11-21'],
    ['Pacific/Kiritimati', '2026-12-31T10:00:00.000Z', '2027-01-01'],
    ['Pacific/Pago_Pago', '2027-01-01T10:59:59.999Z', '2026-12-31'],
    ['UTC', '2026-01-01T00:00:00.000Z', '2026-01-01'],
  ])('in %s at %s it is %s', (zone, at, day) => expect(dayIn(zone, new Date(at))).toBe(day))
})

describe('no transaction is open while the model thinks', () => {
  const heldOpen = async () => {
    const [row] = await daemon.db.sql`
      select (select count(*)::int from pg_stat_activity
              where datname = current_database() and pid <> pg_backend_pid() and state like 'idle in transaction%') as transactions,
             (select count(*)::int from pg_locks where locktype = 'advisory' and classid = 7301
              and database = (select oid from pg_database where datname = current_database())) as locks`
    return row
  }
  test('and a workspace that is suspended meanwhile gets no answer, but pays', async () => {
    const held = Promise.withResolvers<void>()
    model.misbehave = async (_, response) => {
      await held.promise
      sendJson(response, 200, { choices: [{ message: { content: 'canary-late' } }], usage: { total_tokens: 11 } })
    }
    const call = summarize()
    await expect.poll(() => model.requests.length).toBe(1)
    // Other work of the daemon may be in the middle of a transaction for a moment; one that waits for the model would stay.
    await expect.poll(heldOpen).toEqual({ transactions: 0, locks: 0 })
    await daemon.db.sql`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${owner.tenantId}`
    held.resolve()
    const { json, text } = await call
    expect([json.status, json.code, text.includes('canary')]).toEqual([403, 'tenant_suspended', false])
    expect(await used()).toEqual([11])
  })
})

test('T-38: question, answer and key stand in no log, table, entry or event', async () => {
  const { sql } = daemon.db
  model.says = 'canary-answer-5c2d'
  await sql`update container set description = 'canary-question-9e1f' where id = ${boardId}`
  expect((await summarize()).json.summary).toBe('canary-answer-5c2d')
  expect(JSON.stringify(model.requests)).toContain('canary-question-9e1f')
  model.misbehave = (_, response) => sendJson(response, 400, { error: { message: 'canary-question-9e1f' } })
  await summarize()
  model.misbehave = (_, response) => void response.writeHead(200).end('canary-answer-5c2d')
  await summarize()
  model.misbehave = (_, response) => void response.destroy()
  await summarize()

  const everything = await dump(sql)
  expect(occurrences(everything, 'canary-answer-5c2d')).toEqual([])
  expect(occurrences(everything, apiKey)).toEqual([])
  expect(occurrences(everything, 'canary-question-9e1f')).toEqual(['public.container'])
  const log = logged.join('\n')
  expect(log).toContain('summarizeContainer')
  for (const canary of ['canary-answer', 'canary-question', apiKey]) expect(log).not.toContain(canary)
  const [entry] =
    await sql`select params from audit_entry where action = 'container.summarized' order by id desc limit 1`
  expect(entry!['params']).toEqual({ model_id: modelId, tokens: 47, excluded: 0 })
  model.says = 'A hub and its boards.'
  await sql`update container set description = null where id = ${boardId}`
})
