/** Revocations of tokens: a token that a rewind restored is revoked again, also if its line has no outcome. */

import { endToken } from '../../auth/token/ending.ts'
import { listed, note, ok } from '../finding.ts'
import { batches, type ObligationRules, oneByOne, read, type Step } from './obligation.ts'

interface DesiredRevocation {
  readonly tenantId: string
  readonly isCertain: boolean
}

export const tokens: ObligationRules<'tokens', ReadonlyMap<string, DesiredRevocation>, 'token.revoke'> = {
  words: { 'token.revoke': 'revoke the token' },

  desired(lines) {
    const desired = new Map<string, DesiredRevocation>()
    for (const { act, isSettled } of lines)
      desired.set(act.id, {
        tenantId: act.tenant_id,
        isCertain: isSettled || desired.get(act.id)?.isCertain === true,
      })
    return desired
  },

  isSo: (tx, { tenant_id, id }) =>
    tx`
      select exists (select from credential where tenant_id = ${tenant_id} and id = ${id} and revoked_at is not null) as is_so`,

  async plan(planning, desired) {
    const steps: Step<'token.revoke'>[] = []
    for await (const some of batches(desired)) {
      const tenantIds = [...new Set(some.map(([, { tenantId }]) => tenantId))]
      const alive = await read(
        planning,
        ({ tx }) => tx<{ tenant_id: string; id: string }[]>`
          select tenant_id, id from credential
          where tenant_id in ${tx.list(tenantIds)} and id in ${tx.list(some.map(([id]) => id))}
            and kind in ('PERSONAL', 'SERVICE') and revoked_at is null`,
      )
      for (const { tenant_id, id } of alive)
        steps.push({
          what: 'token.revoke',
          tenant_id,
          id,
          hindered_by: null,
          is_uncertain: desired.get(id)?.isCertain === false,
        })
    }
    return steps
  },

  repeat: ({ installation, actor }, _desired, steps) =>
    oneByOne(steps, async ({ tenant_id: tenantId, id }) => {
      await installation.transaction(actor, { tenantId }, async (ctx) => {
        const [token] = await ctx.tx<{ account_id: string }[]>`
          select account_id from credential where tenant_id = ${tenantId} and id = ${id}`
        if (token) await endToken(ctx, { tenantId, accountId: token.account_id }, id)
      })
      return null
    }),

  async check({ installation, recoveryPoint }, desired) {
    const admins = await read(
      { installation },
      ({ tx }) => tx<{ tenant_id: string; id: string }[]>`
        select tenant_id, id from credential
        where kind in ('PERSONAL', 'SERVICE') and revoked_at is null and (expires_at is null or expires_at > now())
          and scopes like '%admin:tenants%' order by id desc`,
    )
    const says = `${admins.length} token(s) have admin:tenants, ${desired.size} revocation(s) are in force`
    const recent = await read(
      { installation },
      ({ tx }) => tx<{ tenant_id: string; id: string }[]>`
        select tenant_id, id from credential
        where kind in ('PERSONAL', 'SERVICE') and revoked_at is null and created_at > ${recoveryPoint}::timestamptz`,
    )
    return recent.length === 0
      ? ok('tokens', says)
      : note(
          'tokens',
          `${says}; created after the recovery point: ${listed(recent.map(({ id }) => id))}`,
          'Check the recovery point.',
        )
  },
}
