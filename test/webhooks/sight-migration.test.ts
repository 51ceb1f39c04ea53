/** Migration 0027 gives each webhook that was there the account that it acts for, from the trail. Decisions 0155, 0156. */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withClient } from '../../src/core/kernel/database/client.ts'
import { migrationFolder } from '../../src/core/kernel/database/migration-names.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'

let db: TestDatabase
beforeAll(async () => {
  db = await testDatabase()
})
afterAll(() => db.drop())

/** From the comment on: row-level security is lifted, the webhooks get their accounts, and it is put back. */
const giveAccounts = `-- ${readFileSync(join(migrationFolder, '0027_sight_of_events.sql'), 'utf8').split('-- The trail knows')[1]}`

const tenantId = randomUUID()
const people = { ada: randomUUID(), ben: randomUUID(), gone: randomUUID() }
type Name = keyof typeof people
interface Entry {
  readonly action: 'created' | 'changed' | 'enabled' | 'tested'
  readonly by: Name | null
  readonly params?: object
}

const created = (by: Name | null): Entry => ({ action: 'created', by })
const changed = (by: Name, params: object): Entry => ({ action: 'changed', by, params })

/** Cases: the trail of a webhook, oldest first, and the account that it acts for. */
const cases: readonly (readonly [string, readonly Entry[], Name | null])[] = [
  ['its maker', [created('ada')], 'ada'],
  ['who changed its target last', [created('ada'), changed('ben', { changed: ['target_url'] })], 'ben'],
  ['who changed its event types last', [created('ada'), changed('ben', { changed: ['event_types', 'state'] })], 'ben'],
  ['nobody else after a change of its name', [created('ada'), changed('ben', { changed: ['name'] })], 'ada'],
  ['who enabled it', [created('ada'), { action: 'enabled', by: 'ben' }], 'ben'],
  [
    'who made it active again',
    [created('ada'), changed('ben', { changed: ['state'], state: 'ACTIVE', state_before: 'PAUSED' })],
    'ben',
  ],
  [
    'not who paused it',
    [created('ada'), changed('ben', { changed: ['state'], state: 'PAUSED', state_before: 'ACTIVE' })],
    'ada',
  ],
  ['not who tested it', [created('ada'), { action: 'tested', by: 'ben' }], 'ada'],
  ['nobody, if its maker has no role any more', [created('gone')], null],
  ['who is there still', [created('ada'), changed('gone', { changed: ['target_url'] })], 'ada'],
  ['nobody, if an operator at the database made it', [created(null)], null],
  ['nobody, if the trail does not know it', [], null],
]

describe('a webhook that was there before acts for', () => {
  const ids = cases.map(() => randomUUID())

  beforeAll(async () => {
    const { sql } = db
    await sql`insert into tenant (id, slug, display_name, default_locale, default_time_zone) values (${tenantId}, 'acme', 'Acme', 'en', 'UTC')`
    for (const [name, id] of Object.entries(people)) {
      const email = `${name}@people.example`
      await sql`insert into account (tenant_id, id, kind, state, email, email_fold) values (${tenantId}, ${id}, 'PERSON', 'ACTIVE', ${email}, ${email})`
      if (name !== 'gone')
        await sql`insert into membership (tenant_id, id, account_id, role) values (${tenantId}, ${randomUUID()}, ${id}, 'ADMIN')`
    }
    for (const [at, [, entries]] of cases.entries()) {
      await sql`
        insert into webhook (tenant_id, id, target_url, host, event_types)
        values (${tenantId}, ${ids[at]!}, 'https://hooks.example/', 'hooks.example', '[]')`
      for (const [second, { action, by, params = {} }] of entries.entries())
        await sql`
          insert into audit_entry (tenant_id, id, at, action, actor_kind, actor_account_id, via, subject_kind, subject_id, params)
          values (${tenantId}, ${randomUUID()}, now() + make_interval(secs => ${second}), ${`webhook.${action}`},
                  ${by === null ? 'RECOVERY' : 'ACCOUNT'}, ${by === null ? null : people[by]}, 'API', 'webhook', ${ids[at]!}, ${sql.json(params as never)})`
    }
    // As migrations run: by the owner of the tables, who is no superuser.
    await withClient(db.owner, (client) => client.query(giveAccounts))
  })

  test.each(cases.map(([name, , account], at) => [name, account, ids[at]!] as const))('%s', async (_, account, id) => {
    const [row] = await db.sql<{ acts_for: string | null }[]>`select acts_for from webhook where id = ${id}`
    expect(row?.acts_for).toBe(account === null ? null : people[account])
  })

  test('and row-level security is in force again', async () => {
    const rows = await db.sql<{ relname: string; relforcerowsecurity: boolean }[]>`
      select relname, relforcerowsecurity from pg_class where relname in ('webhook', 'audit_entry', 'membership') order by 1`
    expect(rows.map(({ relname, relforcerowsecurity }) => [relname, relforcerowsecurity])).toEqual([
      ['audit_entry', true],
      ['membership', true],
      ['webhook', true],
    ])
  })
})
