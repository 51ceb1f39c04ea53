/**
 * The content of a template that is made from an item or a board: what its maker sees of it, by name.
 *
 * Day 0 is the earliest date of it, so that whoever applies the template says when that is. People stay behind, and so do
 * values that name one. Spec: items 7, O21; docs/decisions/0226.
 */
import type { Item } from '../../contract/items/operations.ts'
import { refuseMember } from '../../contract/problem.ts'
import {
  farthestDays,
  mostBuckets,
  mostFields,
  mostItems,
  mostLabels,
  type TemplateContent,
  type TemplateItem,
} from '../../contract/templates/content.ts'
import type { Template, TemplateSource } from '../../contract/templates/operations.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { offsetAt } from '../../kernel/values/day.ts'
import { findVisibleContainer } from '../access/access.ts'
import { workspaceZone } from '../items/dates.ts'
import { fromSeen, representation } from '../items/item.ts'
import { onBoard } from '../items/shelf.ts'
import { readEach } from '../items/tree/branch.ts'
import { treeOf } from '../items/tree/reading.ts'
import { below } from '../items/tree/shape.ts'
import { definitionsFor } from '../structure/custom-fields/value.ts'

type Included = NonNullable<TemplateSource['include']>[number]

/** Refuses request.invalid. */
export async function contentFrom(ctx: Ctx, kind: Template['kind'], from: TemplateSource): Promise<TemplateContent> {
  const [wanted, other] =
    kind === 'ITEM' ? (['item_id', 'container_id'] as const) : (['container_id', 'item_id'] as const)
  const id = from[wanted]
  if (from[other] !== undefined) refuseMember(`/from/${other}`, 'value.not_taken')
  if (id === undefined) return refuseMember(`/from/${wanted}`, 'member.required')
  const has = (member: Included) => from.include?.includes(member) ?? true
  return kind === 'ITEM' ? contentOfItem(ctx, id, has) : contentOfBoard(ctx, id, has)
}

type Has = (member: Included) => boolean

async function contentOfItem(ctx: Ctx, itemId: string, has: Has): Promise<TemplateContent> {
  const [item] = await ctx.tx<Item[]>`select ${representation(ctx)} ${fromSeen(ctx, itemId)}`
  if (!item) return refuseMember('/from/item_id', 'reference.unknown')
  const { buckets, labels, users } = await namesOf(ctx, item.container_id)
  const found = has('CHILDREN') ? [item, ...(await belowOf(ctx, item))] : [item]
  const items = itemsOf(found, { buckets, labels, users, has, zone: await workspaceZone(ctx) })
  return { buckets: [], labels: [], fields: [], items }
}

/** What is below the item; archived ones only where it is archived itself. */
async function belowOf(ctx: Ctx, item: Item): Promise<readonly Item[]> {
  const tree = await treeOf(ctx, item.id)
  return readEach(
    ctx,
    below(
      tree.filter(({ is_archived }) => item.archived_at !== null || !is_archived),
      item.id,
    ),
  )
}

/** What a board has more of, no template holds. Refuses request.invalid at /from/container_id. */
async function contentOfBoard(ctx: Ctx, containerId: string, has: Has): Promise<TemplateContent> {
  const container = await findVisibleContainer(ctx, containerId)
  if (container?.kind !== 'COLLECTION') return refuseMember('/from/container_id', 'reference.unknown')
  const { buckets, labels, fields, users } = await namesOf(ctx, containerId)
  const content = {
    buckets: buckets.map(({ id, ...bucket }) => bucket),
    labels: has('LABELS') ? labels.map(({ id, ...label }) => label) : [],
    fields: has('FIELDS') ? fields : [],
  }
  refuseMore(content.buckets, mostBuckets)
  refuseMore(content.labels, mostLabels)
  refuseMore(content.fields, mostFields)
  const found = has('ITEMS') ? await itemsOfBoard(ctx, containerId) : []
  return { ...content, items: itemsOf(found, { buckets, labels, users, has, zone: await workspaceZone(ctx) }) }
}

function refuseMore(list: readonly unknown[], maximum: number): void {
  if (list.length > maximum) refuseMember('/from/container_id', 'list.maximum', { maximum })
}

type Bucket = TemplateContent['buckets'][number] & { readonly id: string }
type Label = TemplateContent['labels'][number] & { readonly id: string }

