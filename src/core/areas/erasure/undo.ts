/** What an erasure ends of rewinds: the rows of the person are among those that they replaced. Spec: Keeping, 3 (In use). */
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'

/** The statement by which nothing of before can be undone any more; restores/sweep.ts removes what was replaced. */
export const undoEnded = (tx: Pick<Tx, 'part'>, tenantId: string): Part => tx.part`
  update restore set undo_until = now(), version = version + 1
  where tenant_id = ${tenantId} and state = 'DONE' and undo_until > now()`
