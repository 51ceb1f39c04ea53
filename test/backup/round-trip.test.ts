/**
 * F-25: workspaces of any content, exported while their people write, come back from the
 * independent importer with the same rows, entity by entity. 3 workspaces, 20 with
 * SVC_FAULTS=full. What the archive must hold is read through the very snapshot that the
 * export reads, because a moment later it is not true any more.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exportTenantJob } from '../../src/core/areas/backup/export-job.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { workspaceTables } from '../../src/core/contract/tables.ts'
import type { Tx } from '../../src/core/kernel/database/transaction.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import { type TestDatabase, testDatabase } from '../kit/database.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { furnish } from '../kit/leaving-workspace.ts'
import { naughtyStrings } from '../kit/naughty-strings.ts'
import { importArchive, readArchive } from './importer.ts'

const workspaces = process.env['SVC_FAULTS'] === 'full' ? 20 : 3

let one: TestInstallation
let other: TestDatabase
let targetId: string
beforeAll(async () => {
  one = await testInstallation()
  other = await testDatabase()
  const body = { name: 'disk', kind: 'LOCAL' as const, config: { path: 'archives' } }
  targetId = (await one.asRecovery(operations.createBackupTarget, { body })).id
})
afterAll(async () => {
  await one.close()
  await other.drop()
})

interface Content {
  readonly rows: number
  readonly hash: string
}

/** Every exported table's rows, counted and hashed without regard to their order. */
const queries = [
  { table: 'tenant', owner: 'id', withheld: [] as readonly string[] },
  ...Object.entries(workspaceTables)
    .filter(([, { export: entity }]) => typeof entity === 'string')
    .map(([table, { withheld = [] }]) => ({ table, owner: 'tenant_id', withheld })),
].map(({ table, owner, withheld }) => ({
  table,
  text: `select (to_jsonb(t) - string_to_array('${withheld.join(',')}', ','))::text as row from ${table} t where ${owner} = $1`,
}))

type Ask = (text: string, values: string[]) => Promise<readonly { row: string }[]>

async function contentOf(tenantId: string, ask: Ask): Promise<Record<string, Content>> {
  const content: Record<string, Content> = {}
  for (const { table, text } of queries) {
    const rows = (await ask(text, [tenantId])).map(({ row }) => row).sort()
    content[table] = { rows: rows.length, hash: createHash('sha256').update(rows.join('\n')).digest('hex') }
  }
  return content
}

const throughTx =
  (tx: Tx): Ask =>
  (text, values) =>
    tx.text<{ row: string }[]>(text, values)
const throughSql =
  (sql: postgres.Sql): Ask =>
  (text, values) =>
    sql.unsafe<{ row: string }[]>(text, values)

const anyOf = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)]!
const upTo = (most: number) => 1 + Math.floor(Math.random() * most)
const storable = naughtyStrings.filter((text) => text.isWellFormed() && !text.includes('\0') && text !== '')
const anyText = () => anyOf(storable)
const moments = ['now()', "'2026-02-03 04:05:06.7+00'", "'1970-01-01 00:00:00+00'", "'9999-12-31 23:59:59.999999+00'"]

