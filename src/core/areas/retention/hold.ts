/**
 * Legal holds: they prevent deletion, independent of the caller.
 *
 *    none ──place──▶ in force ──release──▶ released (the row stays)
 *
 * A hold in force, with any scope, stops the purge of its workspace: the purge does not begin. A
 * hold that a recovery places again stops a running purge between two batches. It also keeps the rows
 * that people purged from their trash (areas/items/trash/removal.ts). A release deletes nothing itself:
 * a purge that is due continues by its own schedule (purge.ts), and a job removes what was purged.
 *
 * Placing a hold takes the workspace's exclusive lock, as the start of the purge does. If both
 * happen at the same moment, the later one sees the earlier one. Elsewhere: holds after a recovery
 * (areas/tenants/deletion/legal-holds.ts). Spec: Legal holds; T-23.
 */

import type { Obligation } from '../../contract/obligation.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import type { Hold, HoldScope, retentionOperations as ops } from '../../contract/retention/operations.ts'
import { installationScope } from '../../contract/vocabulary.ts'
import { closeWorkspace } from '../../kernel/transaction/admission.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { firstId, pageOfRows, pageStart } from '../../kernel/transaction/page.ts'
import { lockTenant } from '../../kernel/transaction/workspace-row.ts'
import { accountIdOf } from '../../kernel/values/actor.ts'
import { newId } from '../../kernel/values/id.ts'
import { removePurged } from '../items/trash/removal.ts'

interface HoldRow extends Omit<Hold, 'scope'> {
  readonly scope_kind: Hold['scope']['kind']
  readonly scope_id: string | null
}

const holdOf = ({ scope_kind, scope_id, ...row }: HoldRow): Hold => ({
  ...row,
  scope: { kind: scope_kind, id: scope_id },
})

/** Oldest first: ids rise with the moment. Refuses not_found, cursor.invalid. */
export async function listHolds(
  ctx: Ctx,
  { tenant_id, state, cursor, size }: Received<typeof ops.listHolds>,
): Promise<Answer<typeof ops.listHolds>> {
  const list = { operation: 'listHolds', filters: { tenant_id, state } }
  const after = pageStart(ctx, list, cursor) ?? firstId
  const [tenant] = await ctx.tx`select 1 from tenant where id = ${tenant_id}`
  if (!tenant) refuse('not_found')

  const { tx } = ctx
  const narrowed =
    state === undefined
      ? tx.part``
      : state === 'IN_FORCE'
        ? tx.part`and released_at is null`
        : tx.part`and released_at is not null`
  const rows = await ctx.inWorkspace(
    tenant_id,
    () => tx<HoldRow[]>`
      select * from legal_hold where tenant_id = ${tenant_id} and id > ${after}::uuid ${narrowed}
      order by id limit ${size + 1}`,
  )
  return pageOfRows(ctx, list, rows.map(holdOf), size)
}

/** One hold, by its id alone. Refuses not_found. */
export async function getHold(ctx: Ctx, { holdId }: Received<typeof ops.getHold>): Promise<Hold> {
  const tenantId = await workspaceOfHold(ctx, holdId)
  return ctx.inWorkspace(tenantId, () => readHold(ctx, tenantId, holdId))
}

/** Places a hold. Refuses not_found, request.invalid, admin.tenant_deletion_underway. */
export async function placeHold(ctx: Ctx, { body }: Received<typeof ops.placeHold>): Promise<Hold> {
  const { tenant_id: tenantId, reason } = body
  await closeWorkspace(ctx.tx, tenantId)
  const tenant = await lockTenant(ctx, tenantId)
  if (tenant.purge_started_at !== null) refuse('admin.tenant_deletion_underway')
  const scopeId = scopeIdOf(tenantId, body.scope, '/scope')
  const id = newId()

  const hold = await ctx.inWorkspace(tenantId, async () => {
    if (!(await isPresent(ctx, tenantId, body.scope.kind, scopeId))) refuseMember('/scope/id', 'reference.unknown')
    await ctx.tx`
      insert into legal_hold (tenant_id, id, scope_kind, scope_id, reason, placed_by)
      values (${tenantId}, ${id}, ${body.scope.kind}, ${scopeId}, ${reason}, ${accountIdOf(ctx.actor) ?? installationScope})`
    const placed = await readHold(ctx, tenantId, id)
    await record(ctx, placed, 'lifecycle.hold.placed')
    return placed
  })
  await ctx.journal('hold.placed', tenant, { subject: { kind: 'hold', id }, params: { scope: body.scope.kind } })
  ctx.recordObligation(placementOf(tenantId, hold))

  return hold
}

