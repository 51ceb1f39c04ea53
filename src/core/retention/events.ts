/** Events of legal holds. Spec: Admin: workspaces, rule 3; decisions 4 and 5. */
import { z } from 'zod'
import { defineEvents, exampleId } from '../events/declaration.ts'
import { uuid } from '../schema.ts'
import { Hold, holdScopes } from './contract.ts'

const subject = '/retention/holds/{id}'
const placed = {
  id: exampleId(2),
  tenant_id: exampleId(1),
  scope: { kind: 'TENANT', id: null },
  reason: 'Case 7/26',
  placed_by: exampleId(3),
  placed_at: '2026-09-01T09:00:00.000Z',
  released_at: null,
  released_by: null,
  version: 1,
} as const

export const retentionEvents = defineEvents({
  'lifecycle.hold.placed': { when: 'a legal hold was placed', subject, container: null, data: Hold, example: placed },
  'lifecycle.hold.released': {
    when: 'a legal hold was released',
    subject,
    container: null,
    data: Hold,
    example: { ...placed, released_at: '2026-09-30T09:00:00.000Z', released_by: exampleId(3), version: 2 },
  },
  'lifecycle.hold.replaced': {
    when: 'a legal hold was put back in force after a recovery',
    subject,
    container: null,
    data: z.object({
      id: uuid,
      scope: z.object({ kind: z.enum(holdScopes), id: uuid.nullable() }),
      target_present: z.boolean().describe('whether what it keeps is there'),
    }),
    example: { id: exampleId(2), scope: { kind: 'TENANT', id: null }, target_present: true },
  },
})
