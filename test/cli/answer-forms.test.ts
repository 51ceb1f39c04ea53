/** What programs ask of an answer: some members, a jq expression, YAML, CSV; and silence. docs/decisions/0291. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { csvOf } from '../../src/cli/render/csv.ts'
import { fieldsFrom } from '../../src/cli/render/fields.ts'
import { plantToken } from '../kit/accounts.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { everyScope, setUp } from '../kit/people.ts'
import { type Home, type Ran, temporaryHome } from '../kit/svc.ts'

let daemon: TestDaemon
let home: Home
beforeAll(async () => {
  daemon = await testDaemon()
  const owner = await setUp(daemon)
  const { token } = await plantToken({ oracle: daemon.db.sql }, owner, { scopes: everyScope })
  home = temporaryHome({ SVC_API_URL: daemon.address, SVC_TOKEN: token })
  for (const slug of ['acme', 'globex']) {
    const args = ['--slug', slug, '--display-name', `${slug}, "Ltd"`, '--owner-email', `o@${slug}.example`]
    expect(await svc('tenants', 'provision', ...args, '--yes')).toMatchObject({ code: 0 })
  }
  expect(await svc('tenants', 'quotas', 'set', 'acme', 'items=9223372036854775807')).toMatchObject({ code: 0 })
})
afterAll(async () => {
  home.remove()
  await daemon.close()
})

const svc = (...args: string[]): Promise<Ran> => home.svc(args)
const out = async (...args: string[]) => {
  const ran = await svc(...args)
  expect([ran.code, ran.stderr]).toEqual([0, ''])
  return ran.stdout
}

test('--fields keeps the shape of the answer and only these members, also inner ones', async () => {
  const listed = JSON.parse(await out('tenants', 'list', '--fields', 'slug,state'))
  expect(listed.data.slice(0, 2).map(Object.keys)).toEqual([
    ['slug', 'state'],
    ['slug', 'state'],
  ])
  expect(listed.data.map(({ slug }: { slug: string }) => slug)).toContain('globex')
  const one = JSON.parse(await out('tenants', 'quotas', 'show', 'acme', '--fields', 'items.value,export_jobs'))
  expect(Object.keys(one)).toEqual(['items', 'export_jobs'])
  expect(Object.keys(one.items)).toEqual(['value'])
})

test('a member that no row has is refused, and the nearest is offered', async () => {
  const ran = await svc('tenants', 'list', '--fields', 'slgu')
  expect([ran.code, ran.stdout]).toEqual([2, ''])
  expect(ran.stderr).toContain('it has no member "slgu". Did you mean slug?')
  expect(ran.stderr).toContain('Its members: id, slug, display_name')
})

test('--jq prints texts bare and the rest as JSON, one a line, with every digit of an int64', async () => {
  expect((await out('tenants', 'list', '--jq', '.data[] | select(.slug != "ops") | .slug')).split('\n')).toEqual(
    expect.arrayContaining(['acme', 'globex']),
  )
  expect(await out('tenants', 'quotas', 'show', 'acme', '--jq', '.items | {value}')).toBe(
    '{"value":9223372036854775807}\n',
  )
  expect(await out('tenants', 'list', '--fields', 'slug', '--jq', '.data[0] | keys')).toBe('["slug"]\n')
})

test('an expression may begin with a minus, or end with a comment', async () => {
  expect(await out('tenants', 'quotas', 'show', 'acme', '--jq', '-3 + .items.used')).toBe('-3\n')
  expect(await out('tenants', 'quotas', 'show', 'acme', '--jq', '.items.used # of it')).toBe('0\n')
})

test('an expression that jq does not read is refused before anything is done', async () => {
  const ran = await svc('tenants', 'suspend', 'acme', '--jq', '.[')
  expect([ran.code, ran.stdout]).toEqual([2, ''])
  expect(ran.stderr).toMatch(/^jq does not read the expression: syntax error.*jqlang/)
  expect(ran.stderr.trim().split('\n')).toHaveLength(1)
  expect(await daemon.db.sql`select state from tenant where slug = 'acme'`).toEqual([{ state: 'ACTIVE' }])
  const applied = await svc('tenants', 'list', '--jq', '.data[0].slug.inner')
  expect(applied).toMatchObject({ code: 2, stdout: '' })
  expect(applied.stderr).toContain('jq cannot apply the expression: Cannot index string')
})

test('-o yaml is the answer as YAML, -o json as --json', async () => {
  const json = await out('tenants', 'show', 'acme', '--json')
  expect(parse(await out('tenants', 'show', 'acme', '-o', 'yaml'))).toEqual(JSON.parse(json))
  expect(await out('tenants', 'show', 'acme', '-o', 'json')).toBe(json)
})

test('-o csv has a head and a line for each row', async () => {
  const lines = (await out('tenants', 'list', '-o', 'csv', '--fields', 'slug,display_name,state')).trim().split('\n')
  expect(lines[0]).toBe('slug,display_name,state')
  expect(lines).toContain('acme,"acme, ""Ltd""",ACTIVE')
})

test('two forms at once, and a format that is none, are refused', async () => {
  expect(await svc('tenants', 'list', '--jq', '.', '-o', 'yaml')).toMatchObject({ code: 2, stdout: '' })
  expect(await svc('tenants', 'list', '-o', 'xml')).toMatchObject({ code: 2, stdout: '' })
})

test('--quiet leaves out messages, never the answer or an error', async () => {
  expect(await svc('tenants', 'suspend', 'globex', '--quiet')).toEqual({ code: 0, stdout: '', stderr: '' })
  expect(await svc('tenants', 'resume', 'globex', '-q')).toEqual({ code: 0, stdout: '', stderr: '' })
  expect((await svc('tenants', 'show', 'acme', '-q')).stdout).toContain('acme')
  expect((await svc('tenants', 'show', 'nobody', '-q')).stderr).toContain('Nothing with this name or id')
})

describe('rows', () => {
  test('cells that a spreadsheet would run begin with an apostrophe; numbers and empty cells do not', () => {
    expect(csvOf({ data: [{ a: '=cmd()', b: -5, c: null, d: ['x', 1], e: { f: '@x' } }] })).toBe(
      `a,b,c,d,e.f\n'=cmd(),-5,,"[""x"",1]",'@x`,
    )
  })
  test('of different members share one head', () => {
    expect(csvOf([{ a: 1 }, { b: 2 }])).toBe('a,b\n1,\n,2')
  })
  test('an empty list is not asked for its members', () => {
    expect(fieldsFrom({ data: [], next_cursor: null }, ['slug'])).toEqual({ data: [], next_cursor: null })
  })
  test('an inner member of nothing is null', () => {
    expect(fieldsFrom({ a: null }, ['a.b'])).toEqual({ a: { b: null } })
  })
})
