/**
 * What the names of a content mean in a container: buckets and labels without regard to case and accents, fields by key.
 *
 * What means nothing there is left out, and so is a value that its field does not take. Spec: items 7, O25.
 */
import { Problem } from '../../contract/problem.ts'
import type { TemplateContent, TemplateItem } from '../../contract/templates/content.ts'
import type { TemplateApplied } from '../../contract/templates/operations.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { caseFold } from '../../kernel/values/case-fold.ts'
import type { CheckedValue } from '../items/field-values.ts'
import type { NewItem } from '../items/making.ts'
import { carries, checkFieldValue, definitionsFor, type FieldDefinition } from '../structure/custom-fields/value.ts'

export type LeftOut = TemplateApplied['left_out'][number]

export interface Namespace {
  /** By folded name. */
  readonly buckets: ReadonlyMap<string, string>
  readonly labels: ReadonlyMap<string, string>
  readonly leftmost: string | null
  readonly fields: readonly FieldDefinition[]
  /** Accounts that values of the content name, and that the workspace has. */
  readonly accounts: ReadonlySet<string>
}

export interface Resolved {
  /** Undefined: the leftmost. */
  readonly bucketId: string | null | undefined
  readonly members: Omit<NewItem, 'bucket_id' | 'position'>
}

const idShape = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The labels stay in the vocabulary until the commit. */
export async function namesIn(ctx: Ctx, containerId: string, { items }: TemplateContent): Promise<Namespace> {
  const { tx } = ctx
  const { tenantId } = ctx.account
  const named = items.flatMap(({ custom_fields: fields }) =>
    Object.values(fields).flatMap((value) =>
      typeof value === 'string' && idShape.test(value) ? [value.toLowerCase()] : [],
    ),
  )
  const [buckets, labels, fields, accounts] = await Promise.all([
    tx<{ id: string; name: string }[]>`
      select id, name from bucket where tenant_id = ${tenantId} and container_id = ${containerId} order by rank`,
    tx<{ id: string; name: string }[]>`
      select id, name from label where tenant_id = ${tenantId} and container_id = ${containerId} and deleted_at is null
      for key share`,
    definitionsFor(ctx, tx.part`${containerId}::uuid`),
    tx<{ id: string }[]>`
      select id from account where tenant_id = ${tenantId} and id in ${tx.list([...new Set(named)])} and state <> 'ERASED'`,
  ])
  const byName = (rows: readonly { id: string; name: string }[]) =>
    new Map(rows.map(({ id, name }) => [caseFold(name), id]))
  return {
    buckets: byName(buckets),
    labels: byName(labels),
    leftmost: buckets[0]?.id ?? null,
    fields,
    accounts: new Set(accounts.map(({ id }) => id)),
  }
}

/** What an item's names mean; adds to `leftOut` what means nothing. `pointer`: of the item. */
export function resolved(
  item: TemplateItem,
  names: Namespace,
  fill: (text: string) => string,
  pointer: string,
  leftOut: LeftOut[],
) {
  const leave = (at: string, code: string) => void leftOut.push({ pointer: `${pointer}/${at}`, code })
  const bucketId = item.bucket == null ? item.bucket : names.buckets.get(caseFold(item.bucket))
  if (typeof item.bucket === 'string' && bucketId === undefined) leave('bucket', 'reference.unknown')
  const label_ids = new Set<string>()
  for (const [at, name] of item.labels.entries()) {
    const id = names.labels.get(caseFold(name))
    if (id === undefined) leave(`labels/${at}`, 'reference.unknown')
    else label_ids.add(id)
  }
  const fields = names.fields.filter((field) => carries(field, item.type))
  const values: CheckedValue[] = []
  for (const [key, sent] of Object.entries(item.custom_fields)) {
    const value = checkedFor(fields, names.accounts, key, typeof sent === 'string' ? fill(sent) : sent)
    if (typeof value === 'string') leave(`custom_fields/${key}`, value)
    else values.push(value)
  }
  const missing = fields.filter(({ key, is_required }) => is_required && item.custom_fields[key] === undefined)
  for (const { key } of missing) leave(`custom_fields/${key}`, 'member.required')
  return { bucketId, label_ids: [...label_ids], values }
}

/** The value for its field, or the rule that keeps it out. */
function checkedFor(
  fields: readonly FieldDefinition[],
  accounts: ReadonlySet<string>,
  key: string,
  sent: unknown,
): CheckedValue | string {
  const field = fields.find((one) => one.key === key)
  if (!field) return 'reference.unknown'
  const { id: fieldId, kind } = field
  try {
    const value = checkFieldValue(field, sent, '')
    return kind === 'USER' && !accounts.has(String(value)) ? 'reference.unknown' : { key, fieldId, kind, value }
  } catch (error) {
    if (error instanceof Problem) return error.errors?.[0]?.code ?? error.code
    throw error
  }
}
