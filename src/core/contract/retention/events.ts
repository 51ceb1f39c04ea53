/** Events of legal holds, and of rules of retention. Spec: Admin: workspaces, rule 3; decisions 4 and 5; Keeping, 4. */
import { z } from 'zod'
import { defineEvents, exampleId } from '../event.ts'
import { uuid } from '../vocabulary.ts'
import { holdScopes } from './operations.ts'
import { RetentionRule } from './rules.ts'

/**
 * Id and scope alone. A hold is placed without telling the workspace's people what for: its reason, and who placed it,
 * stay with the operators (docs/decisions/0134).
 */
const data = z.object({
  id: uuid,
  scope: z.object({ kind: z.enum(holdScopes), id: uuid.nullable() }),
})
const example = { id: exampleId(2), scope: { kind: 'TENANT', id: null } } as const
const ofHold = { subject: '/retention/holds/{id}', kind: 'hold', container: null, data, example } as const

export const retentionEvents = defineEvents({
  'lifecycle.hold.placed': { when: 'a legal hold was placed', action: 'lifecycle.hold_placed', ...ofHold },
  'lifecycle.hold.released': { when: 'a legal hold was released', action: 'lifecycle.hold_released', ...ofHold },
  'lifecycle.hold.replaced': {
    when: 'a legal hold was put back in force after a recovery',
    action: 'lifecycle.hold_replaced',
    ...ofHold,
  },
  'work.retention_rule.changed': {
    when: 'a workspace decided how long it keeps something, or what it decided took effect',
    subject: '/tenants/{tenant_id}',
    kind: 'tenant',
    container: null,
    data: RetentionRule.omit({ last_run_at: true, version: true }).extend({ tenant_id: uuid }),
    example: {
      ...{ tenant_id: exampleId(1), kind: 'TRASH', days: 30, source: 'WORKSPACE' },
      ...{ takes_effect_at: '2030-01-08T12:00:00.000Z', next_days: 7 },
    },
  },
})
