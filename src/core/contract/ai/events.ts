/** Events of a workspace's AI model. Spec: Admin: AI models; decisions 5. */
import { defineEvents, exampleId } from '../event.ts'
import { AiModel } from './operations.ts'

const ofModel = { subject: '/ai/models/{id}', kind: 'ai_model', container: null } as const
const model = { id: exampleId(8), display_name: 'House model', processor: 'Acme', jurisdiction: 'EEA' } as const

export const aiEvents = defineEvents({
  'ai.model.switched_on': {
    when: 'a workspace switched an AI model on',
    ...ofModel,
    action: 'ai_model.switched_on',
    data: AiModel,
    example: { ...model, chosen: true },
  },
  'ai.model.switched_off': {
    when: 'a workspace switched its AI model off',
    ...ofModel,
    action: 'ai_model.switched_off',
    data: AiModel,
    example: { ...model, chosen: false },
  },
})
