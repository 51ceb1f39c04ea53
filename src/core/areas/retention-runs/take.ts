/**
 * What takes the rows of a kind, some at a time. A kind without one is taken elsewhere, or not at all yet:
 *  - the trash is swept, and what is done is archived, by areas/items, which ask the brake as this job does;
 *  - entries of the trail go once they are sealed: then their digests stay. None is sealed yet.
 * Spec: Keeping, 4; docs/decisions/0472.
 */
import type { RuleKind } from '../../contract/retention/rules.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { removeEventsBefore } from '../events/retention.ts'
import { takeAccounts } from './accounts.ts'
import { takeRecords } from './records.ts'
import { takeRequests } from './requests.ts'
import type { Taken } from './taken.ts'

/** Takes at most `size` rows that are older than the moment, as the workspace. */
export type Take = (ctx: Ctx, tenantId: string, before: string, size: number) => Promise<Taken>

export const takes: Readonly<Partial<Record<RuleKind, Take>>> = {
  RECORDS: takeRecords,
  ACCOUNTS: takeAccounts,
  REQUESTS: takeRequests,
  async EVENTS(ctx, tenantId, before, size) {
    const removed = await removeEventsBefore(ctx, tenantId, ctx.tx.part`${before}::timestamptz`, size)
    return { removed, held: 0, isMore: removed === size }
  },
}

/** The kinds that are taken each night. */
export const nightlyKinds = Object.keys(takes) as readonly RuleKind[]
