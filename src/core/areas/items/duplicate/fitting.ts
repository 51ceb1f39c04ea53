/** What of an item fits into the container that its copy goes to. Spec: items 1, N15; docs/decisions/0341. */
import type { Item } from '../../../contract/items/operations.ts'
import type { CopiedPart } from '../../../contract/items/tree.ts'
import { rankOf } from '../../../contract/vocabulary.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { together } from '../../../kernel/transaction/together.ts'
import { type AccountAccess, accessOfEach } from '../../access/account-access.ts'
import { carries, definitionsFor, type FieldDefinition, type FieldValue } from '../../structure/custom-fields/value.ts'
import type { CheckedValue } from '../field-values.ts'
import type { NewItem } from '../making.ts'

interface Asked {
  readonly from: string
  readonly to: string
  readonly originals: readonly Item[]
  readonly has: (part: CopiedPart) => boolean
}

interface Fitting {
  /** The bucket of a copy whose original is in this one: the leftmost that is no done bucket, if it is none of these. */
  readonly bucketFor: (bucketId: string | null) => string | null
  readonly labelsOf: (item: Item) => string[]
  readonly valuesOf: (item: Item) => CheckedValue[]
  readonly peopleOf: (item: Item) => NonNullable<NewItem['people']>
}

export async function fittingFor(ctx: Ctx, { from, to, originals, has }: Asked): Promise<Fitting> {
  const { tx } = ctx
  const [buckets, before, after, labels, access] = await together(
    tx<{ id: string; is_done_bucket: boolean }[]>`
      select id, is_done_bucket from bucket where tenant_id = ${ctx.account.tenantId} and container_id = ${to} order by rank`,
    definitionsFor(ctx, tx.part`${from}::uuid`),
    definitionsFor(ctx, tx.part`${to}::uuid`),
    labelsIn(ctx, to, has('LABELS') ? originals.flatMap(({ label_ids }) => label_ids) : []),
    accessIn(ctx, to, has('PEOPLE') ? originals.flatMap(({ member_ids }) => member_ids) : []),
  )
  const leftmost = (buckets.find(({ is_done_bucket }) => !is_done_bucket) ?? buckets[0])?.id ?? null
  const isOpen = new Set(buckets.flatMap(({ id, is_done_bucket }) => (is_done_bucket ? [] : [id])))
  const isIn = (accountId: string, role: 'VIEWER' | 'MEMBER') => {
    const one = access.get(accountId)
    return one?.state !== 'DISABLED' && one?.role !== undefined && rankOf[one.role] >= rankOf[role]
  }
  return {
    bucketFor: (bucketId) => {
      if (bucketId === null) return from === to ? null : leftmost
      return isOpen.has(bucketId) ? bucketId : leftmost
    },
    labelsOf: ({ label_ids }) => [...new Set(label_ids.flatMap((id) => labels.get(id) ?? []))],
    valuesOf: (item) => (has('FIELDS') ? fittingValues(item, before, after) : []),
    peopleOf: ({ member_ids, assignee_id }) => ({
      member_ids: member_ids.filter((id) => isIn(id, 'VIEWER')),
      assignee_id: assignee_id !== null && isIn(assignee_id, 'MEMBER') ? assignee_id : null,
    }),
  }
}

/** The labels of the container with the names of these, by their ids. */
async function labelsIn(ctx: Ctx, containerId: string, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const { tx } = ctx
  const { tenantId } = ctx.account
  const rows = await tx<{ id: string; as: string }[]>`
    select s.id, t.id as "as" from label s
    join label t on t.tenant_id = s.tenant_id and md5(t.name_fold) = md5(s.name_fold) and t.name_fold = s.name_fold
    where s.tenant_id = ${tenantId} and s.id in ${tx.list([...new Set(ids)])}
      and t.container_id = ${containerId} and t.deleted_at is null`
  return new Map(rows.map((row) => [row.id, row.as]))
}

async function accessIn(
  ctx: Ctx,
  containerId: string,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, AccountAccess>> {
  return accountIds.length === 0
    ? new Map()
    : accessOfEach(ctx, ctx.tx.part`${containerId}::uuid`, [...new Set(accountIds)])
}

/** Values of fields that the place defines under the same key, as the same kind, for the item's type. */
function fittingValues(
  { type, custom_fields }: Item,
  before: readonly FieldDefinition[],
  after: readonly FieldDefinition[],
): CheckedValue[] {
  return Object.entries(custom_fields).flatMap(([key, value]) => {
    const was = before.find((field) => field.key === key)
    const field = after.find((one) => one.key === key && one.kind === was?.kind && carries(one, type))
    if (!field || (field.id !== was?.id && !isOffered(field, value))) return []
    return [{ key, fieldId: field.id, kind: field.kind, value }]
  })
}

const isOffered = ({ options }: FieldDefinition, value: FieldValue): boolean =>
  options === null || (Array.isArray(value) ? value : [String(value)]).every((one) => options.includes(one))
