/** The restores that a caller sees. Spec: Keeping, 3, N20 and K6. */
import type { restoreOperations as ops } from '../../contract/backup/restores.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { lastId, pageOfRows, pageStart } from '../../kernel/transaction/page.ts'
import { type LedgerFacts, readFacts } from './erasures.ts'
import { findRestore, isVisible, type RestoreRow, restoreColumns, restoreOf } from './row.ts'

/** What hashes of plans bind besides rows. */
export const askFacts = (installation: Installation): Promise<LedgerFacts> => readFacts(installation)

/** Newest first: ids rise with the moment. Refuses cursor.invalid. */
export async function listRestores(
  ctx: Ctx,
  { cursor, size, ...filters }: Received<typeof ops.listRestores>,
  facts: LedgerFacts,
): Promise<Answer<typeof ops.listRestores>> {
  const { tx } = ctx
  const list = { operation: 'listRestores', filters }
  const before = pageStart(ctx, list, cursor) ?? lastId
  const ofTenant = filters.tenant_id === undefined ? tx.part`` : tx.part`and r.tenant_id = ${filters.tenant_id}`
  const inState = filters.state === undefined ? tx.part`` : tx.part`and r.state = ${filters.state}`
  const rows = await tx.last<RestoreRow[]>`
    select ${restoreColumns(ctx)} from restore r
    where ${isVisible(ctx)} and r.id < ${before}::uuid ${ofTenant} ${inState}
    order by r.id desc limit ${size + 1}`
  const restores = rows.map((row) => restoreOf(row, facts))
  return pageOfRows(ctx, list, restores, size)
}

/** Refuses not_found. */
export async function getRestore(
  ctx: Ctx,
  { restoreId }: Received<typeof ops.getRestore>,
  facts: LedgerFacts,
): Promise<Answer<typeof ops.getRestore>> {
  const row = await findRestore(ctx, restoreId)
  return row ? restoreOf(row, facts) : refuse('not_found')
}
