/**
 * `:summarize` of a container: an outline of it becomes a question.
 *
 * The outline is a list of sections in order of importance, each read by its own function. What
 * does not fit is cut from the end. Further content of a container becomes another section.
 *
 * Spec: Index, Suggestions and AI.
 */

import type { aiOperations as ops } from '../../contract/ai/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { Actor } from '../../kernel/values/actor.ts'
import { isSeen, visibleContainer } from '../access/access.ts'
import { askModel, type Told } from './ask.ts'
import { type Composed, lastWriterOf, questionAbout, type Section, shared } from './question.ts'

/** What is read of a container, after the check that the caller sees it. */
const sections: readonly ((ctx: Ctx, tenantId: string, containerId: string) => Promise<Section>)[] = [
  readCollections,
  readBuckets,
  readLabels,
  readItems,
]

/** Asks the model with no transaction open. Refuses not_found, and what askModel refuses. */
export const tellSummary = (
  installation: Installation,
  actor: Actor,
  { containerId }: Received<typeof ops.summarizeContainer>,
): Promise<Told> => askModel(installation, actor, (ctx, tenantId) => composeQuestion(ctx, tenantId, containerId))

/** Answers the model's text. The trail records that content was sent to the model, but not the content. */
export async function summarizeContainer(
  ctx: Ctx,
  { containerId }: Received<typeof ops.summarizeContainer>,
  { text, model, tokens, excluded }: Told,
): Promise<Answer<typeof ops.summarizeContainer>> {
  await ctx.audit('container.summarized', {
    subject: { kind: 'container', id: containerId },
    params: { model_id: model.id, tokens, excluded },
  })
  return { summary: text, model, tokens, excluded }
}

async function composeQuestion(ctx: Ctx, tenantId: string, containerId: string): Promise<Composed> {
  const { kind, name, description } = await visibleContainer(ctx, containerId, 'MEMBER')
  const head = {
    title: kind === 'HUB' ? 'Hub' : 'Collection',
    lines: shared([name, ...(description ? [description] : [])]),
  }
  const read = await Promise.all(sections.map((section) => section(ctx, tenantId, containerId)))
  return questionAbout(ctx, 'a part', [head, ...read])
}

async function readCollections(ctx: Ctx, tenantId: string, containerId: string): Promise<Section> {
  const rows = await ctx.tx<{ name: string }[]>`
    select c.name from container c join container h on h.tenant_id = c.tenant_id and h.id = c.parent_id
    where c.tenant_id = ${tenantId} and c.parent_id = ${containerId} and c.deleted_at is null and ${isSeen(ctx)}
    order by c.rank limit 200`
  return { title: 'Collections', lines: shared(rows.map(({ name }) => name)) }
}

async function readBuckets(ctx: Ctx, tenantId: string, containerId: string): Promise<Section> {
  const rows = await ctx.tx<{ name: string; wip_limit: number | null; is_done_bucket: boolean }[]>`
    select name, wip_limit, is_done_bucket from bucket where tenant_id = ${tenantId} and container_id = ${containerId}
    order by rank limit 200`
  const lines = rows.map(({ name, wip_limit, is_done_bucket }) =>
    [name, ...(wip_limit === null ? [] : [`at most ${wip_limit} at once`]), ...(is_done_bucket ? ['done'] : [])].join(
      '; ',
    ),
  )
  return { title: 'Buckets, from the left', lines: shared(lines) }
}

async function readLabels(ctx: Ctx, tenantId: string, containerId: string): Promise<Section> {
  const rows = await ctx.tx<{ name: string; description: string | null }[]>`
    select name, description from label where tenant_id = ${tenantId} and container_id = ${containerId} and deleted_at is null
    order by name_fold limit 200`
  return {
    title: 'Labels',
    lines: shared(rows.map(({ name, description }) => (description ? `${name}: ${description}` : name))),
  }
}

interface ItemRow {
  readonly title: string
  readonly state: 'OPEN' | 'DONE'
  readonly due_at: string | null
  readonly created_by: string
  readonly text_by: string | null
}

/** Open items, then done ones, newest first. */
async function readItems(ctx: Ctx, tenantId: string, containerId: string): Promise<Section> {
  const rows = await ctx.tx<ItemRow[]>`
    select i.title, i.state, i.due_at, i.created_by, ${lastWriterOf(ctx)} as text_by from item i
    where i.tenant_id = ${tenantId} and i.container_id = ${containerId} and i.deleted_at is null and i.archived_at is null
    order by i.state desc, i.id desc limit 200`
  return { title: 'Items', lines: rows.map((row) => ({ text: lineOfItem(row), by: [row.created_by, row.text_by] })) }
}

export const lineOfItem = ({
  title,
  state,
  due_at,
}: {
  readonly title: string
  readonly state: 'OPEN' | 'DONE'
  readonly due_at: string | null
}): string => [title, ...(state === 'DONE' ? ['done'] : []), ...(due_at === null ? [] : [`due ${due_at}`])].join('; ')
