/**
 * Withdrawals of consents, and objections: what a rewind undid is withdrawn again. The last line of an account and kind counts: what
 * was given after the withdrawal is left as the database has it, for nobody gives in the place of a person.
 */

import { withdrawFor } from '../../consents/acts.ts'
import { batches, type ObligationRules, oneByOne, read, type Step, unlessRefused } from './obligation.ts'

interface DesiredWithdrawals {
  readonly tenantId: string
  /** By kind, whether it is certain. */
  readonly kinds: Map<string, boolean>
}

export const consents: ObligationRules<'consents', ReadonlyMap<string, DesiredWithdrawals>, 'consent.withdraw'> = {
  words: { 'consent.withdraw': 'withdraw consents of the account' },

  desired(lines) {
    const desired = new Map<string, DesiredWithdrawals>()
    for (const { act, isSettled } of lines) {
      const { account_id: id, tenant_id: tenantId, kind } = act
      const { kinds } = desired.get(id) ?? { kinds: new Map<string, boolean>() }
      if (act.act === 'consent.withdrawn') kinds.set(kind, isSettled || kinds.get(kind) === true)
      // Without an outcome it may still be withdrawn: the end that is certain counts.
      else if (isSettled) kinds.delete(kind)
      if (kinds.size > 0) desired.set(id, { tenantId, kinds })
      else desired.delete(id)
    }
    return desired
  },

  isSo: (tx, { act, tenant_id, account_id, kind }) =>
    tx`
      select coalesce((
        select c.act from consent c where c.tenant_id = ${tenant_id} and c.account_id = ${account_id} and c.kind = ${kind}
        order by c.n desc limit 1), '') = ${act === 'consent.withdrawn' ? 'WITHDRAWN' : 'GIVEN'} as is_so`,

  async plan(planning, desired) {
    const steps: Step<'consent.withdraw'>[] = []
    for await (const some of batches(desired)) {
      const tenantIds = [...new Set(some.map(([, { tenantId }]) => tenantId))]
      const found = await read(
        planning,
        ({ tx }) => tx<{ id: string; withdrawn: readonly string[] }[]>`
          select a.id, coalesce((
            select json_agg(last.kind) from (
              select distinct on (c.kind) c.kind, c.act from consent c
              where c.tenant_id = a.tenant_id and c.account_id = a.id order by c.kind, c.n desc) last
            where last.act = 'WITHDRAWN'), '[]') as withdrawn
          from account a
          where a.tenant_id in ${tx.list(tenantIds)} and a.id in ${tx.list(some.map(([id]) => id))} and a.state <> 'ERASED'`,
      )
      for (const { id, withdrawn } of found) {
        const { tenantId, kinds } = desired.get(id) as DesiredWithdrawals
        const missing = [...kinds].filter(([kind]) => !withdrawn.includes(kind))
        if (missing.length === 0) continue
        const is_uncertain = missing.every(([, isCertain]) => !isCertain)
        steps.push({ what: 'consent.withdraw', tenant_id: tenantId, id, hindered_by: null, is_uncertain })
      }
    }
    return steps
  },

  repeat: ({ installation, actor }, desired, steps) =>
    oneByOne(steps, ({ tenant_id: tenantId, id: accountId }) => {
      const kinds = desired.get(accountId)?.kinds ?? new Map<string, boolean>()
      return unlessRefused(() =>
        installation.transaction(actor, { tenantId }, async (ctx) => {
          for (const kind of kinds.keys()) await withdrawFor(ctx, { tenantId, accountId, kind })
        }),
      )
    }),
}
