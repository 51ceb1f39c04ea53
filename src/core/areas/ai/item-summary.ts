/**
 * `:summarize` of an item: its title, description, labels and fields become a question. Spec: Index, Suggestions and
 * AI.
 */

import type { aiOperations as ops } from '../../contract/ai/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { Actor } from '../../kernel/values/actor.ts'
import { visibleContainer } from '../access/access.ts'
import { visibleItem } from '../items/item.ts'
import { askModel, type Told } from './ask.ts'
import { type Composed, keptFromAi, lastWriterOf, questionAbout, shared } from './question.ts'
import { lineOfItem } from './summary.ts'

type Asked = Received<typeof ops.summarizeItem>

/** Asks the model with no transaction open. Refuses not_found, auth.role_required, and what askModel refuses. */
export const tellItemSummary = (installation: Installation, actor: Actor, { itemId }: Asked): Promise<Told> =>
  askModel(installation, actor, (ctx) => composeQuestion(ctx, itemId))

/** Answers the model's text. The trail records that content was sent to the model, but not the content. */
export async function summarizeItem(
  ctx: Ctx,
  { itemId }: Asked,
  { text, model, tokens, excluded }: Told,
): Promise<Answer<typeof ops.summarizeItem>> {
  await ctx.audit('item.summarized', { subject: { kind: 'item', id: itemId }, params: { model_id: model.id, tokens } })
  return { summary: text, model, tokens, excluded }
}

/** Refuses not_found, auth.role_required, ai.objected. */
async function composeQuestion(ctx: Ctx, itemId: string): Promise<Composed> {
  const item = await visibleItem(ctx, itemId)
  await visibleContainer(ctx, item.container_id, 'MEMBER')
  const by = [item.created_by, await readLastWriter(ctx, itemId)]
  if ((await keptFromAi(ctx, by)).size > 0) refuse('ai.objected')
  const values = Object.entries(item.custom_fields).map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
  const words = [lineOfItem(item), ...(item.description ? [item.description] : [])]
  return questionAbout(ctx, 'an item', [
    { title: item.type, lines: words.map((text) => ({ text, by })) },
    { title: 'Labels', lines: shared(await readLabels(ctx, item.label_ids)) },
    { title: 'Fields', lines: shared(values) },
  ])
}

async function readLastWriter(ctx: Ctx, itemId: string): Promise<string | null> {
  const [row] = await ctx.tx<{ text_by: string | null }[]>`
    select ${lastWriterOf(ctx)} as text_by from item i where i.tenant_id = ${ctx.account.tenantId} and i.id = ${itemId}`
  return row?.text_by ?? null
}

async function readLabels(ctx: Ctx, ids: readonly string[]): Promise<string[]> {
  const { tx } = ctx
  const rows = await tx<{ name: string }[]>`
    select name from label where tenant_id = ${ctx.account.tenantId} and id in ${tx.list(ids)} order by name_fold`
  return rows.map(({ name }) => name)
}
