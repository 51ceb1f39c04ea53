/** `:test`: asks an offered model a short question, and says which step fails. Spec: ours. */

import type { AiProbeStep, aiProviderOperations as ops } from '../../../contract/ai/offered.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import type { Actor } from '../../../kernel/values/actor.ts'
import { type Adapter, AiFailure } from '../adapter.ts'
import { readModel } from '../models.ts'
import { openAdapter } from '../open-adapter.ts'

const question = { instruction: 'Answer with one word.', content: 'Are you there?', maxAnswerTokens: 16 }
/** The limit of each step; the command line waits a minute for both. */
const stepMs = 25_000

/** Asks with no transaction open. Refuses not_found, secret.unavailable. */
export async function probeModel(
  installation: Installation,
  actor: Actor,
  { providerId }: Received<typeof ops.testAiProvider>,
): Promise<AiProbeStep[]> {
  const model = await installation.transaction(actor, { readOnly: true }, (ctx) => readModel(ctx, providerId))
  if (!model) refuse('not_found')
  const adapter = await openAdapter(installation, model.opened, stepMs)
  const steps: AiProbeStep[] = []
  // A model for embeddings only is not asked for a completion. A model for neither is, and fails as it would for a
  // workspace.
  const { completion_model, embedding_model } = model.opened
  if (completion_model !== null || embedding_model === null) steps.push(await step('complete', adapter))
  if (embedding_model !== null) steps.push(await step('embed', adapter))
  return steps
}

/** Answers the result of the steps. */
export async function testAiProvider(
  _ctx: Ctx,
  _received: Received<typeof ops.testAiProvider>,
  steps: AiProbeStep[],
): Promise<Answer<typeof ops.testAiProvider>> {
  return { ok: steps.every(({ ok }) => ok), steps }
}

async function step(name: AiProbeStep['name'], adapter: Adapter): Promise<AiProbeStep> {
  try {
    await (name === 'complete' ? adapter.complete(question) : adapter.embed(question.content))
    return { name, ok: true, error: null }
  } catch (error) {
    return { name, ok: false, error: error instanceof AiFailure ? error.reason : 'failed' }
  }
}
