/** Events of templates; their data is without the content. Spec: items 7, O21 to O24; decisions 5. */
import type { z } from 'zod'
import { defineEvents, exampleId } from '../event.ts'
import { TemplateListed } from './operations.ts'

const example: z.input<typeof TemplateListed> = {
  id: exampleId(14),
  kind: 'BOARD',
  name: 'A new customer',
  description: null,
  container_id: null,
  variables: [{ key: 'customer', default: null }],
  created_by: exampleId(3),
  created_at: '2026-11-20T17:15:00.000Z',
  updated_at: '2026-11-20T17:15:00.000Z',
  version: 1,
}
const whole = {
  subject: '/templates/{id}',
  kind: 'template',
  container: 'container_id',
  data: TemplateListed,
  example,
} as const

export const templateEvents = defineEvents({
  'work.template.created': { when: 'a template was made', ...whole },
  'work.template.changed': { when: 'a template was changed', ...whole },
  'work.template.deleted': { when: 'a template was deleted', ...whole },
})
