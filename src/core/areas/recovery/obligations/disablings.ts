/**
 * Disabled accounts: one that a rewind brought back is disabled again, and loses again the credentials that came back
 * with it. The last line of an account counts: who was let in again is left as the database has it.
 */

import { disableAgain } from '../../identity/accounts/disabling.ts'
import { batches, type ObligationRules, oneByOne, read, type Step, unlessRefused } from './obligation.ts'

interface DesiredEnd {
  readonly tenantId: string
  readonly isCertain: boolean
}

export const disablings: ObligationRules<'disablings', ReadonlyMap<string, DesiredEnd>, 'account.disable'> = {
  words: { 'account.disable': 'disable the account' },

  desired(lines) {
    const desired = new Map<string, DesiredEnd>()
    for (const { act, isSettled } of lines) {
      const { account_id: id, tenant_id: tenantId } = act
      if (act.act === 'account.disabled')
        desired.set(id, { tenantId, isCertain: isSettled || desired.get(id)?.isCertain === true })
      // Without an outcome the account may still be disabled: the end that is certain counts.
      else if (isSettled) desired.delete(id)
    }
    return desired
  },

  isSo: (tx, { act, tenant_id, account_id }) =>
    tx`
      select exists (select from account where tenant_id = ${tenant_id} and id = ${account_id}
                     and (state = 'DISABLED') = ${act === 'account.disabled'}) as is_so`,

  async plan(planning, desired) {
    const steps: Step<'account.disable'>[] = []
    for await (const some of batches(desired)) {
      const tenantIds = [...new Set(some.map(([, { tenantId }]) => tenantId))]
      const back = await read(
        planning,
        ({ tx }) => tx<{ id: string }[]>`
          select id from account
          where tenant_id in ${tx.list(tenantIds)} and id in ${tx.list(some.map(([id]) => id))}
            and state in ('INVITED', 'ACTIVE')`,
      )
      for (const { id } of back) {
        const { tenantId, isCertain } = desired.get(id) as DesiredEnd
        steps.push({ what: 'account.disable', tenant_id: tenantId, id, hindered_by: null, is_uncertain: !isCertain })
      }
    }
    return steps
  },

  repeat: ({ installation, actor }, _desired, steps) =>
    oneByOne(steps, ({ tenant_id: tenantId, id: accountId }) =>
      unlessRefused(() =>
        installation.transaction(actor, { tenantId }, (ctx) => disableAgain(ctx, { tenantId, accountId })),
      ),
    ),
}
