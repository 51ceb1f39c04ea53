/**
 * Offered models as a workspace sees them: by name, processor and jurisdiction, with at most one
 * switched on.
 *
 * The models belong to the installation and the choice to the workspace, so a transaction reads
 * each in its owner's role. A choice outlives its model: AI operations are then refused
 * (ai.no_model) until the workspace chooses again.
 *
 * Spec: Admin: AI models.
 */

import type { aiOperations as ops } from '../../contract/ai/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Jurisdiction } from '../../contract/settings/defaults.ts'
import { installationScope } from '../../contract/vocabulary.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { openSealed } from '../../kernel/transaction/sealed-values.ts'
import { tellOf } from '../consents/ai-notice.ts'
import { readSettings } from '../settings/settings.ts'
import type { OpenedModel } from './adapter.ts'
import { allowedBy } from './jurisdictions.ts'
import { tellEverybody } from './notice-mails.ts'

/** What a workspace sees of a model. */
export interface SeenModel {
  readonly id: string
  readonly display_name: string
  readonly processor: string
  readonly jurisdiction: Jurisdiction
}

/** Oldest first. */
export async function listAiModels(ctx: Ctx): Promise<Answer<typeof ops.listAiModels>> {
  const { tenantId } = ctx.account
  const models = await ctx.asInstallation(() => readAllowed(ctx))
  const chosen = await readChoice(ctx, tenantId)
  return { data: models.map((model) => ({ ...model, chosen: model.id === chosen })) }
}

async function readAllowed(ctx: Ctx): Promise<SeenModel[]> {
  const allowed = allowedBy((await readSettings(ctx)).ai)
  return ctx.tx<SeenModel[]>`
    select id, display_name, processor, jurisdiction from ai_model
    where jurisdiction in ${ctx.tx.list(allowed)} order by id limit 1000`
}

async function readChoice(ctx: Ctx, tenantId: string): Promise<string | undefined> {
  const [row] = await ctx.tx<{ model_id: string }[]>`select model_id from ai_choice where tenant_id = ${tenantId}`
  return row?.model_id
}

/** Switches a model on, in place of any other. If it is already on, nothing changes. Refuses not_found. */
export async function chooseAiModel(
  ctx: Ctx,
  { modelId }: Received<typeof ops.chooseAiModel>,
): Promise<Answer<typeof ops.chooseAiModel>> {
  const { tenantId } = ctx.account
  const model = await findAllowed(ctx, modelId)

  const changed = await ctx.tx`
    insert into ai_choice (tenant_id, model_id) values (${tenantId}, ${modelId})
    on conflict (tenant_id) do update set model_id = excluded.model_id, chosen_at = excluded.chosen_at
    where ai_choice.model_id <> excluded.model_id`
  const chosen = { ...model, chosen: true }
  if (changed.count > 0) await ctx.record('ai.model.switched_on', chosen)
  if (changed.count > 0) await tellEverybody(ctx, tenantId, await tellOf(ctx, tenantId, model))
  return chosen
}

/** Switches a model off. If it is already off, nothing changes. Refuses not_found. */
export async function unchooseAiModel(
  ctx: Ctx,
  { modelId }: Received<typeof ops.unchooseAiModel>,
): Promise<Answer<typeof ops.unchooseAiModel>> {
  const { tenantId } = ctx.account
  const model = await findAllowed(ctx, modelId)

  const changed = await ctx.tx`delete from ai_choice where tenant_id = ${tenantId} and model_id = ${modelId}`
  const left = { ...model, chosen: false }
  if (changed.count > 0) await ctx.record('ai.model.switched_off', left)
  return left
}

/** A model as the workspace in force sees it. Refuses not_found, also for one that is not allowed. */
async function findAllowed(ctx: Ctx, id: string): Promise<SeenModel> {
  const models = await ctx.asInstallation(() => readAllowed(ctx))
  return models.find((model) => model.id === id) ?? refuse('not_found')
}

export interface ModelInUse {
  readonly seen: SeenModel
  readonly opened: OpenedModel
}

type ModelRow = SeenModel & Omit<OpenedModel, 'apiKey'> & { readonly has_api_key: boolean }

/** The model that the workspace in force has switched on, if it answers: as it is seen. */
export async function findModelInUse(ctx: Ctx, tenantId: string): Promise<SeenModel | undefined> {
  const chosen = await readChoice(ctx, tenantId)
  if (chosen === undefined) return undefined
  const models = await ctx.asInstallation(() => readAllowed(ctx))
  return models.find(({ id }) => id === chosen)
}

/** The model that the workspace in force has switched on. Refuses ai.no_model, secret.unavailable. */
export async function modelInUse(ctx: Ctx, tenantId: string): Promise<ModelInUse> {
  const chosen = (await readChoice(ctx, tenantId)) ?? refuse('ai.no_model')
  return ctx.asInstallation(async () => {
    const model = (await readModel(ctx, chosen)) ?? refuse('ai.no_model')
    // The operator withdrew the jurisdiction after the choice.
    if (!allowedBy((await readSettings(ctx)).ai).includes(model.seen.jurisdiction)) refuse('ai.no_model')
    return model
  })
}

/**
 * An offered model with its key, read in the installation's role; undefined if the id is unknown. Refuses
 * secret.unavailable.
 */
export async function readModel(ctx: Ctx, id: string): Promise<ModelInUse | undefined> {
  const [row] = await ctx.tx<ModelRow[]>`
    select id, display_name, processor, jurisdiction, kind, base_url, completion_model, embedding_model,
           exists (select from sealed_value s where s.tenant_id = ${installationScope} and s.kind = 'ai.api_key' and s.owner_id = m.id) as has_api_key
    from ai_model m where id = ${id}`
  if (!row) return undefined
  const { display_name, processor, jurisdiction, has_api_key, ...model } = row
  const apiKey = has_api_key ? await openSealed(ctx, apiKeyOf(id)) : undefined
  return { seen: { id, display_name, processor, jurisdiction }, opened: { ...model, apiKey } }
}

/** The sealed value that holds a model's key. */
export const apiKeyOf = (modelId: string) =>
  ({ tenantId: installationScope, kind: 'ai.api_key', ownerId: modelId }) as const
