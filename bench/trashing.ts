/**
 * Emptying a trash of 100,000 items, by the jobs that do it: the longest transaction of those that decide, and of those that
 * remove the rows. Targets: work on boards, 9.
 */
import postgres from 'postgres'
import { performForAnswer } from '../src/core/app/perform.ts'
import { emptyTrashJob } from '../src/core/areas/items/trash/emptying.ts'
import { removeAll } from '../src/core/areas/items/trash/removal.ts'
import { operations } from '../src/core/contract/operations.ts'
import { postgresOptions } from '../src/core/kernel/database/address.ts'
import { fillBoards } from './board-filler.ts'
import type { Ground } from './ground.ts'
import { ceilingLine, type Line } from './table.ts'
import { watch } from './watched.ts'

const items = 100_000
const boards = 4

export async function trashing(ground: Ground): Promise<Line[]> {
  const { installation, tenantId } = ground
  await fillBoards(ground, { boards, buckets: 5, itemsEach: items / boards })
  await deleteAll(ground)
  const { job_id: jobId } = await performForAnswer(installation, operations.emptyTrash, ground.actor, {
    body: { confirm_count: items },
  })
  const deciding = await longestOf(ground, () => emptyTrashJob.run(installation, { tenantId, jobId }))
  const removing = await longestOf(ground, () => removeAll(installation, tenantId))
  await assertEmpty(ground)
  return [
    ceilingLine(`trash: ${items} items are purged, the longest transaction`, deciding, 'ms', 100),
    ceilingLine(`trash: ${items} purged items are removed, the longest transaction`, removing, 'ms', 100),
  ]
}

async function longestOf(ground: Ground, work: () => Promise<unknown>): Promise<number> {
  const watched = watch(ground)
  await work().finally(() => watched.stop())
  const { longestMs } = await watched.stop()
  return longestMs
}

/** As people have deleted them, board after board. */
async function deleteAll({ superuser, tenantId, accountId }: Ground): Promise<void> {
  const sql = postgres({ ...postgresOptions(superuser), max: 1, onnotice: () => undefined })
  try {
    await sql`
      update item set deleted_at = now() - interval '40 days', kept_since = now() - interval '40 days', deleted_by = ${accountId}
      where tenant_id = ${tenantId}`
    await sql`vacuum analyze item`
  } finally {
    await sql.end()
  }
}

async function assertEmpty({ superuser, tenantId }: Ground): Promise<void> {
  const sql = postgres({ ...postgresOptions(superuser), max: 1, onnotice: () => undefined })
  const [row] = await sql`select count(*)::int as left from item where tenant_id = ${tenantId}`
  await sql.end()
  if (row?.['left'] !== 0) throw new Error(`${row?.['left']} items are left`)
}
