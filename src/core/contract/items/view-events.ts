/** Events of views; private ones are told to nobody. Spec: items 7. */
import type { z } from 'zod'
import { defineEvents, exampleId } from '../event.ts'
import { View } from './views.ts'

const example: z.input<typeof View> = {
  id: exampleId(12),
  container_id: exampleId(5),
  name: 'Due this week',
  layout: 'LIST',
  filter: { field: 'due', op: 'on', value: { unit: 'WEEK', offset: 0 } },
  sort: [{ by: 'due', order: 'ASC' }],
  group_by: null,
  columns: ['title', 'due'],
  visibility: 'SHARED',
  created_by: exampleId(3),
  created_at: '2026-11-20T17:15:00.000Z',
  updated_at: '2026-11-20T17:15:00.000Z',
  version: 1,
}
const whole = { subject: '/views/{id}', kind: 'view', container: 'container_id', data: View, example } as const

export const viewEvents = defineEvents({
  'work.view.created': { when: 'a shared view was made, or a private one was shared', ...whole },
  'work.view.changed': { when: 'a shared view was changed', ...whole },
  'work.view.deleted': { when: 'a shared view was deleted, or made private', ...whole },
})
