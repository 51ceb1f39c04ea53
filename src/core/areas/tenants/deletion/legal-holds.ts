/**
 * Legal holds after a recovery: holds that were in force before the rewind are in force again.
 *
 * A record is placed with its own id, scope, reason, placer and moment, and in force. This also
 * applies to a hold that was released in the rewound period, because the ground of the release is
 * not known any more. A hold that the workspace already has, in force or released, stays as it is,
 * so a second run changes nothing. A target that the recovery removed is reported, and its hold is
 * still placed. All or nothing: if two records contradict each other, none is placed.
 *
 * Spec: Admin: workspaces, rule 3; decisions 4.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { LegalHoldRecord, tenantOperations as ops } from '../../../contract/tenants/operations.ts'
import { closeWorkspace } from '../../../kernel/transaction/admission.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { lockTenant } from '../../../kernel/transaction/workspace-row.ts'
import type { Actor } from '../../../kernel/values/actor.ts'
import { isPresent, placementOf, scopeIdOf } from '../../retention/hold.ts'

interface Placement extends LegalHoldRecord {
  readonly scopeId: string | null
  readonly isTargetPresent: boolean
}

/**
 * The holds of the named archive, read and verified outside a transaction. Holds that were
 * released before the recovery point are omitted, because the rewind did not remove them.
 * Refuses archive.invalid, archive.path_refused, backup.target_failed, request.invalid.
 */
export async function readArchivedHolds(
  installation: Installation,
  actor: Actor,
  { tenantId, body }: Received<typeof ops.replaceLegalHolds>,
): Promise<readonly LegalHoldRecord[]> {
  if (!body.archive) return []
  // The module is loaded only when an archive is read, which is rare.
  const { readLegalHoldsAt } = await import('../../backup/archive-holds.ts')
  const archived = await readLegalHoldsAt(installation, actor, tenantId, body.archive)
  const point = Date.parse(body.recovery_point)
  return archived.filter(({ released_at }) => released_at === null || Date.parse(released_at) > point)
}

/**
 * Places the holds that the workspace lacks.
 * Refuses not_found, request.invalid, retention.hold_differs, retention.hold_elsewhere.
 */
export async function replaceLegalHolds(
  ctx: Ctx,
  { tenantId, body }: Received<typeof ops.replaceLegalHolds>,
  archived: readonly LegalHoldRecord[],
): Promise<Answer<typeof ops.replaceLegalHolds>> {
  await closeWorkspace(ctx.tx, tenantId)
  const tenant = await lockTenant(ctx, tenantId)
  const records = mergedRecords(tenantId, [...(body.holds ?? []), ...archived])
  const present = await presentHolds(ctx, tenantId, records)
  const missing = records.filter(({ id }) => !present.has(id))

  const placed = await ctx.inWorkspace(tenantId, async () => {
    const placements = await withTargets(ctx, tenantId, missing)
    await place(ctx, tenantId, placements)
    await record(ctx, placements)
    return placements
  })
  if (placed.length > 0)
    await ctx.journal('tenant.legal_holds_replaced', tenant, {
      params: {
        recovery_point: body.recovery_point,
        placed: placed.length,
        targets_missing: placed.filter(({ isTargetPresent }) => !isTargetPresent).length,
        already_present: present.size,
        // These are in force again too; the workspace's trail does not say that they had been released.
        had_been_released: placed.flatMap(({ id, released_at }) => (released_at ? [{ id, released_at }] : [])),
      },
    })
  ctx.recordObligation(
    ...placed.map((hold) => placementOf(tenantId, { ...hold, scope: { kind: hold.scope.kind, id: hold.scopeId } })),
  )

  return {
    recovery_point: body.recovery_point,
    placed: placed.map(({ id, isTargetPresent, released_at }) => ({
      id,
      target_present: isTargetPresent,
      released_at: released_at ?? null,
    })),
    already_present: records.filter(({ id }) => present.has(id)).map(({ id }) => id),
  }
}

/** Each id once, in the given order. Refuses request.invalid, retention.hold_differs. */
function mergedRecords(tenantId: string, given: readonly LegalHoldRecord[]): LegalHoldRecord[] {
  const byId = new Map<string, LegalHoldRecord>()
  for (const [index, hold] of given.entries()) {
    scopeIdOf(tenantId, hold.scope, `/holds/${index}/scope`)
    const other = byId.get(hold.id)
    if (other && !isDeepStrictEqual(comparable(tenantId, other), comparable(tenantId, hold)))
      refuse('retention.hold_differs', { hold_id: hold.id })
    if (!other) byId.set(hold.id, hold)
  }
  return [...byId.values()]
}

/** The content of a record in one normal form: moments as numbers, an absent id as null. */
const comparable = (tenantId: string, { scope, placed_at, released_at, ...rest }: LegalHoldRecord) => ({
  ...rest,
  kind: scope.kind,
  scopeId: scopeIdOf(tenantId, scope, ''),
  placedAt: Date.parse(placed_at),
  releasedAt: released_at ? Date.parse(released_at) : null,
})

/** The ids of the holds that the workspace already has. Refuses retention.hold_elsewhere. */
async function presentHolds(ctx: Ctx, tenantId: string, records: readonly LegalHoldRecord[]): Promise<Set<string>> {
  const found = await ctx.tx<{ id: string; tenant_id: string }[]>`
    select id, tenant_id from legal_hold where id in ${ctx.tx.list(records.map(({ id }) => id))}`
  const elsewhere = found.find((hold) => hold.tenant_id !== tenantId)
  if (elsewhere) refuse('retention.hold_elsewhere', { hold_id: elsewhere.id })
  return new Set(found.map(({ id }) => id))
}

const withTargets = (ctx: Ctx, tenantId: string, records: readonly LegalHoldRecord[]): Promise<Placement[]> =>
  Promise.all(
    records.map(async (hold) => {
      const scopeId = scopeIdOf(tenantId, hold.scope, '')
      return { ...hold, scopeId, isTargetPresent: await isPresent(ctx, tenantId, hold.scope.kind, scopeId) }
    }),
  )

async function place(ctx: Ctx, tenantId: string, placements: readonly Placement[]): Promise<void> {
  if (placements.length === 0) return
  const rows = placements.map(({ id, scope, scopeId, reason, placed_by, placed_at }) => ({
    tenant_id: tenantId,
    id,
    scope_kind: scope.kind,
    scope_id: scopeId,
    reason,
    placed_by,
    placed_at,
  }))
  await ctx.tx`insert into legal_hold ${ctx.tx.rows(rows, 'tenant_id', 'id', 'scope_kind', 'scope_id', 'reason', 'placed_by', 'placed_at')}`
}

async function record(ctx: Ctx, placements: readonly Placement[]): Promise<void> {
  const seen = placements.map(({ id, scope, scopeId }) => ({ id, scope: { kind: scope.kind, id: scopeId } }))
  const entries = seen.map(({ id, scope }) =>
    ctx.audit('lifecycle.hold_replaced', { subject: { kind: 'hold', id }, params: { scope } }),
  )
  const events = seen.map((data) => ({ name: 'lifecycle.hold.replaced' as const, data }))
  await Promise.all([...entries, ctx.emit(...events)])
}
