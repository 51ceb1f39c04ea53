/**
 * Legal holds: holds that were in force are placed again, by the rule that replaces holds after a recovery.
 *
 * A released hold stays desired, because after a rewind the ground of the release is not known
 * any more (specification, Admin: workspaces, rule 3). A hold is also placed if its line has no
 * outcome, because a hold protects.
 */

import { replaceLegalHolds } from '../../tenants/deletion/legal-holds.ts'
import { batches, type ObligationRules, read, type Step } from './obligation.ts'

interface DesiredHold {
  readonly tenantId: string
  readonly id: string
  readonly scope: { readonly kind: 'TENANT' | 'CONTAINER' | 'ITEM' | 'ACCOUNT'; readonly id: string | null }
  readonly placedBy: string
  readonly placedAt: string
  readonly reason: string
  releasedAt: string | null
  readonly isCertain: boolean
}

/** The most holds in one replacement. Spec: LegalHoldReplaceRequest. */
const holdsAtOnce = 1000

export const holds: ObligationRules<'holds', ReadonlyMap<string, DesiredHold>, 'hold.place'> = {
  words: { 'hold.place': 'place the hold' },

  desired(lines) {
    const desired = new Map<string, DesiredHold>()
    for (const { act, at, isSettled } of lines) {
      const known = desired.get(act.id)
      if (act.act === 'hold.released') {
        if (known && isSettled) known.releasedAt ??= at
      } else if (!known)
        desired.set(act.id, {
          tenantId: act.tenant_id,
          id: act.id,
          scope: act.scope,
          placedBy: act.placed_by,
          placedAt: act.placed_at,
          reason: act.reason,
          releasedAt: null,
          isCertain: isSettled,
        })
    }
    return desired
  },

  isSo: (tx, { act, tenant_id, id }) =>
    tx`
      select exists (
        select from legal_hold where tenant_id = ${tenant_id} and id = ${id} and (released_at is not null or ${act === 'hold.placed'})
      ) as is_so`,

  async plan(planning, desired) {
    const { present, purged, certified } = planning.workspaces
    const steps: Step<'hold.place'>[] = []
    for await (const some of batches(desired.values())) {
      const rows = await read(
        planning,
        ({ tx }) =>
          tx<
            { tenant_id: string; id: string }[]
          >`select tenant_id, id from legal_hold where id in ${tx.list(some.map(({ id }) => id))}`,
      )
      const there = new Set(rows.map(({ id }) => id))
      for (const { id, tenantId, isCertain } of some) {
        const isGoneForGood = !present.has(tenantId) && (purged.has(tenantId) || certified.has(tenantId))
        if (there.has(id) || isGoneForGood) continue
        steps.push({
          what: 'hold.place',
          tenant_id: tenantId,
          id,
          hindered_by: present.has(tenantId) ? null : 'workspace_lost',
          is_uncertain: !isCertain,
        })
      }
    }
    return steps
  },

  async repeat({ installation, actor, recoveryPoint }, desired, steps) {
    for (const tenantId of new Set(steps.map(({ tenant_id }) => tenant_id))) {
      const ids = steps.filter(({ tenant_id }) => tenant_id === tenantId).map(({ id }) => id)
      while (ids.length > 0) {
        const records = ids.splice(0, holdsAtOnce).flatMap((id) => {
          const hold = desired.get(id)
          if (!hold) return []
          const { scope, reason, placedBy: placed_by, placedAt: placed_at, releasedAt: released_at } = hold
          return [{ id, scope, reason, placed_by, placed_at, released_at }]
        })
        const body = { recovery_point: recoveryPoint, holds: records }
        await installation.transaction(actor, {}, (ctx) => replaceLegalHolds(ctx, { tenantId, body }, []))
      }
    }
    return steps.map(() => null)
  },
}
