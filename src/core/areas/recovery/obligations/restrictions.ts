/**
 * Restrictions: an account that a rewind freed is restricted again. The last line of an account counts: a restriction that was
 * ended, and that a rewind brought back, is left, and administrators end it once more.
 */

import type { RestrictionGround } from '../../../contract/privacy/restriction.ts'
import { restrictAccount } from '../../identity/accounts/restricting.ts'
import { batches, type ObligationRules, oneByOne, read, type Step, unlessRefused } from './obligation.ts'

interface DesiredRestriction {
  readonly tenantId: string
  readonly ground: RestrictionGround
  readonly isCertain: boolean
}

export const restrictions: ObligationRules<
  'restrictions',
  ReadonlyMap<string, DesiredRestriction>,
  'account.restrict'
> = {
  words: { 'account.restrict': 'restrict the account' },

  desired(lines) {
    const desired = new Map<string, DesiredRestriction>()
    for (const { act, isSettled } of lines) {
      const { account_id: id, tenant_id: tenantId } = act
      if (act.act === 'account.restricted')
        desired.set(id, { tenantId, ground: act.ground, isCertain: isSettled || desired.get(id)?.isCertain === true })
      // Without an outcome the account may still be restricted: the end that is certain counts.
      else if (isSettled) desired.delete(id)
    }
    return desired
  },

  isSo: (tx, { act, tenant_id, account_id }) =>
    tx`
      select exists (select from account_restriction where tenant_id = ${tenant_id} and account_id = ${account_id})
             = ${act === 'account.restricted'} as is_so`,

  async plan(planning, desired) {
    const steps: Step<'account.restrict'>[] = []
    for await (const some of batches(desired)) {
      const tenantIds = [...new Set(some.map(([, { tenantId }]) => tenantId))]
      const free = await read(
        planning,
        ({ tx }) => tx<{ id: string }[]>`
          select a.id from account a
          where a.tenant_id in ${tx.list(tenantIds)} and a.id in ${tx.list(some.map(([id]) => id))} and a.state <> 'ERASED'
            and not exists (select from account_restriction r where r.tenant_id = a.tenant_id and r.account_id = a.id)`,
      )
      for (const { id } of free) {
        const { tenantId, isCertain } = desired.get(id) as DesiredRestriction
        steps.push({ what: 'account.restrict', tenant_id: tenantId, id, hindered_by: null, is_uncertain: !isCertain })
      }
    }
    return steps
  },

  repeat: ({ installation, actor }, desired, steps) =>
    oneByOne(steps, ({ tenant_id: tenantId, id: accountId }) => {
      const ground = desired.get(accountId)?.ground
      if (ground === undefined) throw new Error('a step of a restriction that the ledgers do not name')
      return unlessRefused(() =>
        installation.transaction(actor, { tenantId }, (ctx) => restrictAccount(ctx, { tenantId, accountId, ground })),
      )
    }),
}
