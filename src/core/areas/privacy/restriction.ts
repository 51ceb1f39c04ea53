/** Accounts whose data may only be stored. Spec: Keeping, 2, N6. */
import type { Ctx } from '../../kernel/transaction/context.ts'

interface Restricted {
  readonly tenantId: string
  readonly accountId: string
  readonly requestId: string | null
}

/** Restricts an account of which a legal hold keeps a part, in the transaction that found it. */
export async function restrictAccount(_ctx: Ctx, _account: Restricted): Promise<void> {}

/** Whether the data of an account are kept for legal claims: it is not erased. */
export async function isKeptForClaims(_ctx: Ctx, _tenantId: string, _accountId: string): Promise<boolean> {
  return false
}
