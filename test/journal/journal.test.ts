/** The installation's own record, newest first. Spec: Admin, rule 4; decisions 4; threats T-12. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { type Callers, callers, modes } from '../kit/accounts.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

const { listJournal, provisionTenant, suspendTenant, resumeTenant, changeTenantQuotas } = operations
const mutations = process.env['SVC_FAULTS'] === 'full' ? 20_000 : 2_000

let own: TestInstallation
let who: Callers
const canary = 'Kanarienvogel im Namen'
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
  const made = await who.recovery.call(provisionTenant, {
    body: { slug: 'told', display_name: canary, owner_email: 'kanarie@told.example', owner_display_name: canary },
  })
  const tenantId = made.tenant.id
  await who.api.call(suspendTenant, { tenantId })
  await who.recovery.call(resumeTenant, { tenantId })
  await who.api.call(changeTenantQuotas, { tenantId, body: { items: 3 } })
})
afterAll(async () => {
  await who.close()
  await own.close()
})

describe.each(modes)('by %s', (mode) => {
  const list = (query: object = {}) => who[mode].call(listJournal, query)

  test('the newest entry is first, down to the order within one transaction', async () => {
    const { data, next_cursor } = await list()
    expect(data.map(({ action }) => action)).toEqual([
      'tenant.quotas_changed',
      'tenant.resumed',
      'tenant.suspended',
      'tenant.provisioned',
      'installation.set_up',
      'operator.added',
      'tenant.provisioned',
    ])
    expect(next_cursor).toBe(null)
  })

  test('an entry says who, by which way, about which workspace', async () => {
    const { data } = await list({ size: 2 })
    expect(data[0]).toMatchObject({
      actor: { kind: 'ACCOUNT', account_id: who.operator.accountId, via: 'API' },
      tenant: { slug: 'told' },
      subject: null,
      params: { quotas: { items: '3' } },
    })
    expect(data[1]).toMatchObject({
      actor: { kind: 'RECOVERY', account_id: null, via: 'RECOVERY' },
      params: { os_user: expect.any(String), host: expect.any(String) },
    })
  })

  test('nobody’s content is in it: no name, no address', async () => {
    const text = JSON.stringify(await list())
    expect(text).not.toContain(canary)
    expect(text).not.toContain('@')
  })

  test('pages of every size join to the whole', async () => {
    const whole = (await list({ size: 200 })).data
    for (const size of [1, 2, 3, 7]) {
      const seen: unknown[] = []
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page: Awaited<ReturnType<typeof list>> = await list({ size, ...(cursor ? { cursor } : {}) })
        seen.push(...page.data)
        cursor = page.next_cursor
      }
      expect(seen).toEqual(whole)
    }
  })

  test('an entry written while somebody pages is neither skipped to nor repeated', async () => {
    const first = await list({ size: 3 })
    await own.provision()
    const rest = await list({ size: 200, cursor: first.next_cursor })
    const ids = [...first.data, ...rest.data].map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(rest.data.at(-1)?.action).toBe('tenant.provisioned')
    await own.oracle`delete from journal where id > ${first.data[0]!.id}`
  })

  test.each([{ size: 0 }, { size: 201 }, { size: 'all' }, { cursor: 'x'.repeat(2049) }])(
    'the query %j is malformed',
    async (query) => {
      await expect(list(query)).rejects.toMatchObject({ code: 'request.malformed', status: 400 })
    },
  )

  test('a cursor of another list is invalid', async () => {
    const { next_cursor } = await who[mode].call(operations.listTenants, { size: 1 })
    await expect(list({ cursor: next_cursor })).rejects.toMatchObject({ code: 'cursor.invalid', status: 400 })
  })
})

test('a cursor tells nothing of the position it holds', async () => {
  const { data, next_cursor } = await who.recovery.call(listJournal, { size: 1 })
  const bytes = Buffer.from(next_cursor!, 'base64url')
  const { id } = data[0]!
  for (const spelling of [Buffer.from(id), Buffer.from(id.replaceAll('-', ''), 'hex').subarray(0, 6)])
    expect(bytes.includes(spelling)).toBe(false)
  // The row beside it says already whether anything happened in between.
  expect((await who.recovery.call(listJournal, { size: 1 })).next_cursor).toBe(next_cursor)
})

test('a cursor of the operator at the database and one of an account’s list do not serve each other', async () => {
  const { next_cursor: mine } = await who.api.call(listJournal, { size: 1 })
  await expect(who.recovery.call(listJournal, { cursor: mine! })).rejects.toMatchObject({ code: 'cursor.invalid' })
})

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const at = fc.nat(10_000)
const character = fc.constantFrom(...alphabet)

/** A change of one cursor's text; some leave it as it was. */
const mutation = fc.oneof(
  fc.tuple(at, character).map(
    ([n, other]) =>
      (text: string) =>
        replaced(text, n % text.length, other),
  ),
  fc.tuple(at, fc.nat(7)).map(
    ([n, bit]) =>
      (text: string) =>
        flipped(text, n, bit),
  ),
  at.map((n) => (text: string) => text.slice(0, n % text.length)),
  at.map((n) => (text: string) => text.slice(n % text.length)),
  fc.tuple(at, character).map(
    ([n, other]) =>
      (text: string) =>
        text.slice(0, n % text.length) + other + text.slice(n % text.length),
  ),
  fc.string({ minLength: 1, maxLength: 4 }).map((more) => (text: string) => text + more),
  fc.string({ minLength: 1, maxLength: 512, unit: character }).map((other) => () => other),
  fc.string({ minLength: 1, maxLength: 80 }).map((other) => () => other),
)

const replaced = (text: string, n: number, other: string) => text.slice(0, n) + other + text.slice(n + 1)

function flipped(text: string, n: number, bit: number): string {
  const bytes = Buffer.from(text, 'base64url')
  const place = n % bytes.length
  bytes[place] = bytes[place]! ^ (1 << bit)
  return bytes.toString('base64url')
}

test(`${mutations} altered cursors get one answer, and never a failure of ours`, async () => {
  const { next_cursor } = await who.recovery.call(listJournal, { size: 1 })
  const refusals = new Set<string>()
  await fc.assert(
    fc.asyncProperty(mutation, async (change) => {
      const cursor = change(next_cursor!)
      if (cursor === next_cursor) return
      const answer = await who.recovery.call(listJournal, { cursor }).catch((error: unknown) => error)
      refusals.add(JSON.stringify({ ...(answer as object), message: undefined }))
      expect(answer).toMatchObject({ name: 'Problem', status: 400 })
    }),
    { numRuns: mutations },
  )
  const invalid = [...refusals].map((text) => (JSON.parse(text) as { code: string }).code)
  expect(invalid).toEqual(['cursor.invalid'])
}, 120_000)
