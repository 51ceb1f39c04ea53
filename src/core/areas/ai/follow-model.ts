/** What is told of a model follows it in every workspace that has it on. Spec: Keeping, 2, N10; docs/decisions/0475. */
import { z } from 'zod'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import { tellOf } from '../consents/ai-notice.ts'
import { findModelInUse } from './models.ts'
import { tellEverybody } from './notice-mails.ts'

/** An operator changed a model: each workspace that has it on tells of it anew. */
export const followAiModel = defineJob({
  name: 'follow_ai_model',
  payload: z.object({ modelId: z.guid() }),
  retryLimit: 5,
  async run(installation, { modelId }) {
    const worker = { kind: 'SYSTEM', job: 'follow_ai_model' } as const
    const workspaces = await installation.transaction(
      worker,
      { readOnly: true },
      ({ tx }) =>
        tx.last<
          { tenant_id: string }[]
        >`select tenant_id from ai_choice where model_id = ${modelId} order by tenant_id`,
    )
    for (const { tenant_id: tenantId } of workspaces)
      await installation.transaction(worker, { tenantId }, async (ctx) => {
        const model = await findModelInUse(ctx, tenantId)
        if (model?.id === modelId) await tellEverybody(ctx, tenantId, await tellOf(ctx, tenantId, model))
      })
  },
})
