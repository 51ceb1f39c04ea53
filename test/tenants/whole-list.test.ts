/** The whole list of workspaces, page by page: nothing is held for a caller who takes his time. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pagesOf } from '../../src/core/app/perform.ts'
import { tenantOperations } from '../../src/core/contract/tenants/operations.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

const workspaces = 1_200
let own: TestInstallation
beforeAll(async () => {
  own = await testInstallation({ poolSize: 1 })
  await own.oracle`
    insert into tenant (id, slug, display_name, default_locale, default_time_zone)
    select uuidv7(), 'whole-' || n, 'Whole', 'en', 'UTC' from generate_series(1, ${workspaces}) n`
})
afterAll(() => own.close())

const pages = () => pagesOf(own.installation, tenantOperations.listTenants, recoveryActor(), {})

/** Transactions that this installation has open, as PostgreSQL sees it. */
async function openTransactions(): Promise<number> {
  const [row] = await own.oracle<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend' and xact_start is not null`
  return row!.count
}

test('between two pages no transaction is open and no connection is lent', async () => {
  const seen: number[] = []
  for await (const page of pages()) {
    seen.push(page.length)
    expect(await openTransactions()).toBe(0)
    expect(own.installation.pool.counts.used).toBe(0)
  }
  expect(seen).toEqual([100, 500, 500, 100])
})

test('a caller who stops reading leaves nothing behind, and the only connection serves the next one', async () => {
  for await (const page of pages()) {
    expect(page).toHaveLength(100)
    break
  }
  expect(own.installation.pool.counts.used).toBe(0)
  const next = pages()
  expect((await next.next()).value).toHaveLength(100)
  await next.return(undefined)
})

test('a workspace that is made while the list is read is in it once, and none is in it twice', async () => {
  const slugs: string[] = []
  for await (const page of pages()) {
    if (slugs.length === 0) await own.provision('made-meanwhile')
    slugs.push(...(page as { slug: string }[]).map(({ slug }) => slug))
  }
  expect(slugs.filter((slug) => slug === 'made-meanwhile')).toHaveLength(1)
  expect(new Set(slugs).size).toBe(workspaces + 1)
})
