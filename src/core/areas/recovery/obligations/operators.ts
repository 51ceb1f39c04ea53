/**
 * The operator register: the last line of each account decides.
 *
 * A removal without an outcome is repeated, because it protects; an addition without an outcome is not. Additions come
 * before removals, so that the register is not empty in between. The last operator is not removed.
 */

import { addOperatorAgain, removeOperator } from '../../operators/register.ts'
import { finding, listed, note, ok } from '../finding.ts'
import {
  type Hindrance,
  type ObligationRules,
  oneByOne,
  type Planning,
  read,
  type Step,
  unlessRefused,
} from './obligation.ts'

interface DesiredOperator {
  readonly tenantId: string
  readonly isRegistered: boolean
  /** The end of the probation; null: a full operator. */
  readonly probationUntil: string | null
  /** The moment of the line that decides. */
  readonly at: string
  readonly isCertain: boolean
}

interface RegisterRow {
  readonly account_id: string
  readonly added_at: string
}

type OperatorStep = Step<'operator.add' | 'operator.remove'>

export const operators: ObligationRules<'operators', ReadonlyMap<string, DesiredOperator>, OperatorStep['what']> = {
  words: { 'operator.add': 'add the operator', 'operator.remove': 'remove the operator' },

  desired(lines) {
    const desired = new Map<string, DesiredOperator>()
    for (const { act, at, isSettled } of lines) {
      const isRegistered = act.act === 'operator.added'
      if (isRegistered && !isSettled) continue
      desired.set(act.account_id, {
        tenantId: act.tenant_id,
        isRegistered,
        probationUntil: (isRegistered && act.probation_until) || null,
        at,
        isCertain: isSettled,
      })
    }
    return desired
  },

  isSo: (tx, { act, account_id }) =>
    tx`
      select exists (select from operator where account_id = ${account_id}) = ${act === 'operator.added'} as is_so`,

  async plan(planning, desired) {
    const register = await read(planning, ({ tx }) => tx<RegisterRow[]>`select account_id, added_at from operator`)
    const addedAt = new Map(register.map(({ account_id, added_at }) => [account_id, added_at]))
    const toAdd: OperatorStep[] = []
    const toRemove: OperatorStep[] = []
    for (const [id, { tenantId, isRegistered, at, isCertain }] of desired) {
      const since = addedAt.get(id)
      if (isRegistered === (since !== undefined)) continue
      const step = { tenant_id: tenantId, id, is_uncertain: !isCertain }
      if (isRegistered) {
        const hindered = await hindranceToAdding(planning, { tenantId, id, at })
        if (hindered === 'elsewhere' || (hindered === 'account_lost' && planning.workspaces.purged.has(tenantId)))
          continue
        toAdd.push({ ...step, what: 'operator.add', hindered_by: hindered })
      } else if (since !== undefined && Date.parse(since) <= Date.parse(at)) {
        toRemove.push({ ...step, what: 'operator.remove', hindered_by: null })
      }
    }
    const left = register.length + toAdd.filter(({ hindered_by }) => hindered_by === null).length
    const spared = toRemove.length >= left ? toRemove.at(-1) : undefined
    return [
      ...toAdd,
      ...toRemove.map((step) => (step === spared ? { ...step, hindered_by: 'last_operator' as const } : step)),
    ]
  },

  repeat: ({ installation, actor }, desired, steps) =>
    oneByOne(steps, ({ what, id }) =>
      unlessRefused(() =>
        installation.transaction(actor, {}, (ctx) =>
          what === 'operator.add'
            ? addOperatorAgain(ctx, id, desired.get(id)?.probationUntil ?? null)
            : removeOperator(ctx, { accountId: id }),
        ),
      ),
    ),

  async check({ installation, recoveryPoint }, desired) {
    const [register] = await read(
      { installation },
      ({ tx }) => tx<{ count: number }[]>`select count(*)::int as count from operator`,
    )
    if (register?.count === 0) return finding('operators', 'the register is empty', 'svc operators add … --recovery')
    const changed = [...desired].filter(([, { at }]) => recoveryPoint !== null && at > recoveryPoint).map(([id]) => id)
    return changed.length === 0
      ? ok('operators', `${register?.count} in the register, none changed after the recovery point`)
      : note(
          'operators',
          `${changed.length} changed after the recovery point: ${listed(changed)}`,
          'svc operators list --recovery',
        )
  },
}

/** `elsewhere`: the journal has a later removal, by a host whose ledger is not here. */
async function hindranceToAdding(
  planning: Planning,
  { tenantId, id, at }: { readonly tenantId: string; readonly id: string; readonly at: string },
): Promise<Hindrance | 'elsewhere' | null> {
  const [found] = await read(
    planning,
    ({ tx }) => tx<{ state: string | null; is_removed: boolean }[]>`
      select (select state from account where tenant_id = ${tenantId} and id = ${id}) as state,
             exists (select from journal where action = 'operator.removed' and subject_id = ${id} and at > ${at}::timestamptz) as is_removed`,
  )
  if (found?.is_removed) return 'elsewhere'
  if (!found?.state) return 'account_lost'
  return found.state === 'ACTIVE' ? null : 'account_not_active'
}
