/**
 * Resealing: every stored value is wrapped under the current key, slice by slice.
 *
 * A scope (a workspace, or the installation) is walked in the order of its primary key. One
 * transaction locks the scope's row, so that nobody else walks it, re-wraps one slice and
 * moves the mark; killed anywhere, it has done all of that or nothing.
 *
 *    queued ──first slice──▶ under way ──slice is the last──▶ finished ──:reseal──▶ queued
 *                              │   ▲
 *                              └───┘ another key is current now: the walk begins again
 *
 * Always true:
 *  - the current key is read in each slice's transaction (keyring_key.promoted_at), never
 *    from this worker's file, so that a host that is behind never re-wraps backwards;
 *  - a value is replaced only while it still is what was read (key and wrap compared in the
 *    same statement): one that was stored anew meanwhile stays as it was stored;
 *  - what does not open is counted, left as it is, and holds nothing up;
 *  - no plaintext is seen: only the data key is unwrapped.
 *
 * Not guaranteed: that a value is under the current key which a daemon sealed behind the
 * mark under an older one, because it had not read its ring file again. It is counted, and
 * the next `:reseal` takes it.
 *
 * Spec: Admin: encryption keyring; T-20, F-17; docs/decisions/0061.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import type { Ctx } from '../../context.ts'
import { failpoint } from '../../failpoint.ts'
import type { Installation } from '../../installation.ts'
import { Problem } from '../../problem.ts'
import type { SealedKind } from '../../sealed-kinds.ts'
import { installationScope, rewrap } from '../../sealing.ts'
import { findActiveKey } from './keyring-use.ts'

const system = { kind: 'SYSTEM', job: 'reseal' } as const

/** Values of one transaction. Larger ones are no faster, and hold the others up for longer. */
const sliceSize = 500
/** Values between two pauses for whoever else this process serves: about a millisecond. */
const atOnce = 50

interface Walk {
  readonly tenant_id: string
  readonly target_key_id: string | null
  readonly at_kind: string
  readonly at_owner_id: string
  readonly failed: number
}

/** Works slices off until none is left, or the moment has come. Answers whether none is left. Throws where this ring lacks the current key. */
export async function resealUntil(installation: Installation, deadlineMs: number): Promise<boolean> {
  while (performance.now() < deadlineMs) if (!(await resealSlice(installation))) return true
  return false
}

/** One slice of a scope that nobody else has in hand; answers false when there is none. */
export function resealSlice(installation: Installation): Promise<boolean> {
  return installation.transaction(system, {}, async (ctx) => {
    const [[found], target] = await Promise.all([
      ctx.tx<Walk[]>`
        select tenant_id, target_key_id, at_kind, at_owner_id, failed from reseal
        where finished_at is null order by asked_at, tenant_id limit 1 for update skip locked`,
      currentKey(ctx),
    ])
    if (!found) return false
    const walk = found.target_key_id === target ? found : { ...found, ...beginning }
    const slice = await ctx.inWorkspace(walk.tenant_id, () => rewrapSlice(ctx, walk, target))
    failpoint('reseal.rewrapped')
    await ctx.tx`
      update reseal set
        target_key_id = ${target}, at_kind = ${slice.at_kind}, at_owner_id = ${slice.at_owner_id},
        failed = ${walk.failed + slice.failed}, started_at = coalesce(started_at, now()),
        finished_at = case when ${slice.isLast} then now() end
      where tenant_id = ${walk.tenant_id}`
    failpoint('reseal.recorded')
    return true
  })
}

const beginning = { at_kind: '', at_owner_id: installationScope, failed: 0 }

async function currentKey({ tx, ring }: Ctx): Promise<string> {
  const key = (await findActiveKey(tx)) ?? ring.current
  if (!ring.has(key)) throw new Error(`the ring of this process lacks the current key "${key}"`)
  return key
}

interface ValueRow {
  readonly kind: SealedKind
  readonly owner_id: string
  readonly key_id: string
  /** Null where the value is under the key already. */
  readonly wrap: Buffer | null
}

interface Rewrapped extends ValueRow {
  readonly wrap: Buffer
  readonly next: Buffer
}

async function rewrapSlice(ctx: Ctx, walk: Walk, target: string) {
  const { tenant_id: tenantId } = walk
  const rows = await ctx.tx<ValueRow[]>`
    select kind, owner_id, key_id, case when key_id <> ${target} then wrap end as wrap from sealed_value
    where tenant_id = ${tenantId} and (kind, owner_id) > (${walk.at_kind}, ${walk.at_owner_id})
    order by kind, owner_id limit ${sliceSize}`
  failpoint('reseal.read')
  const stale = rows.filter((row): row is ValueRow & { wrap: Buffer } => row.wrap !== null)
  const rewrapped: Rewrapped[] = []
  for (const [at, row] of stale.entries()) {
    if (at % atOnce === atOnce - 1) await breathe()
    const next = rewrapOne(ctx, tenantId, row, target)
    if (next) rewrapped.push({ ...row, next })
  }
  if (rewrapped.length > 0) await replace(ctx, tenantId, rewrapped, target)
  const last = rows.at(-1)
  return {
    at_kind: last?.kind ?? walk.at_kind,
    at_owner_id: last?.owner_id ?? walk.at_owner_id,
    failed: stale.length - rewrapped.length,
    isLast: rows.length < sliceSize,
  }
}

/** The wrap under the new key; undefined for a value that does not open. */
function rewrapOne({ ring }: Ctx, tenantId: string, row: ValueRow & { wrap: Buffer }, target: string) {
  try {
    return rewrap(ring, { tenantId, kind: row.kind, ownerId: row.owner_id }, row, target)
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

/** Compare and set: a row that no longer has the wrap that was read is somebody's newer value. */
async function replace({ tx }: Ctx, tenantId: string, rows: readonly Rewrapped[], target: string): Promise<void> {
  await tx`
    update sealed_value s set key_id = ${target}, wrap = v.next
    from unnest(${texts(rows.map(({ kind }) => kind))}::text[], ${texts(rows.map(({ owner_id }) => owner_id))}::uuid[],
                ${texts(rows.map(({ key_id }) => key_id))}::text[], ${bytes(rows.map(({ wrap }) => wrap))}::bytea[],
                ${bytes(rows.map(({ next }) => next))}::bytea[]) as v (kind, owner_id, key_id, wrap, next)
    where s.tenant_id = ${tenantId} and s.kind = v.kind and s.owner_id = v.owner_id
      and s.key_id = v.key_id and s.wrap = v.wrap`
}

/** PostgreSQL's array text. Five of them are one plan, where lists of rows are one for each length. */
const texts = (list: readonly string[]) => `{${list.map((text) => `"${text.replace(/["\\]/g, '\\$&')}"`).join(',')}}`
const bytes = (list: readonly Buffer[]) => `{${list.map((one) => `"\\\\x${one.toString('hex')}"`).join(',')}}`
