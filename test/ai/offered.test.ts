/** Models that the installation offers: what is stored of a configuration, what of its key, and where its base URL may lead (T-17). */
import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type OfferedAiModel,
  type OfferedAiModelConfiguration,
  aiProviderOperations as ops,
} from '../../src/core/contract/ai/offered.ts'
import { type Release, readRelease } from '../../src/core/kernel/egress/guard.ts'
import { literalForms } from '../kernel/egress/literal-forms.ts'
import { type AiServer, aiServer, sendJson } from '../kit/ai-server.ts'
import { dump, occurrences } from '../kit/dump.ts'
import { person, workspace } from '../kit/people.ts'
import { type TwoWays, twoWays, type Way, ways } from '../kit/two-ways.ts'

let two: TwoWays
let model: AiServer
let canary: Server
let canaryPort = 0
let hits = 0

beforeAll(async () => {
  model = await aiServer()
  two = await twoWays({ egress: readRelease(`127.0.0.1:${model.port}`) as Release })
  await two.sql`insert into tenant_quota select id, 'api_requests_per_minute', 0 from tenant`
  canary = createServer((socket) => {
    hits += 1
    socket.destroy()
  })
  canaryPort = await new Promise<number>((resolve) =>
    canary.listen(0, '127.0.0.1', () => resolve((canary.address() as { port: number }).port)),
  )
})
afterAll(async () => {
  canary.close()
  await model.close()
  await two.close()
})
beforeEach(async () => {
  await two.sql`delete from ai_model`
  await two.sql`delete from ai_choice`
  await two.sql`delete from setting`
  await two.sql`delete from sealed_value where kind = 'ai.api_key'`
  await two.sql`delete from journal where action like 'ai_provider.%'`
  model.misbehave = undefined
  model.requests.length = 0
  hits = 0
})

const key = 'canary-key-0f3b'
const vendor = (more: Partial<OfferedAiModelConfiguration> = {}): OfferedAiModelConfiguration => ({
  display_name: 'Vendor, small',
  processor: 'Vendor Ltd',
  kind: 'VENDOR_COMPATIBLE',
  base_url: `${model.url}/v1`,
  completion_model: 'small',
  jurisdiction: 'EEA',
  api_key: key,
  ...more,
})
const offer = (way: Way, more: Partial<OfferedAiModelConfiguration> = {}) =>
  two.call(way, ops.offerAiProvider, { body: vendor(more) })
const listed = async (way: Way = 'api') => (await two.call(way, ops.listAiProviders, {})).data
const sealed = () => two.sql`select owner_id from sealed_value where kind = 'ai.api_key'`
const journal = () =>
  two.sql`select action, actor_kind, subject_id, params - 'os_user' - 'host' as params from journal where action like 'ai_provider.%' order by id`

const confirm = (confirmed: boolean) =>
  two.sql`insert into setting (name, value) values ('ai.third_country_confirmed', ${two.sql.json(confirmed)})`

