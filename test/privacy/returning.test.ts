/**
 * An erased person never comes back: not by a rewind of the database, and not by an archive from before. Keeping 1 to 3; abuse 3.
 */
import { randomUUIDv7 } from 'node:crypto'
import type { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openArchive } from '../../src/core/areas/backup/archive-reader.ts'
import { backupTenantJob } from '../../src/core/areas/backup/backups/job.ts'
import { Loader } from '../../src/core/areas/backup/loading/loader.ts'
import { inScratch } from '../../src/core/areas/backup/loading/scratch.ts'
import { readShape } from '../../src/core/areas/backup/loading/shape.ts'
import { withStore } from '../../src/core/areas/backup/open-store.ts'
import { readErasures } from '../../src/core/areas/erasure/reading.ts'
import { raw } from '../../src/core/areas/erasure/rules.ts'
import { applyErasures, applyErasuresToStaging, type Staged } from '../../src/core/areas/erasure/staging.ts'
import { repeatSteps } from '../../src/core/areas/recovery/apply.ts'
import { planReconciliation, readLedgers } from '../../src/core/areas/recovery/reconcile.ts'
import { operations as ops } from '../../src/core/contract/operations.ts'
import type { Choices } from '../../src/core/contract/privacy/requests.ts'
import { type Part, statementOf } from '../../src/core/kernel/database/statement.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { furnish } from '../kit/leaving-workspace.ts'
import type { Person } from '../kit/people.ts'
import { keep, takeBack } from '../kit/rewinding.ts'
import { grantErasure, type PrivacyHouse, privacyHouse } from './privacy-kit.ts'

const canary = 'Quokka'
const actor = recoveryActor()
let house: PrivacyHouse
let who: Person
let itemId: string
let backup: { id: string; path: string | null; job_id: string }
beforeAll(async () => {
  house = await privacyHouse()
  const { two, sql, tenantId, owner } = house
  const { collectionId } = house
  who = await house.member()
  await furnish(two, { id: tenantId, ownerId: who.accountId, collectionId })
  await sql`delete from media_reference where tenant_id = ${tenantId}`
  await sql`delete from media where tenant_id = ${tenantId}`
  await sql`delete from tenant_quota where quota = 'items'`
  const email = 'quokka@people.example'
  await sql`
    update account set display_name = ${canary}, email = ${email}, email_fold = ${email}, external_id = 'x-quokka' where id = ${who.accountId}`
  await sql`
    insert into account_address (tenant_id, id, account_id, email, email_fold, is_primary, confirmed_at)
    values (${tenantId}, ${randomUUIDv7()}, ${who.accountId}, ${email}, ${email}, true, now())`
  const items = { container_id: collectionId, title: `${canary} wrote this`, description: 'words of the quokka' }
  itemId = (await house.call(who, 'POST', '/items', items)).json.id
  await house.call(who, 'POST', `/items/${itemId}/comments`, { body: 'said the quokka' })
  await house.call(owner, 'POST', '/items', { container_id: collectionId, title: `Ask ${canary}` })

  const target = await two.call('recovery', ops.createBackupTarget, {
    body: { name: 'disk', kind: 'LOCAL', config: { path: 'disk' } },
  })
  const asked = await two.call('recovery', ops.createBackup, { body: { tenant_id: tenantId, target_id: target.id } })
  await backupTenantJob.run(two.installation, { tenantId, jobId: asked.job_id })
  backup = await two.call('recovery', ops.getBackup, { backupId: asked.id })
  await keep(sql, 'before')
  await grantErasure(house, who, { texts: 'REDACT' })
  await house.runJobs()
})
afterAll(() => house.close())

/** Without what somebody else wrote, which was not chosen and stays. */
async function placesWith(rows: (text: string) => Promise<readonly object[]>, schema: string): Promise<string[]> {
  const tables = (await rows(
    `select c.relname as name from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
     where n.nspname = '${schema}' and c.relkind in ('r', 'p') order by 1`,
  )) as { name: string }[]
  const found: string[] = []
  for (const { name } of tables)
    if (
      (
        await rows(
          `select 1 from "${schema}"."${name}" t where t::text ilike '%quokka%' and t::text not ilike '%ask quokka%' limit 1`,
        )
      ).length > 0
    )
      found.push(name)
  return found
}
const live = (text: string) => house.sql.unsafe(text) as Promise<readonly object[]>

