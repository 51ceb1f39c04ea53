/**
 * Writes the typed keys of items: with the rule that writes a title or a value, and for items of before by a job.
 *
 *    item.without_keys   true: the keys are not all there, so a filter looks at the item itself (unkeyed.ts)
 *                        false: they are, and each rule that changes what they are made of changes them too
 *
 * Both sides hold the item's lock, so the job cannot write keys of a value that a rule is changing.
 * Spec: Work on boards, 2, Cost; docs/decisions/0211.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { FieldKind } from '../../../contract/structure/custom-fields.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { firstId } from '../../../kernel/transaction/page.ts'
import { defineJob } from '../../../kernel/transaction/runnable-job.ts'
import { workspacesThat } from '../../../kernel/transaction/workspaces.ts'
import type { FieldValue } from '../../structure/custom-fields/value.ts'
import { keysOf, type TypedKey, textKey, titleField } from './keys.ts'

interface KeyRow extends TypedKey {
  readonly tenant_id: string
  readonly item_id: string
  readonly field_id: string
}

interface Keyed {
  readonly fieldId: string
  readonly kind: FieldKind
  readonly value: FieldValue
}

/** The rows of `item_field_key` of a new item, in portions of one statement each. */
export function keysOfNewItem(
  ctx: Ctx,
  item: { readonly id: string; readonly title: string },
  values: readonly Keyed[],
): readonly KeyRow[][] {
  return inPortions(rowsOf(ctx, item, values))
}

/** The key of a title that changed. An item without keys gets none: the job writes all of its keys. */
export function keyTitle({ tx, account: { tenantId } }: Ctx, itemId: string, title: string): void {
  const { key, whole } = textKey(title)
  void tx`
    update item_field_key set key = ${key}, whole = ${whole}
    where tenant_id = ${tenantId} and item_id = ${itemId} and field_id = ${titleField}`
}

/** The keys of a value that changed; null: it was cleared. */
export function keyValue(ctx: Ctx, itemId: string, fieldId: string, kind: FieldKind, value: FieldValue | null): void {
  const { tenantId } = ctx.account
  void ctx.tx`
    delete from item_field_key where tenant_id = ${tenantId} and item_id = ${itemId} and field_id = ${fieldId}`
  if (value === null) return
  writeKeys(
    ctx,
    keysOf(kind, value).map((key) => ({ tenant_id: tenantId, item_id: itemId, field_id: fieldId, ...key })),
  )
}

const rowsOf = (
  ctx: Ctx,
  item: { id: string; title: string },
  values: readonly Keyed[],
  tenantId = ctx.account.tenantId,
) => {
  const of =
    (field_id: string) =>
    (key: TypedKey): KeyRow => ({ tenant_id: tenantId, item_id: item.id, field_id, ...key })
  return [
    of(titleField)(textKey(item.title)),
    ...values.flatMap(({ fieldId, kind, value }) => keysOf(kind, value).map(of(fieldId))),
  ]
}

/** Rows of one statement: each has five values. */
const rowsAtOnce = 5_000

function writeKeys({ tx }: Ctx, rows: readonly KeyRow[]): void {
  for (const some of inPortions(rows))
    void tx`insert into item_field_key ${tx.rows(some, 'tenant_id', 'item_id', 'field_id', 'key', 'whole')}`
}

function inPortions(rows: readonly KeyRow[]): KeyRow[][] {
  const portions: KeyRow[][] = []
  for (let at = 0; at < rows.length; at += rowsAtOnce) portions.push(rows.slice(at, at + rowsAtOnce))
  return portions
}

const keyer = { kind: 'SYSTEM', job: 'key_items' } as const
/** Items of one transaction, so that none lasts long. */
const portion = 200
const runMs = 9 * 60_000

/** Items of before the keys get theirs, workspace by workspace. Killed anywhere, the next run goes on where it stopped. */
export const keyItems = defineJob({
  name: 'key_items',
  payload: z.object({}).nullish(),
  retryLimit: 1,
  longestSeconds: 600,
  cron: '*/10 * * * *',
  async run(installation) {
    const until = performance.now() + runMs
    for await (const tenantId of workspacesThat(installation, keyer, hasWithoutKeys))
      if (!(await keyWorkspace(installation, tenantId, until))) return
  },
})

/** Whether a workspace has items without keys. */
export async function hasWithoutKeys({ tx }: Ctx, tenantId: string): Promise<boolean> {
  const found = await tx`select 1 from item where tenant_id = ${tenantId} and without_keys limit 1`
  return found.length > 0
}

/** Answers false where the time of the run is over. After each portion it rests for as long as that took. */
async function keyWorkspace(installation: Installation, tenantId: string, until: number): Promise<boolean> {
  for (let after: string | undefined = firstId; after !== undefined; ) {
    const began = performance.now()
    if (began > until) return false
    const from: string = after
    after = await installation.transaction(keyer, { tenantId }, (ctx) => keyPortion(ctx, tenantId, from))
    await pause(Math.min(performance.now() - began, 100))
  }
  return true
}

/** Keys the first items behind an id, and answers the last one's id; undefined if there are none. */
async function keyPortion(ctx: Ctx, tenantId: string, after: string): Promise<string | undefined> {
  const { tx } = ctx
  const items = await tx<{ id: string; title: string }[]>`
    select id, title from item where tenant_id = ${tenantId} and without_keys and id > ${after}::uuid
    order by id limit ${portion} for update`
  if (items.length === 0) return undefined
  const ids = tx.list(items.map(({ id }) => id))
  const values = await tx<(Keyed & { item_id: string })[]>`
    select w.item_id, w.field_id as "fieldId", f.kind, w.value from item_field_value w
    join custom_field f on f.tenant_id = w.tenant_id and f.id = w.field_id
    where w.tenant_id = ${tenantId} and w.item_id in ${ids}`

  void tx`delete from item_field_key where tenant_id = ${tenantId} and item_id in ${ids}`
  const byItem = Map.groupBy(values, ({ item_id }) => item_id)
  writeKeys(
    ctx,
    items.flatMap((item) => rowsOf(ctx, item, byItem.get(item.id) ?? [], tenantId)),
  )
  void tx`update item set without_keys = false where tenant_id = ${tenantId} and id in ${ids}`
  return items.at(-1)?.id
}