/** The buckets from the left, the vocabulary, and the fields that are the container's own; `users`: keys whose values are people. */
async function namesOf(ctx: Ctx, containerId: string) {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const [buckets, labels, definitions] = await Promise.all([
    tx<Bucket[]>`
      select id, name, wip_limit, is_done_bucket, color_token from bucket
      where tenant_id = ${tenantId} and container_id = ${containerId} order by rank`,
    tx<Label[]>`
      select id, name, color_token, description from label
      where tenant_id = ${tenantId} and container_id = ${containerId} and deleted_at is null order by id`,
    definitionsFor(ctx, tx.part`${containerId}::uuid`),
  ])
  const own = definitions.filter(({ collection_id }) => collection_id !== null)
  const fields = own.map(({ key, kind, options, is_required, applies_to }) => ({
    key,
    kind,
    options: options === null ? null : [...options],
    is_required,
    applies_to: [...applies_to],
  }))
  const users = new Set(definitions.filter(({ kind }) => kind === 'USER').map(({ key }) => key))
  return { buckets, labels, fields, users }
}

/** In the order of the board. Refuses request.invalid at /from/container_id. */
async function itemsOfBoard(ctx: Ctx, containerId: string): Promise<readonly Item[]> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const onIt = tx.part`i.container_id = ${containerId} and ${onBoard(ctx)}`
  // Counted first: a large board is not sorted only to be refused.
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from (select from item i where i.tenant_id = ${tenantId} and ${onIt} limit ${mostItems + 1}) few`
  if ((row?.count ?? 0) > mostItems) refuseMember('/from/container_id', 'list.maximum', { maximum: mostItems })
  return tx<Item[]>`
    select ${representation(ctx)} from item i
    left join bucket b on b.tenant_id = i.tenant_id and b.id = i.bucket_id
    where i.tenant_id = ${tenantId} and ${onIt} order by b.rank nulls first, i.rank`
}

interface Known {
  readonly buckets: readonly Bucket[]
  readonly labels: readonly Label[]
  readonly users: ReadonlySet<string>
  readonly has: Has
  /** Of dates that name none. */
  readonly zone: string
}

function itemsOf(items: readonly Item[], { buckets, labels, users, has, zone }: Known): TemplateItem[] {
  const days = items.map((item) => (has('DATES') ? daysOf(item, zone) : undefined))
  const first = days.flatMap((one) => (one ? [one.start ?? one.due] : [])).sort()[0] ?? ''
  const from = (day: string | undefined) =>
    day === undefined ? null : Math.round((Date.parse(day) - Date.parse(first)) / dayMs)
  const places = new Map(items.map(({ id }, at) => [id, at]))
  return items.map((item, at) => {
    const parent = has('CHILDREN') && item.parent_id !== null ? places.get(item.parent_id) : undefined
    const values = Object.entries(item.custom_fields).filter(([key]) => has('FIELDS') && !users.has(key))
    const dates = { start_in_days: from(days[at]?.start), due_in_days: from(days[at]?.due) }
    return {
      title: item.title,
      type: item.type,
      description: item.description,
      ...(parent === undefined ? {} : { parent }),
      bucket: buckets.find(({ id }) => id === item.bucket_id)?.name ?? null,
      labels: has('LABELS') ? labels.filter(({ id }) => item.label_ids.includes(id)).map(({ name }) => name) : [],
      custom_fields: Object.fromEntries(values),
      ...(isFar(dates.due_in_days) ? { start_in_days: null, due_in_days: null } : dates),
    }
  })
}

const dayMs = 86_400_000
/** A date so far behind the first one has no offset in a content. */
const isFar = (days: number | null) => days !== null && days > farthestDays

/** The days of an item's dates, of moments the day in their zone. */
function daysOf({ start_at, due_at, start_on, due_on, time_zone }: Item, zone: string) {
  if (due_at === null) return undefined
  const dayOf = (moment: string) => {
    const at = Date.parse(moment)
    return new Date(at + offsetAt(at, time_zone ?? zone)).toISOString().slice(0, 10)
  }
  const start = start_on ?? (start_at === null ? undefined : dayOf(start_at))
  return { start, due: due_on ?? dayOf(due_at) }
}
