/**
 * Makes an item, or a board with its items, from a template: all in one transaction, by the rules that make each of them.
 *
 * What the content names and the place does not have is left out and told, so that a template that is older than a board
 * still serves. A new board has all that its content defines. Spec: items 7, O25; docs/decisions/0226.
 */
import type { Item } from '../../contract/items/operations.ts'
import type { Received } from '../../contract/operation.ts'
import { refuseMember } from '../../contract/problem.ts'
import type { TemplateContent } from '../../contract/templates/content.ts'
import type { templateOperations as ops, Template, TemplateApplied } from '../../contract/templates/operations.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { newId } from '../../kernel/values/id.ts'
import { rankBehind } from '../../kernel/values/rank.ts'
import { createContainer } from '../containers/creation.ts'
import { collectionFor, parentIn } from '../items/creation.ts'
import { workspaceZone } from '../items/dates.ts'
import { makeItems, type NewItem } from '../items/making.ts'
import { placeAt } from '../items/position.ts'
import { placeUnder } from '../items/tree/parent.ts'
import { endsFor } from '../items/tree/returning.ts'
import { atRoot } from '../items/tree/shape.ts'
import { createBucket } from '../structure/buckets/change.ts'
import { createCustomField } from '../structure/custom-fields/definition.ts'
import { createLabel } from '../structure/labels/label.ts'
import { type Calendar, calendarFrom } from './calendar.ts'
import { type LeftOut, type Namespace, namesIn, type Resolved, resolved } from './names.ts'
import { visibleTemplate } from './row.ts'
import { branchOf, placesOf } from './trees.ts'
import { fillerOf } from './variables.ts'

type Body = Received<typeof ops.applyTemplate>['body']

/** What the texts and the dates of the content become. */
interface Filling {
  readonly fill: (text: string) => string
  readonly calendar: Calendar
  readonly now: string
  readonly leftOut: LeftOut[]
}

/** Refuses not_found, request.invalid, auth.role_required, container.archived, quota.exceeded. */
export async function applyTemplate(
  ctx: Ctx,
  { templateId, body }: Received<typeof ops.applyTemplate>,
): Promise<TemplateApplied> {
  const [template, zone, now] = await together(visibleTemplate(ctx, templateId), workspaceZone(ctx), ctx.now())
  const fill = fillerOf(template.variables, body.values)
  const filling = { fill, calendar: calendarFrom(body.anchor_on, zone, now), now, leftOut: [] }
  const made =
    template.kind === 'ITEM' ? await itemOf(ctx, template, body, filling) : await boardOf(ctx, template, body, filling)
  return { ...made, left_out: filling.leftOut }
}

async function itemOf(ctx: Ctx, { content }: Template, body: Body, filling: Filling): Promise<{ item?: Item }> {
  refuseOthers(body, ['name'])
  const containerId = body.container_id ?? refuseMember('/container_id', 'member.required')
  const parentId = body.parent_id
  // The trees are held before anything else is locked; that the container is seen is said first.
  const asked = parentId === undefined ? undefined : parentIn(ctx, containerId, parentId)
  const [, parent, names] = await together(collectionFor(ctx, containerId), asked, namesIn(ctx, containerId, content))
  const inTree = parentId === undefined ? atRoot : placeUnder(parent, branchOf(content.items))
  const items = resolvedItems(content, names, filling)
  const ids = items.map(() => newId())
  const places = placesOf(content.items, ids, inTree)
  const standing = await standingOf(ctx, containerId, { items, ids, names, bucketId: body.bucket_id })
  const wanted = items.map(
    ({ members }, at): NewItem => ({
      ...members,
      ...(standing[at] ?? nowhere),
      id: ids[at] ?? newId(),
      place: places[at] ?? inTree,
    }),
  )
  const [made] = await makeItems(ctx, containerId, wanted, filling.now)
  return made ? { item: made } : {}
}

