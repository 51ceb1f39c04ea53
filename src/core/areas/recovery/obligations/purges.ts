/** Purges: a purged workspace that a rewind restored is purged again, unless a hold is in force. */

import { type PurgeOutcome, repeatPurge } from '../../tenants/purge/purge.ts'
import { type Hindrance, type ObligationRules, oneByOne, read, type Step } from './obligation.ts'

interface DesiredPurges {
  readonly certain: ReadonlySet<string>
  /** Purges without an outcome: nothing is destroyed for them. */
  readonly uncertain: ReadonlySet<string>
}

export const purges: ObligationRules<'purges', DesiredPurges, 'purge.repeat'> = {
  words: { 'purge.repeat': 'purge the workspace' },

  desired(lines) {
    const certain = new Set(lines.filter(({ isSettled }) => isSettled).map(({ act }) => act.tenant_id))
    const all = lines.map(({ act }) => act.tenant_id)
    return { certain, uncertain: new Set(all.filter((id) => !certain.has(id))) }
  },

  isSo: (tx, { tenant_id }) =>
    tx`select exists (select from purge_certificate where workspace_id = ${tenant_id}) as is_so`,

  async plan(planning, { certain, uncertain }) {
    const toBeHeld = new Set(planning.before.filter(({ what }) => what === 'hold.place').map((step) => step.tenant_id))
    const steps: Step<'purge.repeat'>[] = []
    for (const tenantId of [...certain, ...uncertain]) {
      if (!planning.workspaces.present.has(tenantId)) continue
      const [found] = await read(
        planning,
        ({ tx }) => tx<{ is_held: boolean }[]>`
          select exists (select from legal_hold h where h.tenant_id = t.id and h.released_at is null) as is_held
          from tenant t where id = ${tenantId}`,
      )
      const isHeld = found?.is_held === true || toBeHeld.has(tenantId)
      steps.push({
        what: 'purge.repeat',
        tenant_id: tenantId,
        id: tenantId,
        hindered_by: uncertain.has(tenantId) ? 'uncertain' : isHeld ? 'held' : null,
        is_uncertain: uncertain.has(tenantId),
      })
    }
    return steps
  },

  // Also a held one: the workspace is marked for deletion again, so nobody can work in it.
  repeatsHindered: true,

  repeat: ({ installation }, _desired, steps) =>
    oneByOne(steps, async ({ tenant_id, is_uncertain }) =>
      is_uncertain ? 'uncertain' : hindranceOf(await repeatPurge(installation, tenant_id)),
    ),
}

function hindranceOf(outcome: PurgeOutcome): Hindrance | null {
  if (outcome === 'purged') return null
  return outcome === 'last_operators' ? 'last_operator' : outcome === 'held' ? 'held' : 'uncertain'
}
