/** What a workspace sees of the AI models offered, its switch, and what they do for it. Spec: Admin: AI models; Index, Suggestions and AI. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { listOf, uuid } from '../vocabulary.ts'
import { jurisdiction } from './offered.ts'

/** All that a workspace learns of a model: name, processor, jurisdiction. */
const seen = { id: uuid, display_name: z.string(), processor: z.string(), jurisdiction }

export const AiModel = z.object({ ...seen, chosen: z.boolean() }).meta({ id: 'AiModel' })
export type AiModel = z.output<typeof AiModel>

const Summary = z
  .object({
    summary: z.string().describe("in the workspace's language; empty where the model is a NOOP"),
    model: z.object(seen).describe('who answered'),
    tokens: z.int().describe('counted against ai_tokens_per_day'),
    excluded: z
      .int()
      .min(0)
      .describe(
        'entries that were left out, because whoever wrote or last changed them objects to AI, or is restricted',
      ),
  })
  .meta({ id: 'Summary' })

const recovery = { refused: "content and its processors are the workspace's own" } as const
const params = z.strictObject({ modelId: uuid })
const choosing = { caller: 'workspace', scope: 'workspace:admin', role: 'ADMIN' } as const

const summarizing = {
  spec: 'Index, Suggestions and AI; Quota semantics (ai_tokens_per_day)',
  success: { status: 200, answer: Summary },
  needs: { caller: 'workspace', scope: 'workspace:write', role: 'MEMBER', within: 'container' },
  refuses: ['ai.no_model', 'ai.notice_due', 'ai.model_failed', 'quota.exceeded', 'secret.unavailable'],
  recovery,
  assumed: [
    'it sends content to a processor and spends tokens, so it needs what writing needs, although nothing is stored',
    'reasons of ai.model_failed are codes, as :test answers them',
  ],
} as const

export const aiOperations = defineOperations('ai', {
  listAiModels: {
    method: 'GET',
    path: '/ai/models',
    summary: 'The AI models that the workspace may switch on',
    spec: 'Admin: AI models (what a workspace sees); ours in path and shape',
    success: { status: 200, answer: listOf(AiModel) },
    needs: { caller: 'workspace', scope: 'workspace:read', role: 'VIEWER' },
    recovery,
    assumed: ['models of a jurisdiction that the installation does not allow are not among them'],
  },
  chooseAiModel: {
    method: 'POST',
    path: '/ai/models/{modelId}:choose',
    summary: 'Switch an AI model on for the workspace, in place of any other',
    spec: 'Admin: AI models (what a workspace sees); ours in path and shape',
    params,
    success: { status: 200, answer: AiModel },
    needs: choosing,
    recovery,
    assumed: [
      'a workspace has one model on at most',
      'a model of a jurisdiction that is not allowed is not_found, as one that nobody offers',
    ],
  },
  unchooseAiModel: {
    method: 'POST',
    path: '/ai/models/{modelId}:unchoose',
    summary: 'Switch an AI model off for the workspace',
    spec: 'ours: the way back from :choose',
    params,
    success: { status: 200, answer: AiModel },
    needs: choosing,
    recovery,
  },
  summarizeContainer: {
    method: 'POST',
    path: '/containers/{containerId}:summarize',
    summary: 'Summarise a hub or a collection with the model that the workspace switched on',
    params: z.strictObject({ containerId: uuid }),
    ...summarizing,
  },
  summarizeItem: {
    method: 'POST',
    path: '/items/{itemId}:summarize',
    summary: 'Summarise an item with the model that the workspace switched on',
    params: z.strictObject({ itemId: uuid }),
    ...summarizing,
    refuses: [...summarizing.refuses, 'ai.objected'],
  },
})