interface Standings {
  readonly items: readonly Resolved[]
  readonly ids: readonly string[]
  readonly names: Namespace
  /** Of the first item, where the request says it. */
  readonly bucketId: string | null | undefined
}

const nowhere = { bucket_id: null, position: '' }

/** Buckets and places: the first item's, and those of what is below it at the ends of their own. Refuses request.invalid. */
async function standingOf(ctx: Ctx, containerId: string, { items, ids, names, bucketId }: Standings) {
  const first = bucketId === undefined ? items[0]?.bucketId : bucketId
  const top = await placeAt(ctx, ctx.tx.part`${containerId}::uuid`, { bucketId: first })
  const bucketOf = (at: number, own: string | null = names.leftmost) => (at === 0 ? top.bucketId : own)
  if (items.length === 1) return [{ bucket_id: top.bucketId, position: top.rank }]
  const placed = items.map(({ bucketId: own }, at) => ({
    ...{ id: ids[at] ?? '', container_id: containerId, bucket_id: bucketOf(at, own) },
  }))
  const rankOf = await endsFor(ctx, placed)
  return placed.map(({ id, bucket_id }) => ({ bucket_id, position: rankOf(id) }))
}

async function boardOf(ctx: Ctx, { content }: Template, body: Body, filling: Filling) {
  refuseOthers(body, ['container_id', 'bucket_id'])
  const name = body.name ?? refuseMember('/name', 'member.required')
  const parent_id = body.parent_id ?? refuseMember('/parent_id', 'member.required')
  const container = await createContainer(ctx, { body: { kind: 'COLLECTION', name, parent_id, is_private: false } })
  await makeStructure(ctx, container.id, content)
  const names = await namesIn(ctx, container.id, content)
  const items = resolvedItems(content, names, filling)

  // Nobody else sees the new board yet, so the places are these, from the first on.
  const ends = new Map<string | null, string>()
  const ids = items.map(() => newId())
  const places = placesOf(content.items, ids)
  const placed = items.map(({ bucketId = names.leftmost, members }, at): NewItem => {
    const position = rankBehind(ends.get(bucketId) ?? null)
    ends.set(bucketId, position)
    return { ...members, bucket_id: bucketId, position, id: ids[at] ?? newId(), place: places[at] ?? atRoot }
  })
  await makeItems(ctx, container.id, placed, filling.now)
  return { container }
}

async function makeStructure(
  ctx: Ctx,
  containerId: string,
  { buckets, labels, fields }: TemplateContent,
): Promise<void> {
  for (const bucket of buckets) await createBucket(ctx, { containerId, body: bucket })
  for (const label of labels) await createLabel(ctx, { containerId, body: label })
  for (const { options, ...field } of fields)
    await createCustomField(ctx, { body: { ...field, collection_id: containerId, ...(options ? { options } : {}) } })
}

/** What this kind of template takes nothing of. Refuses request.invalid. */
function refuseOthers(body: Body, members: readonly (keyof Body)[]): void {
  const sent = members.find((member) => body[member] !== undefined)
  if (sent !== undefined) refuseMember(`/${sent}`, 'value.not_taken')
}

/** The items of the content with what its names mean in the container, in its order. Refuses request.invalid. */
function resolvedItems({ items }: TemplateContent, names: Namespace, { fill, calendar, leftOut }: Filling): Resolved[] {
  return items.map((item, at) => {
    const title = bounded(fill(item.title), 1, 500)
    const description = item.description == null ? null : bounded(fill(item.description), 0, 20_000)
    const { bucketId, label_ids, values } = resolved(item, names, fill, `/items/${at}`, leftOut)
    const { type } = item
    return { bucketId, members: { title, type, description, label_ids, values, ...calendar.datesOf(item) } }
  })
}

/** A text with its values. Refuses request.invalid at /values. */
function bounded(text: string, minimum: number, maximum: number): string {
  const length = [...text].length
  if (length < minimum) refuseMember('/values', 'text.too_short', { minimum })
  if (length > maximum) refuseMember('/values', 'text.too_long', { maximum })
  return text
}
