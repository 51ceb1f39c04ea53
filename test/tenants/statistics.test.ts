/** What a workspace has, in numbers: counted right, by day, in both modes, and never content. Decision 0104. */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { workspaceTables } from '../../src/core/contract/tables.ts'
import { type Callers, callers, modes } from '../kit/accounts.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

const { getTenantStatistics } = operations

let own: TestInstallation
let who: Callers
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
})
afterAll(async () => {
  await who.close()
  await own.close()
})

/** A label that came so many days of UTC ago, at the day's last moment. */
const plantLabel = (tenantId: string, containerId: string, daysAgo: number, name: string = randomUUID()) => own.oracle`
  insert into label (tenant_id, id, container_id, name, name_fold, color_token, created_at)
  values (${tenantId}, ${randomUUID()}, ${containerId}, ${name}, ${name}, 'red',
          (date_trunc('day', now() at time zone 'UTC') + interval '1 day' - interval '1 microsecond' - make_interval(days => ${daysAgo})) at time zone 'UTC')`

describe.each(modes)('by %s', (mode) => {
  test('every entity of an export is counted, and its rows by the day on which they came', async () => {
    const made = await own.provision()
    const other = await own.provision()
    const tenantId = made.tenant.id
    for (const daysAgo of [0, 0, 29, 29, 29, 30, 400]) await plantLabel(tenantId, made.collection_id, daysAgo)
    for (let n = 0; n < 9; n += 1) await plantLabel(other.tenant.id, other.collection_id, 0)

    const answer = await who[mode].call(getTenantStatistics, { tenantId })
    const entities = Object.values(workspaceTables).flatMap(({ export: entity }) =>
      typeof entity === 'string' ? [entity] : [],
    )
    expect(answer.entities.map(({ entity }) => entity).sort()).toEqual(entities.sort())
    const labels = answer.entities.find(({ entity }) => entity === 'labels')!
    expect(labels.rows).toBe(4 + 7)
    expect(labels.new_per_day).toEqual([3, ...Array(28).fill(0), 4 + 2])
    const [size] = await own.oracle<{ bytes: string }[]>`
      select sum(pg_column_size(t.*)) as bytes from label t where tenant_id = ${tenantId}`
    expect(labels.bytes).toBe(Number(size!.bytes))
    expect(answer.entities.find(({ entity }) => entity === 'containers')).toMatchObject({ rows: 2 })
  })

  test('no text of the workspace is in the answer, nor any id but its own', async () => {
    const made = await own.provision()
    const tenantId = made.tenant.id
    await plantLabel(tenantId, made.collection_id, 1, 'canary')
    const answer = await who[mode].call(getTenantStatistics, { tenantId })
    const text = JSON.stringify({ ...answer, tenant_id: '', counted_at: '' })
    const words = new Set(text.match(/"[^"]*"/g))
    const known = ['tenant_id', 'counted_at', 'days', 'entities', 'entity', 'rows', 'bytes', 'new_per_day', '']
    const entities = answer.entities.map(({ entity }) => entity)
    expect([...words].filter((word) => ![...known, ...entities].includes(word.slice(1, -1)))).toEqual([])
  })

  test('it leaves no trace, and one that nobody has is not_found', async () => {
    const { tenant } = await own.provision()
    const entries = async () => (await own.oracle`select count(*) from audit_entry where tenant_id = ${tenant.id}`)[0]
    const before = await entries()
    await who[mode].call(getTenantStatistics, { tenantId: tenant.id })
    expect(await entries()).toEqual(before)
    await expect(who[mode].call(getTenantStatistics, { tenantId: randomUUID() })).rejects.toThrow('not_found')
  })
})

test('every column that growth is counted by is a moment that its table has', async () => {
  for (const [table, { since }] of Object.entries(workspaceTables)) {
    if (since === undefined) continue
    const found = await own.oracle`
      select data_type from information_schema.columns where table_name = ${table} and column_name = ${since}`
    expect([table, found]).toEqual([table, [{ data_type: 'timestamp with time zone' }]])
  }
})
