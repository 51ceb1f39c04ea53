/**
 * The document in the hands of clients: two validators and two generators find nothing to say, and what they generate
 * makes a round trip and reads the parameters of a refusal by their types.
 *
 * The tools are not among our packages. SVC_TEST_OPENAPI_TOOLS names the folder that has them (docs/testing.md).
 */
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { shows } from '../kit/needs.ts'
import { person, setUp } from '../kit/people.ts'

const tools = process.env['SVC_TEST_OPENAPI_TOOLS']
const hasTools = shows(
  'clients made from the document',
  'SVC_TEST_OPENAPI_TOOLS (docs/testing.md)',
  tools !== undefined,
)

let daemon: TestDaemon
let folder: string
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  if (!tools) return
  folder = mkdtempSync(join(tmpdir(), 'svc-clients-'))
  symlinkSync(join(tools, 'node_modules'), join(folder, 'node_modules'))
  daemon = await testDaemon()
  const { tenantId } = await setUp(daemon)
  const { token } = await person(daemon, tenantId, { scopes: ['workspace:read', 'workspace:write'] })
  await daemon.db.sql`insert into tenant_quota (tenant_id, quota, ceiling) values (${tenantId}, 'items', 1)`
  const [collection] = await daemon.db.sql`select id from container where kind = 'COLLECTION'`
  const { PATH, HOME } = process.env
  env = {
    HOME,
    PATH: `${join(tools, 'bin')}:${join(tools, 'node_modules/.bin')}:${PATH}`,
    SVC_ADDRESS: daemon.address,
    SVC_TOKEN: token,
    COLLECTION: String(collection?.['id']),
  }
  writeFileSync(join(folder, 'openapi.json'), (await daemon.call('GET', '/api/v1/openapi.json')).text)
})
afterAll(async () => {
  if (!tools) return
  await daemon.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Runs a program in the folder; answers its exit code and what it printed. */
const run = (program: string, ...args: string[]) =>
  new Promise<{ readonly code: unknown; readonly out: string }>((done) =>
    execFile(program, args, { cwd: folder, env, maxBuffer: 64e6 }, (error, stdout, stderr) =>
      done({ code: error?.code ?? 0, out: `${stdout}${stderr}` }),
    ),
  )

/** What both programs print: an item that was made and read, and the refusal of the second one. */
const expected = { title: 'Write the press release', quota: 'items', limit: 1, used: 1 }
const printed = ({ out }: { readonly out: string }) => JSON.parse(out.trim().split('\n').at(-1) ?? '')

describe.runIf(hasTools)('with the tools of clients', () => {
  test('redocly finds no error and no warning', async () => {
    const { out } = await run('redocly', 'lint', 'openapi.json', '--format', 'json')
    const { totals } = JSON.parse(out.slice(out.indexOf('{'), out.lastIndexOf('}') + 1))
    expect(totals).toMatchObject({ errors: 0, warnings: 0 })
  })

  test('openapi-spec-validator finds no error', async () => {
    expect(await run('openapi-spec-validator', 'openapi.json')).toEqual({ code: 0, out: 'openapi.json: OK\n' })
  })

  test('openapi-typescript and openapi-fetch: a round trip, and a refusal with typed parameters', async () => {
    const generated = await run('openapi-typescript', 'openapi.json', '-o', 'svc.d.ts')
    expect([generated.code, /warn/i.test(generated.out)]).toEqual([0, false])
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    writeFileSync(join(folder, 'program.ts'), typescript)
    const strict = [
      '--strict',
      '--noEmit',
      '--target',
      'es2022',
      '--module',
      'nodenext',
      '--allowImportingTsExtensions',
    ]
    expect(await run('tsc', ...strict, '--skipLibCheck', '--lib', 'es2022,dom,dom.iterable', 'program.ts')).toEqual({
      code: 0,
      out: '',
    })
    const ran = await run(process.execPath, 'program.ts')
    expect([ran.code, printed(ran)]).toEqual([0, expected])
  }, 120_000)

  test('openapi-python-client: the same', async () => {
    await daemon.db.sql`update tenant_quota set ceiling = 2 where quota = 'items'`
    const generated = await run(
      'openapi-python-client',
      'generate',
      '--path',
      'openapi.json',
      '--output-path',
      'svc_client',
      '--meta',
      'none',
    )
    expect([generated.code, generated.out.trim()]).toEqual([0, 'Generating svc_client'])
    writeFileSync(join(folder, 'program.py'), python)
    const ran = await run('python', 'program.py')
    expect([ran.code, printed(ran)]).toEqual([0, { ...expected, limit: 2, used: 2 }])
  }, 120_000)
})

const typescript = `
import createClient from 'openapi-fetch'
import type { paths } from './svc.d.ts'

declare const process: { readonly env: Readonly<Record<string, string>> }
const { SVC_ADDRESS, SVC_TOKEN, COLLECTION } = process.env as Record<string, string>
const client = createClient<paths>({ baseUrl: SVC_ADDRESS!, headers: { authorization: \`Bearer \${SVC_TOKEN}\` } })
const body = { container_id: COLLECTION!, title: 'Write the press release' }

const made = await client.POST('/api/v1/items', { body })
if (made.data === undefined) throw new Error(made.error.code)
const read = await client.GET('/api/v1/items/{itemId}', { params: { path: { itemId: made.data.id } } })
const { error } = await client.POST('/api/v1/items', { body })
if (error?.code !== 'quota.exceeded') throw new Error('it was not refused')
const { quota, limit, used } = error.params
// @ts-expect-error the parameters of this code are known, and this is none of them
error.params.scope
console.log(JSON.stringify({ title: read.data?.title, quota, limit, used }))
`

const python = `
import json, os
from uuid import UUID
from svc_client import AuthenticatedClient
from svc_client.api.items import create_item, get_item
from svc_client.models import Item, ItemCreate, QuotaExceededProblem

client = AuthenticatedClient(base_url=os.environ["SVC_ADDRESS"], token=os.environ["SVC_TOKEN"])
body = ItemCreate(container_id=UUID(os.environ["COLLECTION"]), title="Write the press release")

made = create_item.sync(client=client, body=body)
assert isinstance(made, Item), made
read = get_item.sync(client=client, item_id=made.id)
assert isinstance(read, Item), read
refused = create_item.sync(client=client, body=body)
assert isinstance(refused, QuotaExceededProblem), refused
params = refused.params
print(json.dumps({"title": read.title, "quota": params.quota, "limit": params.limit, "used": params.used}))
`