/** One change such as people make, in any of the exported tables. */
async function change(sql: postgres.Sql, tenantId: string, containers: string[]): Promise<void> {
  const [id, name] = [crypto.randomUUID(), anyText()]
  const at = sql.unsafe(anyOf(moments))
  switch (upTo(10)) {
    case 1:
      await sql`insert into container (tenant_id, id, kind, name, description, rank, is_private, archived_at) values (${tenantId}, ${id}, 'HUB', ${name}, ${anyText()}, ${id}, ${upTo(2) === 1}, ${at})`
      containers.push(id)
      return
    case 2:
      await sql`insert into label (tenant_id, id, container_id, name, name_fold, color_token, description, created_at) values (${tenantId}, ${id}, ${anyOf(containers)}, ${name}, ${id}, 'red', ${anyText()}, ${at})`
      return
    case 3:
      await sql`insert into bucket (tenant_id, id, container_id, name, name_fold, rank, wip_limit, color_token) values (${tenantId}, ${id}, ${anyOf(containers)}, ${name}, ${id}, ${id}, ${upTo(99)}, ${name})`
      return
    case 4:
      await sql`insert into account (tenant_id, id, kind, state, display_name, password_hash) values (${tenantId}, ${id}, 'SERVICE', 'ACTIVE', ${name}, 'withheld')`
      return
    case 5:
      await sql`insert into audit_entry (tenant_id, id, action, actor_kind, via, params) values (${tenantId}, ${id}, 'filler', 'SYSTEM', 'JOB', ${sql.json({ [name]: [name, 9007199254740991, null, { deep: name }] })})`
      return
    case 6:
      await sql`insert into legal_hold (tenant_id, id, scope_kind, reason, placed_by, placed_at) values (${tenantId}, ${id}, 'TENANT', ${name}, ${id}, ${at})`
      return
    case 7:
      await sql`insert into tenant_quota (tenant_id, quota, ceiling) values (${tenantId}, 'items', ${'9223372036854775807'}) on conflict (tenant_id, quota) do update set ceiling = ${String(upTo(1e9))}`
      return
    case 8:
      await sql`update label set description = ${name}, version = version + 1, updated_at = now() where tenant_id = ${tenantId} and id in (select id from label where tenant_id = ${tenantId} limit 5 for update skip locked)`
      return
    case 9:
      await sql`insert into automation_rule (tenant_id, id, name, enabled) values (${tenantId}, ${id}, ${name}, ${upTo(2) === 1})`
      return
    default:
      await sql`delete from label where tenant_id = ${tenantId} and id in (select id from label l where tenant_id = ${tenantId} and not exists (select from item_label i where i.tenant_id = l.tenant_id and i.label_id = l.id) order by id limit 2 for update skip locked)`
  }
}

/** Exports while `stop` has not been called, and says what the snapshot held. */
async function exportedDuringWrites(tenantId: string, containers: string[]) {
  let written = 0
  let isOver = false
  const writers = [0, 1, 2].map(async () => {
    for (; !isOver; written += 1) await change(one.oracle, tenantId, containers)
  })
  let held: Record<string, Content> = {}
  let before = 0
  const probing: Installation = {
    ...one.installation,
    snapshot: (id, work) =>
      one.installation.snapshot(id, async (tx) => {
        held = await contentOf(id, throughTx(tx))
        before = written
        const result = await work(tx)
        // They wrote while it was read, or this test shows nothing.
        await expect.poll(() => written, { timeout: 20_000 }).toBeGreaterThan(before)
        return result
      }),
  }
  try {
    await expect.poll(() => written, { timeout: 20_000 }).toBeGreaterThan(3)
    const { job_id } = await one.asRecovery(operations.exportTenant, { tenantId, body: { target_id: targetId } })
    await exportTenantJob.run(probing, { tenantId, jobId: job_id })
    return { job: await one.asRecovery(operations.getJob, { jobId: job_id }), held }
  } finally {
    isOver = true
    await Promise.all(writers)
  }
}

test(`${workspaces} workspaces come back as they were at their moment`, async () => {
  const seen = new Set<string>()
  for (let round = 0; round < workspaces; round += 1) {
    const { tenant, owner, collection_id: collectionId } = await one.provision()
    const bare = { id: tenant.id, ownerId: owner.account_id, collectionId }
    await furnish({ sql: one.oracle, installation: one.installation }, bare)
    const containers = (
      await one.oracle<{ id: string }[]>`select id from container where tenant_id = ${tenant.id}`
    ).map(({ id }) => id)
    for (let made = upTo(200); made > 0; made -= 1) await change(one.oracle, tenant.id, containers)

    const { job, held } = await exportedDuringWrites(tenant.id, containers)
    expect([job.state, job.failure]).toEqual(['SUCCEEDED', null])
    const archive = readArchive(join(one.installation.config.backupDir, 'archives', job.result?.path ?? ''))
    await importArchive(other.sql, archive)

    expect(await contentOf(tenant.id, throughSql(other.sql))).toEqual(held)
    expect(await contentOf(tenant.id, throughSql(one.oracle)), 'it has changed since').not.toEqual(held)
    for (const [table, { rows }] of Object.entries(held)) if (rows > 0) seen.add(table)
  }
  expect([...seen].sort()).toEqual(queries.map(({ table }) => table).sort())
}, 300_000)
