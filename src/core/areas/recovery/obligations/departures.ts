/**
 * Departures: an account that lost its last role in a workspace loses the roles of that time again.
 *
 * Roles granted after the line was written stay. The account's credentials ended with its last role, in one
 * transaction: if a rewind restored the role, it also restored the credentials, and the rule ends both.
 */

import { leaveAgain } from '../../memberships/membership.ts'
import { batches, type ObligationRules, oneByOne, read, type Step, unlessRefused } from './obligation.ts'

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

  // A role granted after the line does not contradict it: the account has left, and has come back.
  isSo: (tx, { tenant_id, account_id }, at) =>
    tx`
      select not exists (select from membership where tenant_id = ${tenant_id} and account_id = ${account_id}
                         and created_at <= ${at}::timestamptz) as is_so`,

  async plan(planning, desired) {
    const steps: Step<'account.leave'>[] = []
    for await (const some of batches(desired)) {
      const ids = some.map(([id]) => id)
      const tenantIds = [...new Set(some.map(([, { tenantId }]) => tenantId))]
      const held = await read(
        planning,
        ({ tx }) => tx<{ account_id: string; since: string }[]>`
          select account_id, min(created_at) as since from membership
          where tenant_id in ${tx.list(tenantIds)} and account_id in ${tx.list(ids)} group by account_id`,
      )
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