describe.each(ways)('by %s', (way) => {
  test('a model is offered with its key sealed, and answered without it', async () => {
    const made = await offer(way)
    const { api_key: _, ...plain } = vendor()
    expect(made).toMatchObject({ ...plain, embedding_model: null, has_api_key: true, workspaces_on: 0, version: 1 })
    expect(await listed(way)).toEqual([made])
    expect(JSON.stringify([made, await listed(way)])).not.toContain(key)
    expect(occurrences(await dump(two.sql), key)).toEqual([])
    expect(await sealed()).toEqual([{ owner_id: made.id }])
    expect(await journal()).toEqual([
      {
        action: 'ai_provider.offered',
        actor_kind: way === 'api' ? 'ACCOUNT' : 'RECOVERY',
        subject_id: made.id,
        params: { kind: 'VENDOR_COMPATIBLE', jurisdiction: 'EEA' },
      },
    ])
  })

  test('PUT sets it whole: what is left out is unset, an absent key stays, an empty one is cleared', async () => {
    const { id } = await offer(way, { embedding_model: 'vectors' })
    const put = (body: OfferedAiModelConfiguration) => two.call(way, ops.replaceAiProvider, { providerId: id, body })
    const { api_key: _, completion_model: __, ...bare } = vendor({ display_name: 'Other' })
    const kept = await put(bare)
    expect(kept).toMatchObject({ display_name: 'Other', completion_model: null, embedding_model: null, version: 2 })
    expect(kept.has_api_key).toBe(true)
    await two.call(way, ops.replaceAiProvider, { providerId: id, body: vendor({ api_key: 'another-key' }) })
    expect((await two.call(way, ops.testAiProvider, { providerId: id })).ok).toBe(true)
    expect(model.requests.at(-1)?.headers.authorization).toBe('Bearer another-key')
    expect((await put(vendor({ api_key: '' }))).has_api_key).toBe(false)
    expect(await sealed()).toEqual([])
    expect((await journal()).slice(1).map(({ params }) => params['members'])).toEqual([
      ['display_name', 'completion_model', 'embedding_model'],
      ['display_name', 'completion_model', 'api_key'],
      ['api_key'],
    ])
  })

  test('the same configuration again changes nothing', async () => {
    const made = await offer(way)
    const { api_key: _, ...same } = vendor()
    expect(await two.call(way, ops.replaceAiProvider, { providerId: made.id, body: same })).toEqual(made)
    expect(await journal()).toHaveLength(1)
  })

  test('removing it removes its key; a choice of it answers nothing and another one can be made', async () => {
    const { id } = await offer(way)
    await two.sql`insert into ai_choice (tenant_id, model_id) values (${two.home.tenantId}, ${id})`
    expect((await listed(way))[0]?.workspaces_on).toBe(1)
    await two.call(way, ops.removeAiProvider, { providerId: id })
    expect([await listed(way), await sealed()]).toEqual([[], []])
    expect((await journal()).map(({ action }) => action)).toEqual(['ai_provider.offered', 'ai_provider.removed'])
    for (const operation of [ops.removeAiProvider, ops.testAiProvider])
      await expect(two.call(way, operation, { providerId: id })).rejects.toThrow('not_found')
    await expect(two.call(way, ops.replaceAiProvider, { providerId: id, body: vendor() })).rejects.toThrow('not_found')
  })

  test('a model in a third country is refused until such transfers are confirmed, also by PUT', async () => {
    const { id } = await offer(way, { jurisdiction: 'ADEQUACY' })
    const abroad = vendor({ jurisdiction: 'THIRD_COUNTRY' })
    const put = () => two.call(way, ops.replaceAiProvider, { providerId: id, body: abroad })
    for (const decided of [undefined, false]) {
      if (decided !== undefined) await confirm(decided)
      await expect(offer(way, abroad)).rejects.toThrow('ai.third_country_not_confirmed')
      await expect(put()).rejects.toMatchObject({ code: 'ai.third_country_not_confirmed', status: 409 })
    }
    expect([(await listed()).map(({ jurisdiction }) => jurisdiction), (await sealed()).length]).toEqual([
      ['ADEQUACY'],
      1,
    ])
    await two.sql`delete from setting`
    await confirm(true)
    expect((await offer(way, abroad)).jurisdiction).toBe('THIRD_COUNTRY')
    expect((await put()).jurisdiction).toBe('THIRD_COUNTRY')
  })

  test(':test asks each model that is named, and says what fails', async () => {
    const { id } = await offer(way, { embedding_model: 'vectors' })
    const ask = () => two.call(way, ops.testAiProvider, { providerId: id })
    expect(await ask()).toEqual({
      ok: true,
      steps: [
        { name: 'complete', ok: true, error: null },
        { name: 'embed', ok: true, error: null },
      ],
    })
    model.misbehave = ({ path }, response) => sendJson(response, path.endsWith('/embeddings') ? 404 : 401, {})
    expect(await ask()).toEqual({
      ok: false,
      steps: [
        { name: 'complete', ok: false, error: 'credentials' },
        { name: 'embed', ok: false, error: 'missing' },
      ],
    })
    const { id: bare } = await offer(way, { completion_model: null })
    expect((await two.call(way, ops.testAiProvider, { providerId: bare })).steps).toEqual([
      { name: 'complete', ok: false, error: 'unconfigured' },
    ])
  })

  test('a NOOP calls nobody', async () => {
    const { id } = await offer(way, { kind: 'NOOP' })
    expect((await two.call(way, ops.testAiProvider, { providerId: id })).ok).toBe(true)
    expect(model.requests).toEqual([])
  })
})

describe('T-17: no base URL leads inside, and nothing of one that does is stored', () => {
  const stored = () => two.sql`
    select (select count(*) from sealed_value) as secrets, (select jsonb_agg(m order by id) from ai_model m) as models, (select count(*) from journal) as entries`

  test('every literal form, offered and put, for every kind', async () => {
    const { id } = await offer('api')
    const before = await stored()
    const kinds = ['VENDOR_COMPATIBLE', 'LOCAL_RUNTIME', 'NOOP'] as const
    for (const [at, form] of literalForms.entries()) {
      const body = vendor({ base_url: form.replaceAll('PORT', String(canaryPort)), kind: kinds[at % 3] ?? 'NOOP' })
      for (const answer of [
        await two.ask(ops.offerAiProvider, { body }),
        await two.ask(ops.replaceAiProvider, { providerId: id, body }),
      ])
        expect([form, answer.status, ['egress.forbidden', 'request.invalid'].includes(answer.json.code)]).toEqual([
          form,
          422,
          true,
        ])
    }
    expect([hits, await stored()]).toEqual([0, before])
  })

  test('the same text whatever lives there, and nothing is called to find out', async () => {
    const texts = new Set<string>()
    for (const port of [canaryPort, 1, model.port + 1]) {
      const { text } = await two.ask(ops.offerAiProvider, { body: vendor({ base_url: `https://127.0.0.1:${port}` }) })
      texts.add(text.replace(/urn:uuid:[0-9a-f-]+/, ''))
    }
    expect([texts.size, hits]).toEqual([1, 0])
  })

  test('a private model is reached where the operator has released it, and only there', async () => {
    expect(await offer('api', { kind: 'LOCAL_RUNTIME', base_url: model.url, jurisdiction: 'SELF_HOSTED' })).toBeTruthy()
    for (const base_url of ['http://127.0.0.1:11434', 'http://192.168.1.5:11434', 'http://localhost:11434'])
      await expect(offer('api', { kind: 'LOCAL_RUNTIME', base_url })).rejects.toThrow('egress.forbidden')
  })

  test('one that was let in once is vetted again at each use', async () => {
    const { id } = await offer('api')
    await two.sql`update ai_model set base_url = ${`https://127.0.0.1:${canaryPort}`} where id = ${id}`
    expect((await two.call('api', ops.testAiProvider, { providerId: id })).steps).toEqual([
      { name: 'complete', ok: false, error: 'refused' },
    ])
    expect(hits).toBe(0)
  })
})

