/** Listing workspaces: whole or in pages, oldest first. Spec: Admin: workspaces; decisions 4 and 1, Lists. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { type Callers, callers, modes } from '../kit/accounts.ts'
import { freshSlug, type TestInstallation, testInstallation } from '../kit/installation.ts'

const { listTenants, suspendTenant } = operations

let own: TestInstallation
let who: Callers
let slugs: string[]
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
  slugs = [who.operator.slug]
  for (let i = 0; i < 6; i += 1) slugs.push((await own.provision(freshSlug('list'))).tenant.slug)
  const { data } = await own.asRecovery(listTenants, { slug: slugs[2]! })
  await own.asRecovery(suspendTenant, { tenantId: data[0]!.id })
})
afterAll(async () => {
  await who.close()
  await own.close()
})

describe.each(modes)('by %s', (mode) => {
  const list = (query: object = {}) => who[mode].call(listTenants, query)
  const slugsOf = ({ data }: { data: readonly { slug: string }[] }) => data.map(({ slug }) => slug)

  test('without a page all are answered, oldest first, and no cursor', async () => {
    const all = await list()
    expect(slugsOf(all)).toEqual(slugs)
    expect(all).not.toHaveProperty('next_cursor')
  })

  test('pages of any size join to the whole list', async () => {
    for (const size of [1, 2, 3, 7, 1000]) {
      const seen: string[] = []
      let cursor: string | null | undefined
      do {
        const page: { data: readonly { slug: string }[]; next_cursor?: string | null | undefined } = await list({
          size,
          ...(cursor ? { cursor } : {}),
        })
        expect(page.data.length).toBeLessThanOrEqual(size)
        seen.push(...slugsOf(page))
        cursor = page.next_cursor
      } while (cursor)
      expect(cursor).toBe(null)
      expect(seen).toEqual(slugs)
    }
  })

  test('by state and by slug', async () => {
    expect(slugsOf(await list({ state: 'SUSPENDED' }))).toEqual([slugs[2]])
    expect(slugsOf(await list({ state: 'PENDING_DELETION' }))).toEqual([])
    expect(slugsOf(await list({ slug: slugs[4] }))).toEqual([slugs[4]])
    expect(slugsOf(await list({ slug: slugs[4], state: 'SUSPENDED' }))).toEqual([])
    expect(slugsOf(await list({ slug: 'nobody-has-it' }))).toEqual([])
  })

  test('a cursor serves its own list and filters only', async () => {
    const { next_cursor } = await list({ size: 2 })
    const { next_cursor: ofState } = await list({ size: 2, state: 'ACTIVE' })
    expect(slugsOf(await list({ size: 3, cursor: next_cursor }))).toEqual(slugs.slice(2, 5)) // another size is no other list
    const invalid = { code: 'cursor.invalid', status: 400 }
    await expect(list({ cursor: next_cursor, state: 'ACTIVE' })).rejects.toMatchObject(invalid)
    await expect(list({ cursor: ofState })).rejects.toMatchObject(invalid)
    await expect(list({ cursor: ofState, state: 'SUSPENDED' })).rejects.toMatchObject(invalid)
    const journal = await who[mode].call(operations.listJournal, { size: 1 })
    await expect(list({ cursor: journal.next_cursor })).rejects.toMatchObject(invalid)
  })

  test.each([
    { size: 0 },
    { size: 1001 },
    { size: -1 },
    { size: 1.5 },
    { size: 'many' },
    { state: 'GONE' },
    { slug: 'A' },
  ])('the query %j is malformed', async (query) => {
    await expect(list(query)).rejects.toMatchObject({ code: 'request.malformed', status: 400 })
  })
})