/** Releases a hold; if it is already released, nothing changes. Refuses not_found. */
export async function releaseHold(ctx: Ctx, { holdId }: Received<typeof ops.releaseHold>): Promise<Hold> {
  const tenantId = await workspaceOfHold(ctx, holdId)
  const tenant = await lockTenant(ctx, tenantId)

  const { hold, isChanged } = await ctx.inWorkspace(tenantId, async () => {
    const released = await ctx.tx`
      update legal_hold
      set released_at = now(), released_by = ${accountIdOf(ctx.actor) ?? installationScope}, version = version + 1
      where tenant_id = ${tenantId} and id = ${holdId} and released_at is null`
    const now = await readHold(ctx, tenantId, holdId)
    if (released.count === 1) await record(ctx, now, 'lifecycle.hold.released')
    return { hold: now, isChanged: released.count === 1 }
  })
  if (isChanged)
    await ctx.journal('hold.released', tenant, {
      subject: { kind: 'hold', id: holdId },
      params: { scope: hold.scope.kind },
    })
  if (isChanged) ctx.recordObligation({ act: 'hold.released', tenant_id: tenantId, id: holdId })
  if (isChanged) await ctx.enqueue(removePurged, { tenantId }, { singletonKey: tenantId })

  return hold
}

/** The obligation that the ledger stores for a hold. */
export const placementOf = (
  tenantId: string,
  { id, scope, reason, placed_by, placed_at }: Pick<Hold, 'id' | 'scope' | 'reason' | 'placed_by' | 'placed_at'>,
): Obligation => ({
  act: 'hold.placed',
  tenant_id: tenantId,
  id,
  scope: { kind: scope.kind, id: scopeIdOf(tenantId, scope, '/scope') },
  placed_by,
  placed_at,
  reason,
})

/** Whether the workspace has a hold in force, with any scope. */
export async function isHeld(ctx: Ctx, tenantId: string): Promise<boolean> {
  const [hold] = await ctx.tx`select 1 from legal_hold where tenant_id = ${tenantId} and released_at is null limit 1`
  return hold !== undefined
}

/** The scope's id as it is stored: null for a whole workspace. Refuses request.invalid at the pointer. */
export function scopeIdOf(tenantId: string, { kind, id }: HoldScope, pointer: string): string | null {
  if (kind !== 'TENANT') return id ?? refuseMember(`${pointer}/id`, 'member.required')
  if (id !== null && id !== undefined && id !== tenantId) refuseMember(`${pointer}/id`, 'reference.unknown')
  return null
}

/** Whether the workspace in force has the target, including a deleted one that can be restored. */
export async function isPresent(
  ctx: Ctx,
  tenantId: string,
  kind: Hold['scope']['kind'],
  id: string | null,
): Promise<boolean> {
  switch (kind) {
    case 'TENANT':
      return true
    case 'CONTAINER':
      return (await ctx.tx`select 1 from container where tenant_id = ${tenantId} and id = ${id}`).length === 1
    case 'ACCOUNT':
      return (await ctx.tx`select 1 from account where tenant_id = ${tenantId} and id = ${id}`).length === 1
    case 'ITEM':
      return (await ctx.tx`select 1 from item where tenant_id = ${tenantId} and id = ${id}`).length === 1
  }
}

async function workspaceOfHold(ctx: Ctx, holdId: string): Promise<string> {
  const [found] = await ctx.tx<{ tenant_id: string }[]>`select tenant_id from legal_hold where id = ${holdId}`
  if (!found) refuse('not_found')
  return found.tenant_id
}

async function readHold(ctx: Ctx, tenantId: string, id: string): Promise<Hold> {
  const [row] = await ctx.tx<HoldRow[]>`select * from legal_hold where tenant_id = ${tenantId} and id = ${id}`
  if (!row) refuse('not_found')
  return holdOf(row)
}

/** The workspace's trail and events get the id and the scope, never the reason: only operators read that. */
const record = (ctx: Ctx, { id, scope }: Hold, event: 'lifecycle.hold.placed' | 'lifecycle.hold.released') =>
  ctx.record(event, { id, scope }, { scope })
