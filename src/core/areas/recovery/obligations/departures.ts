/**
 * Departures: an account that lost its last role in a workspace loses the roles of that time again.
 *
 * Roles granted after the line was written stay. A role of a group counts from the moment when the group had it and the
 * account was in the group. The account's credentials ended with its last role, in one transaction: if a rewind restored
 * the role, it also restored the credentials, and the rule ends both.
 */

import { ownHolders } from '../../../kernel/database/role-holders.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { leaveAgain } from '../../memberships/membership.ts'
import { batches, type ObligationRules, oneByOne, read, type Step, unlessRefused } from './obligation.ts'

/** The roles `m` of accounts `a`, their own and their groups'. */
const heldRoles = (tx: Pick<Tx, 'part'>): Part => tx.part`
  from account a join membership m on m.tenant_id = a.tenant_id and m.holder_id = any (${ownHolders(tx)})`

interface Held {
  readonly account_id: string
  readonly since: string
}

/** Since when each of the accounts has a role: of a group, since both that the group has it and that the account is in it. */
const heldSince = (ctx: Ctx, tenantId: string, ids: readonly string[]) =>
  ctx.inWorkspace(
    tenantId,
    () => ctx.tx<Held[]>`
      select a.id as account_id, min(greatest(m.created_at, g.added_at)) as since ${heldRoles(ctx.tx)}
      left join group_member g on g.tenant_id = m.tenant_id and g.group_id = m.group_id and g.account_id = a.id
      where a.tenant_id = ${tenantId} and a.id in ${ctx.tx.list(ids)} group by a.id`,
  )

interface DesiredDeparture {
  readonly tenantId: string
  /** The moment of the line. */
  readonly at: string
  readonly isCertain: boolean
}

export const departures: ObligationRules<'departures', ReadonlyMap<string, DesiredDeparture>, 'account.leave'> = {
  words: { 'account.leave': 'remove from the workspace' },

  desired: (lines) =>
    new Map(
      lines.map(({ act, at, isSettled }) => [act.account_id, { tenantId: act.tenant_id, at, isCertain: isSettled }]),
    ),

  // A role granted after the line does not contradict it: the account has left, and has come back. The installation does not
  // see when it came back into a group that had its role before; then the line counts as void.
  isSo: (tx, { tenant_id, account_id }, at) =>
    tx`
      select not exists (select ${heldRoles(tx)} where a.tenant_id = ${tenant_id} and a.id = ${account_id}
                         and m.created_at <= ${at}::timestamptz) as is_so`,

  async plan(planning, desired) {
    const steps: Step<'account.leave'>[] = []
    for await (const some of batches(desired)) {
      const byWorkspace = Map.groupBy(some, ([, { tenantId }]) => tenantId)
      const held = await read(planning, async (ctx) => {
        const found: Held[] = []
        for (const [tenantId, of] of byWorkspace)
          found.push(
            ...(await heldSince(
              ctx,
              tenantId,
              of.map(([id]) => id),
            )),
          )
        return found
      })
      for (const { account_id: id, since } of held) {
        const departure = desired.get(id)
        if (!departure || Date.parse(since) > Date.parse(departure.at)) continue
        const { tenantId, isCertain } = departure
        steps.push({ what: 'account.leave', tenant_id: tenantId, id, hindered_by: null, is_uncertain: !isCertain })
      }
    }
    return steps
  },

  repeat: ({ installation, actor }, desired, steps) =>
    oneByOne(steps, ({ tenant_id: tenantId, id: accountId }) => {
      const leftAt = desired.get(accountId)?.at
      if (leftAt === undefined) throw new Error('a step of a departure that the ledgers do not name')
      return unlessRefused(() =>
        installation.transaction(actor, { tenantId }, (ctx) => leaveAgain(ctx, { tenantId, accountId, leftAt })),
      )
    }),
}
