/**
 * AI models offered to every workspace: listed, offered, replaced whole, removed.
 *
 * The egress guard checks the base URL before anything is stored, and again at every call. The key
 * is one sealed value, bound to the model; no operation answers it. The journal names the members
 * that changed, never their values.
 *
 * Spec: Admin: AI models; decisions 4, OfferedAiModel; T-17.
 */

import type {
  OfferedAiModel,
  OfferedAiModelConfiguration,
  aiProviderOperations as ops,
} from '../../../contract/ai/offered.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import { installationScope } from '../../../contract/vocabulary.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'
import { EgressRefused, portOf } from '../../../kernel/egress/guard.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { removeSealed, storeSealed } from '../../../kernel/transaction/sealed-values.ts'
import type { Actor } from '../../../kernel/values/actor.ts'
import { newId } from '../../../kernel/values/id.ts'
import { readSettings } from '../../settings/settings.ts'
import { followAiModel } from '../follow-model.ts'
import { apiKeyOf } from '../models.ts'

/** Models in the form of the answer; `which` is the condition after `where`. */
const readModels = (ctx: Ctx, which: ReturnType<Tx['part']>) => ctx.tx<OfferedAiModel[]>`
  select id, display_name, processor, kind, base_url, completion_model, embedding_model, jurisdiction, created_at, updated_at, version,
         exists (select from sealed_value s where s.tenant_id = ${installationScope} and s.kind = 'ai.api_key' and s.owner_id = m.id) as has_api_key,
         (select count(c.tenant_id)::int from ai_choice c where c.model_id = m.id) as workspaces_on
  from ai_model m where ${which}`

/** At most 1,000, oldest first. */
export async function listAiProviders(ctx: Ctx): Promise<Answer<typeof ops.listAiProviders>> {
  return { data: await readModels(ctx, ctx.tx.part`true order by id limit 1000`) }
}

const readModel = async (ctx: Ctx, id: string) =>
  (await readModels(ctx, ctx.tx.part`id = ${id}`))[0] ?? refuse('not_found')
/** Checks the base URL, DNS included, with no transaction open. Refuses egress.forbidden. */
export async function vetBaseUrl(
  installation: Installation,
  _actor: Actor,
  { body }: { readonly body: Pick<OfferedAiModelConfiguration, 'base_url'> },
): Promise<void> {
  const egress = await installation.egress()
  try {
    const url = egress.readUrl(body.base_url)
    await egress.vet(url.hostname, portOf(url))
  } catch (error) {
    if (error instanceof EgressRefused) refuse('egress.forbidden')
    // A name that DNS cannot resolve now may resolve later; every call checks it again.
  }
}

/** Offers a model and seals its key. Refuses ai.third_country_not_confirmed. */
export async function offerAiProvider(
  ctx: Ctx,
  { body }: Received<typeof ops.offerAiProvider>,
): Promise<Answer<typeof ops.offerAiProvider>> {
  await checkConfirmed(ctx, body)
  const id = newId()

  await ctx.tx`insert into ai_model ${ctx.tx.rows({ id, ...columnsOf(body) }, 'id', 'display_name', 'processor', 'kind', 'base_url', 'completion_model', 'embedding_model', 'jurisdiction')}`
  if (body.api_key) await storeSealed(ctx, apiKeyOf(id), body.api_key)
  await ctx.journal('ai_provider.offered', null, evidenceOf(id, body))
  return readModel(ctx, id)
}

/**
 * Replaces the whole configuration. An absent key keeps the sealed one, an empty key removes it. If nothing changes,
 * the version stays. Refuses not_found, precondition.failed, ai.third_country_not_confirmed.
 */
export async function replaceAiProvider(
  ctx: Ctx,
  { providerId, body }: Received<typeof ops.replaceAiProvider>,
): Promise<Answer<typeof ops.replaceAiProvider>> {
  const model = await lockModel(ctx, providerId)
  ctx.unchanged(model.version)
  await checkConfirmed(ctx, body)
  const columns = columnsOf(body)
  const moved = [
    ...(Object.keys(columns) as (keyof typeof columns)[]).filter((name) => columns[name] !== model[name]),
    // Any new key counts as a change: a comparison would have to open the sealed one.
    ...(body.api_key || (body.api_key === '' && model.has_api_key) ? ['api_key'] : []),
  ]
  if (moved.length === 0) return model

  await ctx.tx`
    update ai_model set display_name = ${columns.display_name}, processor = ${columns.processor}, kind = ${columns.kind},
      base_url = ${columns.base_url}, completion_model = ${columns.completion_model}, embedding_model = ${columns.embedding_model},
      jurisdiction = ${columns.jurisdiction}, updated_at = now(), version = version + 1
    where id = ${providerId}`
  if (body.api_key) await storeSealed(ctx, apiKeyOf(providerId), body.api_key)
  else if (body.api_key === '') await removeSealed(ctx, apiKeyOf(providerId))
  await ctx.enqueue(followAiModel, { modelId: providerId })
  await ctx.journal('ai_provider.replaced', null, evidenceOf(providerId, body, { members: moved }))
  return readModel(ctx, providerId)
}

/**
 * Removes a model and its key. Workspaces' choices of it stay, without effect. Refuses not_found, precondition.failed.
 */
export async function removeAiProvider(ctx: Ctx, { providerId }: Received<typeof ops.removeAiProvider>): Promise<void> {
  const model = await lockModel(ctx, providerId)
  ctx.unchanged(model.version)

  await ctx.tx`delete from ai_model where id = ${providerId}`
  await removeSealed(ctx, apiKeyOf(providerId))
  await ctx.journal('ai_provider.removed', null, evidenceOf(providerId, model))
}

/** Refuses not_found. */
async function lockModel(ctx: Ctx, id: string): Promise<OfferedAiModel> {
  const [locked] = await ctx.tx`select id from ai_model where id = ${id} for update`
  if (!locked) refuse('not_found')
  // A separate statement: the one that waits for the lock sees other tables as they were before it waited.
  return readModel(ctx, id)
}

async function checkConfirmed(ctx: Ctx, { jurisdiction }: Pick<OfferedAiModelConfiguration, 'jurisdiction'>) {
  if (jurisdiction !== 'THIRD_COUNTRY') return
  const { ai } = await readSettings(ctx)
  if (!ai.third_country_confirmed) refuse('ai.third_country_not_confirmed')
}

/** The row of a configuration: an absent member becomes null. */
const columnsOf = ({ api_key: _, ...plain }: OfferedAiModelConfiguration) => ({
  ...plain,
  completion_model: plain.completion_model ?? null,
  embedding_model: plain.embedding_model ?? null,
})

const evidenceOf = (id: string, { kind, jurisdiction }: Pick<OfferedAiModel, 'kind' | 'jurisdiction'>, more = {}) => ({
  subject: { kind: 'ai_provider', id },
  params: { kind, jurisdiction, ...more },
})
