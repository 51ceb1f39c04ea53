/** The right to object to AI, and the notice of it. Spec: Keeping, 2, N10, N11. */
import { z } from 'zod'
import { AiModel } from '../ai/operations.ts'
import { defineOperations } from '../operation.ts'
import { count, moment } from '../vocabulary.ts'

const AiObjection = z
  .object({
    is_objected: z.boolean().describe('whether the texts of the account go to no model'),
    objected_at: moment.nullable().describe('since when; null: it does not object'),
    notice: z
      .object({
        version: z.int().min(0).describe('of what is told of the model; it moves with the model. 0: there was none'),
        is_due: z.boolean().describe('whether the account has still to see it; until then it asks the model nothing'),
        noticed_version: z.int().nullable().describe('the version that it has seen last; null: none'),
        noticed_at: moment.nullable().describe('when; null: never'),
      })
      .meta({ id: 'AiNotice' })
      .describe('the notice that one may object'),
    model: AiModel.pick({ display_name: true, processor: true, jurisdiction: true })
      .meta({ id: 'AiNoticeModel' })
      .nullable()
      .describe('the model that the workspace switched on; null: none that answers'),
  })
  .meta({ id: 'AiObjection' })
export type AiObjection = z.output<typeof AiObjection>

const needs = { caller: 'account' } as const
const recovery = { refused: 'what people have seen, they say themselves' } as const

export const aiObjectionOperations = defineOperations('privacy', {
  getAiObjection: {
    method: 'GET',
    path: '/privacy/ai-objection',
    summary: 'Whether the own account objects to AI, and what it has to know of the model',
    spec: 'Keeping, 2, N10',
    success: { status: 200, answer: AiObjection },
    needs,
    recovery,
    assumed: ['to object: `POST /privacy/consents:withdraw` of `ai_content`; to take it back: `:give`'],
  },
  noteAiNotice: {
    method: 'POST',
    path: '/privacy/ai-objection:noticed',
    summary: 'Say that the notice about the model was seen',
    spec: 'Keeping, 2, N11; art. 21(4)',
    body: z
      .strictObject({ version: count(0, 1_000_000).describe('of the notice that was shown') })
      .meta({ id: 'AiNoticeSeen' }),
    success: { status: 200, answer: AiObjection },
    needs,
    refuses: ['privacy.text_changed', 'privacy.person_only'],
    recovery,
    assumed: ['again changes nothing; while there is no model, neither does it'],
  },
})
