/**
 * Erasures: a person whom a rewind brought back is erased again, with the choices of the time, also if the line has no outcome:
 * nothing leads back from the ledger's line. What a hold covers is kept, as the first time.
 */

import type { Choices } from '../../../contract/privacy/requests.ts'
import { choicesOf } from '../../erasure/reading.ts'
import { eraseAgain } from '../../privacy/erasing/job.ts'
import { batches, type ObligationRules, oneByOne, read, type Step, unlessRefused } from './obligation.ts'

interface DesiredErasure {
  readonly tenantId: string
  readonly choices: Choices
  readonly isCertain: boolean
}

export const erasures: ObligationRules<'erasures', ReadonlyMap<string, DesiredErasure>, 'account.erase'> = {
  words: { 'account.erase': 'erase the person again' },

  desired(lines) {
    const desired = new Map<string, DesiredErasure>()
    for (const { act, isSettled } of lines)
      desired.set(act.account_id, {
        tenantId: act.tenant_id,
        choices: choicesOf(act),
        isCertain: isSettled || desired.get(act.account_id)?.isCertain === true,
      })
    return desired
  },

  isSo: (tx, { tenant_id, account_id }) =>
    tx`
      select exists (select from account where tenant_id = ${tenant_id} and id = ${account_id} and state = 'ERASED') as is_so`,

  async plan(planning, desired) {
    const steps: Step<'account.erase'>[] = []
    for await (const some of batches(desired)) {
      const tenantIds = [...new Set(some.map(([, { tenantId }]) => tenantId))]
      const back = await read(
        planning,
        ({ tx }) => tx<{ id: string }[]>`
          select id from account
          where tenant_id in ${tx.list(tenantIds)} and id in ${tx.list(some.map(([id]) => id))} and state <> 'ERASED'`,
      )
      for (const { id } of back) {
        const { tenantId, isCertain } = desired.get(id) as DesiredErasure
        steps.push({ what: 'account.erase', tenant_id: tenantId, id, hindered_by: null, is_uncertain: !isCertain })
      }
    }
    return steps
  },

  repeat: ({ installation, actor }, desired, steps) =>
    oneByOne(steps, ({ tenant_id: tenantId, id: accountId }) => {
      const erased = desired.get(accountId)
      if (!erased) throw new Error('a step of an erasure that the ledgers do not name')
      return unlessRefused(() => eraseAgain(installation, actor, { tenantId, accountId, choices: erased.choices }))
    }),
}
