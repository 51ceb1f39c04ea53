/** Events of a workspace's AI model. Spec: Admin: AI models; decisions 5. */
import { defineEvents, exampleId } from '../event.ts'
import { AiModel } from './operations.ts'

const subject = '/ai/models/{id}'
const model = { id: exampleId(8), display_name: 'House model', processor: 'Acme', jurisdiction: 'EEA' } as const

export const aiEvents = defineEvents({
  'ai.model.switched_on': {
    when: 'a workspace switched an AI model on',
    subject,
    container: null,
    data: AiModel,
    example: { ...model, chosen: true },
  },
  'ai.model.switched_off': {
    when: 'a workspace switched its AI model off',
    subject,
    container: null,
    data: AiModel,
    example: { ...model, chosen: false },
  },
})