describe('what a configuration may hold', () => {
  test.each([
    ['/display_name', { display_name: '' }],
    ['/display_name', { display_name: 'x'.repeat(201) }],
    ['/processor', { processor: 'x'.repeat(201) }],
    ['/kind', { kind: 'OTHER' }],
    ['/jurisdiction', { jurisdiction: 'MOON' }],
    ['/api_key', { api_key: 'line\r\nx-injected: 1' }],
    ['/api_key', { api_key: 'ключ' }],
    ['/base_url', { base_url: '' }],
  ])('%s %j is refused', async (pointer, wrong) => {
    const { status, json } = await two.ask(ops.offerAiProvider, { body: { ...vendor(), ...wrong } })
    expect([status, json.code, json.errors[0].pointer]).toEqual([422, 'request.invalid', pointer])
    expect(await listed()).toEqual([])
  })

  test('a name of 200 emoji fits, and comes back to the code point', async () => {
    const display_name = '🦉'.repeat(200)
    expect((await offer('api', { display_name })).display_name).toBe(display_name)
  })

  test('a stale tag changes nothing', async () => {
    const { id } = await offer('api')
    await two.call('api', ops.replaceAiProvider, { providerId: id, body: vendor({ processor: 'Other' }) })
    const call = (method: string, body?: unknown) =>
      two.daemon.call(method, `/api/v1/admin/ai-providers/${id}`, {
        token: two.operator.token,
        headers: { 'if-match': '"1"' },
        ...(body === undefined ? {} : { body }),
      })
    for (const answer of [await call('PUT', vendor()), await call('DELETE')])
      expect([answer.status, answer.json.params]).toEqual([412, { current_etag: '"2"' }])
    expect((await listed())[0]).toMatchObject({ processor: 'Other', version: 2 })
  })

  test('one Idempotency-Key offers one model', async () => {
    const post = () =>
      two.daemon.call('POST', '/api/v1/admin/ai-providers', {
        token: two.operator.token,
        body: vendor(),
        headers: { 'idempotency-key': '3f5a1f53-6a0e-4dd5-9f49-0f7ac4a3a001' },
      })
    const [one, other] = [await post(), await post()]
    expect([one.status, one.headers.etag, one.headers.location]).toEqual([201, '"1"', '/api/v1/admin/ai-providers'])
    expect([other.status, other.headers['idempotency-replayed'], other.text]).toEqual([201, 'true', one.text])
    expect(await listed()).toHaveLength(1)
  })

  test('how many workspaces switched it on counts workspaces', async () => {
    const [one, other] = [await offer('api'), await offer('api', { display_name: 'Other' })]
    for (const slug of ['a-one', 'a-two'])
      await two.sql`insert into ai_choice (tenant_id, model_id) values (${await workspace(two.daemon, slug)}, ${one.id})`
    await two.sql`insert into ai_choice (tenant_id, model_id) values (${two.home.tenantId}, ${other.id})`
    expect((await listed()).map(({ workspaces_on }: OfferedAiModel) => workspaces_on)).toEqual([2, 1])
  })

  test('a key that was altered is refused and never guessed', async () => {
    const { id } = await offer('api')
    await two.sql`update sealed_value set ciphertext = set_byte(ciphertext, 20, 255 - get_byte(ciphertext, 20)) where owner_id = ${id}`
    await expect(two.call('api', ops.testAiProvider, { providerId: id })).rejects.toThrow('secret.unavailable')
    expect(model.requests).toEqual([])
  })
})

test('no workspace reads or writes what is offered, whatever its role', async () => {
  const { id } = await offer('api')
  const owner = await person(two.daemon, two.home.tenantId, {
    scopes: ['workspace:read', 'workspace:write', 'workspace:admin'],
  })
  for (const [method, path] of [
    ['GET', ''],
    ['POST', ''],
    ['PUT', `/${id}`],
    ['DELETE', `/${id}`],
    ['POST', `/${id}:test`],
  ] as const) {
    const { status, json } = await two.daemon.call(method, `/api/v1/admin/ai-providers${path}`, {
      token: owner.token,
      ...(method === 'GET' ? {} : { body: {} }),
    })
    expect([method, path, status, json.code]).toEqual([method, path, 403, 'auth.scope_required'])
  }
})
