/** svc ai-providers, over the API and directly on the database. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Release, readRelease } from '../../src/core/kernel/egress/guard.ts'
import { type AiServer, aiServer, sendJson } from '../kit/ai-server.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { person, setUp } from '../kit/people.ts'
import { databaseEnv, type Home, type Ran, temporaryHome } from '../kit/svc.ts'

let daemon: TestDaemon
let model: AiServer
let home: Home
let token: string
let tenantId: string

beforeAll(async () => {
  model = await aiServer()
  daemon = await testDaemon({ config: { egress: readRelease(`127.0.0.1:${model.port}`) as Release } })
  tenantId = (await setUp(daemon)).tenantId
  token = (await person(daemon, tenantId, { operator: true })).token
  home = temporaryHome()
})
afterAll(async () => {
  home.remove()
  await daemon.close()
  await model.close()
})

const key = 'canary-key-cli'

describe.each(['api', 'database'] as const)('by the %s', (way) => {
  const run = (args: string[], input?: string): Promise<Ran> =>
    way === 'api'
      ? home.svc(args, {
          env: { SVC_API_URL: daemon.address, SVC_TOKEN: token },
          ...(input === undefined ? {} : { input }),
        })
      : home.svc([...args, '--recovery', '--while-serving'], {
          env: { ...databaseEnv(daemon.config), SVC_EGRESS_ALLOW: `127.0.0.1:${model.port}` },
          ...(input === undefined ? {} : { input }),
        })
  const name = `Vendor by the ${way}`
  const described = (baseUrl: string, jurisdiction = 'eea') => [
    ...['--kind', 'vendor-compatible', '--base-url', baseUrl, '--processor', 'Vendor Ltd'],
    ...['--jurisdiction', jurisdiction, '--completion-model', 'small'],
  ]
  const add = (...more: string[]) => run(['ai-providers', 'add', name, ...described(`${model.url}/v1`), ...more])
  const stored = () => daemon.db.sql`select count(*)::int as count from ai_model where display_name = ${name}`

  test('adds one with its key from a file, and shows the key nowhere', async () => {
    const { code, stdout, stderr } = await add('--api-key-file', home.secretFile(`key-${way}`, `${key}\n`))
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stdout).toMatch(/name +Vendor by the /)
    expect(stdout).toMatch(/key +sealed\n/)
    expect(stderr).toContain('Next: svc ai-providers test ')
    const shown = await run(['ai-providers', 'list', '--json'])
    expect(stdout + stderr + shown.stdout).not.toContain(key)
    const { json } = await daemon.call('GET', '/api/v1/admin/ai-providers', { token })
    expect(JSON.parse(shown.stdout)).toEqual(json)
    expect((await run(['ai-providers', 'list'])).stdout).toMatch(/^NAME +PROCESSOR +JURISDICTION +KIND +KEY +ON +ID\n/)
  })

  test('asks it something, with the key; a failure is a finding', async () => {
    const fine = await run(['ai-providers', 'test', name])
    expect(fine).toMatchObject({ code: 0 })
    expect(fine.stdout).toMatch(/complete +ok +-/)
    expect(model.requests.at(-1)?.headers.authorization).toBe(`Bearer ${key}`)
    model.misbehave = (_, response) => sendJson(response, 401, {})
    const failed = await run(['ai-providers', 'test', name])
    model.misbehave = undefined
    expect(failed).toMatchObject({ code: 8 })
    expect(failed.stdout).toContain('credentials: the API refuses the key')
  })

  test('update changes what is named, and nothing else', async () => {
    const changed = await run([
      'ai-providers',
      'update',
      name,
      '--processor',
      'Other Ltd',
      '--embedding-model',
      'vectors',
    ])
    expect(changed).toMatchObject({ code: 0 })
    expect(changed.stdout).toMatch(/processor +Other Ltd\n[\s\S]*completion +small\nembedding +vectors\nkey +sealed/)
    const again = await run(['ai-providers', 'update', name, '--processor', 'Other Ltd'])
    expect(again.stderr).toContain('Nothing changed')
    expect((await run(['ai-providers', 'update', name, '--api-key-stdin'], 'key-from-stdin\n')).code).toBe(0)
    await run(['ai-providers', 'test', name])
    expect(model.requests.at(-1)?.headers.authorization).toBe('Bearer key-from-stdin')
    expect((await run(['ai-providers', 'update', name, '--no-api-key', '--embedding-model', ''])).stdout).not.toMatch(
      /key|embedding/,
    )
  })

  test('what is refused says why, in one line', async () => {
    const before = await stored()
    for (const [args, said, exit] of [
      [described('https://169.254.169.254/v1'), 'The daemon may not call this host.', 2],
      [described('http://10.0.0.5:11434'), 'The daemon may not call this host.', 2],
      [described(`${model.url}/v1`, 'third-country'), 'has not confirmed transfers to third countries', 5],
    ] as const) {
      const { code, stdout, stderr } = await run(['ai-providers', 'add', name, ...args, '--no-api-key'])
      expect([code, stdout]).toEqual([exit, ''])
      expect(stderr.trim().split('\n').at(-1)).toContain(said)
    }
    expect(await stored()).toEqual(before)
  })

  test("a vendor's key is asked for; off a terminal the flags are named", async () => {
    const { code, stderr } = await add()
    expect(code).toBe(2)
    expect(stderr).toContain('--api-key-stdin or --api-key-file FILE')
  })

  test('a name that nobody has is not found', async () => {
    for (const command of ['test', 'update', 'remove'])
      expect(await run(['ai-providers', command, 'nobody'])).toMatchObject({ code: 3, stdout: '' })
  })

  test('remove wants the name typed, and says who uses it', async () => {
    const [row] = await daemon.db.sql`select id from ai_model where display_name = ${name}`
    await daemon.db.sql`
      insert into ai_choice (tenant_id, model_id) values (${tenantId}, ${row!['id']})
      on conflict (tenant_id) do update set model_id = excluded.model_id`
    const asked = await run(['ai-providers', 'remove', name])
    expect([asked.code, asked.stderr.includes('1 workspace uses it')]).toEqual([2, true])
    expect(await stored()).toEqual([{ count: 1 }])
    expect(await run(['ai-providers', 'remove', name, '--confirm', name])).toMatchObject({ code: 0, stdout: '' })
    expect(await stored()).toEqual([{ count: 0 }])
  })
})
