/** The guides below docs/api do what they say: every example is sent to a daemon, and its answer is the one shown. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tenantOperations } from '../../src/core/contract/tenants/operations.ts'
import { installationScope, roles } from '../../src/core/contract/vocabulary.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { person, setUp } from '../kit/people.ts'
import { type Example, examplesIn, type Known, run } from './guide.ts'

const folder = fileURLToPath(new URL('../../docs/api', import.meta.url))
const guides = readdirSync(folder).filter((name) => name.endsWith('.md'))

let daemon: TestDaemon
let operator: string
const target = crypto.randomUUID()
beforeAll(async () => {
  daemon = await testDaemon()
  const { tenantId } = await setUp(daemon)
  operator = (await person(daemon, tenantId, { operator: true })).token
  await daemon.db.sql`
    insert into backup_target (tenant_id, id, name, kind, config) values (${installationScope}, ${target}, 'disk', 'LOCAL', '{"path":"disk"}')`
})
afterAll(() => daemon.close())

/** A workspace of its own, as provisioning leaves it, with somebody of each role. */
async function freshWorkspace(slug: string): Promise<Known> {
  const { path } = tenantOperations.provisionTenant
  const { json } = await daemon.call('POST', `/api/v1${path}`, {
    token: operator,
    body: { slug, display_name: slug, owner_email: `owner@${slug}.example` },
  })
  const known: Known = new Map([
    ['hub', json.hub_id],
    ['collection', json.collection_id],
    ['target', target],
  ])
  for (const role of roles) {
    const { token, accountId } = await person(daemon, json.tenant.id, { role })
    known.set(role.toLowerCase(), token)
    known.set(`${role.toLowerCase()}_id`, accountId)
  }
  const scopes = ['workspace:admin', 'workspace:read'] as const
  known.set('scoped_owner', (await person(daemon, json.tenant.id, { role: 'OWNER', scopes })).token)
  known.set('scoped_admin', (await person(daemon, json.tenant.id, { role: 'ADMIN', scopes })).token)
  return known
}

describe.each(guides)('%s', (name) => {
  const markdown = readFileSync(join(folder, name), 'utf8')
  const examples = examplesIn(markdown)

  test('has examples, and each answers what it shows', async () => {
    expect(examples.length).toBeGreaterThan(0)
    const known = await freshWorkspace(`guide-${name.replace('.md', '').toLowerCase()}`)
    for (const example of examples) {
      const place = `${name}:${example.line} ${example.request.first}`
      expect([place, await run(daemon, example, known)]).toEqual([place, []])
    }
  })

  test('stands in the table of the guides', () => {
    if (name === 'README.md') return
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toContain(`](${name})`)
  })
})

describe('the runner itself', () => {
  const example = (answer: string): Example =>
    examplesIn(`\`\`\`http\nGET /containers/{{collection}}\n\`\`\`\n\`\`\`http\n${answer}\n\`\`\`\n`)[0]!
  let known: Known
  beforeAll(async () => {
    known = await freshWorkspace('guide-runner')
  })

  test.each([
    ['another status', '404 Not Found\n\n{ … }', /answered 200/],
    ['another header', '200 OK\nETag: "7"\n\n{ … }', /header etag is "\\"1\\"", shown "\\"7\\""/],
    ['another value', '200 OK\n\n{ "kind": "HUB", … }', /body.kind is "COLLECTION", shown "HUB"/],
    ['a member that is not there', '200 OK\n\n{ "colour": null, … }', /body.colour is undefined/],
    ['members that are not shown', '200 OK\n\n{ "kind": "COLLECTION" }', /body.id is not shown/],
    ['another id than the known one', '200 OK\n\n{ "id": "{{hub}}", … }', /body.id is/],
    ['no body', '200 OK', /answered a body/],
  ])('sees %s', async (_, answer, says) => {
    expect((await run(daemon, example(answer), new Map(known))).join('\n')).toMatch(says)
  })

  test('remembers what an answer names', async () => {
    const names = new Map(known)
    expect(await run(daemon, example('200 OK\n\n{ "name": "{{title}}", … }'), names)).toEqual([])
    expect(names.get('title')).toBe('Example project')
  })

  test('refuses a request without an answer', () => {
    expect(() => examplesIn('```http\nGET /containers\n```\n')).toThrow('line 1')
  })
})