/** The archive of before, loaded as a restore loads it. */
async function staged(work: (client: Client, schema: string) => Promise<void>): Promise<void> {
  const { installation } = house.two
  const store = { kind: 'LOCAL', config: { path: 'disk' }, secrets: {} } as const
  await withStore(installation, store, async (open) => {
    const archive = await openArchive(open, backup.path ?? '', house.tenantId, installation.keyring)
    const shape = await installation.transaction(actor, { readOnly: true }, ({ tx }) => readShape(tx))
    const entities = new Set(archive.manifest.files.map(({ entity }) => entity))
    const tables = shape.filter(({ name }) => entities.has(name))
    await inScratch(installation, { jobId: randomUUIDv7(), attempt: 1 }, async (client, schema) => {
      const loader = new Loader(client, schema, house.tenantId)
      await loader.make(tables)
      for (const table of tables) await loader.load(archive, table, new AbortController().signal)
      await work(client, schema)
      await loader.validate(tables)
    })
  })
}

test('an archive of before, that is loaded, is erased before anybody sees it; twice changes nothing', async () => {
  const erasures = await readErasures(house.two.installation, house.tenantId, { actor })
  expect(erasures).toMatchObject([{ accountId: who.accountId, choices: { texts: 'REDACT', files: 'KEEP' } }])
  await staged(async (client, schema) => {
    const rows = async (text: string) => (await client.query(text)).rows as object[]
    expect(await placesWith(rows, schema)).toEqual(expect.arrayContaining(['account', 'account_address', 'item']))
    const repeated = await applyErasuresToStaging(client, schema, house.tenantId, erasures)
    expect(repeated.accounts).toEqual([who.accountId])
    expect(await placesWith(rows, schema)).toEqual([])
    expect(await rows(`select 1 from "${schema}".item where title = 'Ask ${canary}'`)).toHaveLength(1)
    const [item] = (await rows(`select title, description from "${schema}".item where id = '${itemId}'`)) as object[]
    expect(item).toEqual({ title: '[…]', description: null })
    const [account] = await rows(`select state, email from "${schema}".account where id = '${who.accountId}'`)
    expect(account).toEqual({ state: 'ERASED', email: null })
    for (const table of ['connected_identity', 'second_factor', 'password_history', 'membership', 'item_member'])
      expect(await rows(`select 1 from "${schema}"."${table}" where account_id = '${who.accountId}'`)).toEqual([])
    const [erasure] = await rows(`select account_id from "${schema}".erasure where account_id is not null`)
    expect(erasure).toEqual({ account_id: who.accountId })
    expect(await applyErasuresToStaging(client, schema, house.tenantId, erasures)).toMatchObject({
      accounts: [],
      rows: 0,
    })
  })
})

test('what a hold keeps of an archive is copied before it goes', async () => {
  const erasures = await readErasures(house.two.installation, house.tenantId, { actor })
  await staged(async (client, schema) => {
    await applyErasuresToStaging(client, schema, house.tenantId, erasures, { isHeld: () => true })
    const { rows } = await client.query(
      `select body ->> 'display_name' as name from "${schema}".erasure_held where place = 'account'`,
    )
    expect(rows).toEqual([{ name: canary }])
  })
})

test('where content lies without accounts, a text that was chosen goes whole: nobody knows the names any more', async () => {
  const [asked] = await house.sql<{ id: string }[]>`select id from item where title = ${`Ask ${canary}`}`
  const choices: Choices = { texts: 'KEEP', files: 'KEEP', mentions: [{ kind: 'ITEM', id: asked!.id }] }
  await staged(async (client, schema) => {
    const place: Staged = {
      tenantId: house.tenantId,
      table: (name) => raw(`"${schema}"."${name}"`),
      shape: new Map([['item', ['id', 'title', 'description', 'created_by', 'assignee_id', 'updated_at', 'version']]]),
      async ask<Row extends object>(statement: Part) {
        const { text, values } = statementOf(['', ''], [statement])
        return (await client.query<Row>(text, [...values])).rows
      },
    }
    await applyErasures(place, [{ accountId: who.accountId, at: new Date().toISOString(), choices }])
    const { rows } = await client.query(`select title from "${schema}".item where id = '${asked!.id}'`)
    expect(rows).toEqual([{ title: '[…]' }])
  })
})

test('a database that is taken back erases the person again, with the choices of the time, and finds nothing more to do', async () => {
  const { installation } = house.two
  expect(await placesWith(live, 'public')).toEqual([])
  await takeBack(house.sql, 'before')
  expect(await placesWith(live, 'public')).toContain('account')
  const { desired } = await readLedgers(installation)
  const steps = await planReconciliation(installation, desired)
  expect(steps).toContainEqual(
    expect.objectContaining({ what: 'account.erase', id: who.accountId, hindered_by: null, is_uncertain: false }),
  )
  await repeatSteps({ installation, actor, recoveryPoint: new Date().toISOString(), desired }, steps)
  expect(await placesWith(live, 'public')).toEqual([])
  const [item] = await house.sql`select title from item where id = ${itemId}`
  expect(item).toEqual({ title: '[…]' })
  const again = await readLedgers(installation)
  expect(await planReconciliation(installation, again.desired)).toEqual([])
})
