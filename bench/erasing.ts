/**
 * The erasure of a person who wrote 100,000 items, each with a comment, and takes part in all of them: how long it takes, and how
 * long its transactions last. Texts are redacted, which is the most work.
 */
import postgres from 'postgres'
import { eraseAgain } from '../src/core/areas/privacy/erasing/job.ts'
import { Choices } from '../src/core/contract/privacy/requests.ts'
import { postgresOptions } from '../src/core/kernel/database/address.ts'
import { recoveryActor } from '../src/core/kernel/values/actor.ts'
import { fillBoards } from './board-filler.ts'
import type { Ground } from './ground.ts'
import { p99 } from './neighbour.ts'
import { ceilingLine, type Line } from './table.ts'
import { timed } from './timed.ts'

const items = 100_000

export async function erasing(ground: Ground): Promise<Line[]> {
  const { tenantId } = ground
  await fillBoards(ground, { boards: 10, buckets: 4, itemsEach: items / 10 })
  const sql = postgres({ ...postgresOptions(ground.superuser), max: 1, onnotice: () => undefined })
  try {
    const accountId = await writer(sql, tenantId)
    const { installation, tookMs } = timed(ground.installation)
    const began = performance.now()
    await eraseAgain(installation, recoveryActor(), {
      tenantId,
      accountId,
      choices: Choices.parse({ texts: 'REDACT' }),
    })
    const seconds = (performance.now() - began) / 1000
    const [left] = await sql<{ count: number }[]>`
      select count(*)::int as count from item where tenant_id = ${tenantId} and created_by = ${accountId} and title <> '[…]'`
    const [erasure] = await sql<{ is_over: boolean }[]>`
      select ended_at is not null as is_over from erasure where account_id = ${accountId}`
    if (left?.count !== 0 || erasure?.is_over !== true) throw new Error('the erasure left something')
    return [
      ceilingLine(`erasing a person in ${items} items`, seconds, 's', 60),
      ceilingLine(`erasing a person in ${items} items: a transaction, p99 of ${tookMs.length}`, p99(tookMs), 'ms', 100),
    ]
  } finally {
    await sql.end()
  }
}

/** Somebody who made all items, is assigned to each and said something on each. */
async function writer(sql: postgres.Sql, tenantId: string): Promise<string> {
  const [made] = await sql<{ id: string }[]>`
    insert into account (tenant_id, id, kind, state, display_name, email, email_fold)
    values (${tenantId}, uuidv7(), 'PERSON', 'ACTIVE', 'Quokka', 'quokka@example.org', 'quokka@example.org') returning id`
  const accountId = made?.id ?? ''
  await sql`insert into membership (tenant_id, id, account_id, role) values (${tenantId}, uuidv7(), ${accountId}, 'MEMBER')`
  await sql`
    update item set created_by = ${accountId}, assignee_id = ${accountId}, without_members = false where tenant_id = ${tenantId}`
  await sql`
    insert into item_member (tenant_id, item_id, account_id) select ${tenantId}, id, ${accountId} from item where tenant_id = ${tenantId}`
  await sql`
    insert into comment (tenant_id, id, item_id, body, created_by)
    select ${tenantId}, uuidv7(), id, 'said by Quokka', ${accountId} from item where tenant_id = ${tenantId}`
  await sql`vacuum analyze`
  return accountId
}
