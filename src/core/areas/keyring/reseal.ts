/**
 * Resealing: every stored value is wrapped under the current key, slice by slice.
 *
 * A scope (a workspace, or the installation) is walked in the order of its primary key. One
 * transaction locks the scope's row, so that no other worker walks it, re-wraps one slice and moves
 * the mark. A worker that is killed has done all of that or nothing.
 *
 *    queued ──first slice──▶ under way ──slice is the last──▶ finished ──:reseal──▶ queued
 *                              │   ▲
 *                              └───┘ another key is current now: the walk begins again
 *
 * Always true:
 *  - the current key is read in each slice's transaction (keyring_key.promoted_at), never
 *    from this worker's file, so that a host with an old file never re-wraps backwards;
 *  - a value is replaced only if it still is what was read (the nonce of its wrap is compared in
 *    the same statement): a value that was stored again meanwhile stays as it is;
 *  - a value that does not open is counted, left as it is, and stops nothing;
 *  - no plaintext is seen: only the data key is unwrapped.
 *
 * Not guaranteed: that every value is under the current key. A daemon that has not read its keyring
 * file again may seal a value under an older key behind the mark. The value is counted, and the
 * next `:reseal` re-wraps it.
 *
 * Spec: Admin: encryption keyring; T-20, F-17; docs/decisions/0061.
 */
import { setImmediate as breathe, setTimeout as pause } from 'node:timers/promises'
import { Problem } from '../../contract/problem.ts'
import type { SealedKind } from '../../contract/sealed-kinds.ts'
import { installationScope } from '../../contract/vocabulary.ts'
import { nonceBytes, nonceOf, type Place, rewrap, wrapBytes } from '../../kernel/sealing/sealing.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { failpoint } from '../../kernel/values/failpoint.ts'
import { findActiveKey } from './keyring-use.ts'
import { othersOf } from './others.ts'

const system = { kind: 'SYSTEM', job: 'reseal' } as const

/** Values of one transaction, while nobody else is there. Larger transactions are not faster. */
const sliceSize = 1_000
/** Values between two pauses in which this process can serve others: less than a millisecond of work. */
const atOnce = 50

interface Walk {
  readonly tenant_id: string
  readonly target_key_id: string | null
  readonly at_kind: string
  readonly at_owner_id: string
  readonly failed: number
}

/** While the database works on one slice and writes another one to the disk, this process works on the third. */
const lanes = 3
/** Values of a slice while this process serves others as well: a millisecond or two. */
const politeSize = 50
/**
 * The pause after a small slice, as a multiple of the slice's time: so the server works for it a quarter of the time,
 * unless a slice takes more than a third of a second.
 */
const rests = 3
const longestRestMs = 1_000
/** How long another lane waits before it looks again whether it may begin. */
const laneRestMs = 50

/**
 * Processes slices until none is left that another worker does not hold, or until the deadline.
 * While this process serves others as well, one lane processes small slices, and pauses after each
 * for three times its duration, a second at most. Answers whether none is left. Throws if this
 * keyring lacks the current key.
 */
export async function resealUntil(installation: Installation, deadlineMs: number): Promise<boolean> {
  const others = othersOf(installation.pool)
  const atWork = new Set(Array.from({ length: lanes }, (_, number) => number))
  const lane = async (_: unknown, number: number) => {
    while (performance.now() < deadlineMs) {
      // Only one lane works: the first of those that did not end. The last one must not wait for itself.
      if (number > Math.min(...atWork) && others.arePresent()) {
        await pause(laneRestMs)
        continue
      }
      const began = performance.now()
      const size = others.arePresent() ? politeSize : sliceSize
      others.discount()
      if (!(await resealSlice(installation, size))) {
        atWork.delete(number)
        return true
      }
      if (others.arePresent()) await pause(Math.min(rests * (performance.now() - began), longestRestMs))
    }
    return false
  }
  const ended = await Promise.all(Array.from({ length: lanes }, lane))
  return ended.every((isDone) => isDone)
}

/** Re-wraps one slice of a scope that no other worker holds; answers false when there is none. */
export function resealSlice(installation: Installation, size = sliceSize): Promise<boolean> {
  return installation.transaction(system, {}, async (ctx) => {
    const [[found], target] = await Promise.all([
      ctx.tx<Walk[]>`
        select tenant_id, target_key_id, at_kind, at_owner_id, failed from reseal
        where finished_at is null order by asked_at, tenant_id limit 1 for update skip locked`,
      currentKey(ctx),
    ])
    if (!found) return false
    const walk = found.target_key_id === target ? found : { ...found, ...beginning }
    const slice = await ctx.inWorkspace(walk.tenant_id, () => rewrapSlice(ctx, walk, target, size))
    failpoint('reseal.rewrapped')
    void ctx.tx`
      update reseal set
        target_key_id = ${target}, at_kind = ${slice.at_kind}, at_owner_id = ${slice.at_owner_id},
        failed = ${walk.failed + slice.failed}, started_at = least(started_at, now()),
        finished_at = case when ${slice.isLast} then now() end
      where tenant_id = ${walk.tenant_id}`
    failpoint('reseal.recorded')
    return true
  })
}

const beginning = { at_kind: '', at_owner_id: installationScope, failed: 0 }

async function currentKey({ tx, keyring }: Ctx): Promise<string> {
  const key = (await findActiveKey(tx)) ?? keyring.current
  if (!keyring.has(key)) throw new Error(`the keyring of this process lacks the current key "${key}"`)
  return key
}

interface ValueRow {
  readonly kind: SealedKind
  readonly owner_id: string
  readonly key_id: string
  /** Null where the value is under the key already. */
  readonly wrap: Buffer | null
}

/** Of one kind. */
interface Rewrapped {
  readonly owners: string[]
  /** Of the wraps that were read. */
  readonly nonces: Buffer[]
  /** Those under the new key, all of one length. */
  readonly wraps: Buffer[]
}

async function rewrapSlice(ctx: Ctx, walk: Walk, target: string, size: number) {
  const { tenant_id: tenantId } = walk
  const rows = await ctx.tx<ValueRow[]>`
    select kind, owner_id, key_id, case when key_id <> ${target} then wrap end as wrap from sealed_value
    where tenant_id = ${tenantId} and (kind, owner_id) > (${walk.at_kind}, ${walk.at_owner_id})
    order by kind, owner_id limit ${size}`
  failpoint('reseal.read')
  const { kinds, failed } = await rewrapped(ctx, tenantId, rows, target)
  for (const [kind, values] of kinds) replace(ctx, tenantId, kind, values, target)
  const last = rows.at(-1)
  return {
    at_kind: last?.kind ?? walk.at_kind,
    at_owner_id: last?.owner_id ?? walk.at_owner_id,
    failed,
    isLast: rows.length < size,
  }
}

/** The new wraps by kind, and how many values do not open. */
async function rewrapped(ctx: Ctx, tenantId: string, rows: readonly ValueRow[], target: string) {
  const kinds = new Map<SealedKind, Rewrapped>()
  let failed = 0
  let sinceBreath = 0
  for (const { kind, owner_id: ownerId, key_id, wrap } of rows) {
    if (!wrap) continue
    if (sinceBreath === atOnce) await breathe()
    sinceBreath = sinceBreath === atOnce ? 0 : sinceBreath + 1
    const next = rewrapOne(ctx, { tenantId, kind, ownerId }, { key_id, wrap }, target)
    if (!next) {
      failed += 1
      continue
    }
    const values = kinds.get(kind) ?? { owners: [], nonces: [], wraps: [] }
    kinds.set(kind, values)
    values.owners.push(ownerId)
    values.nonces.push(nonceOf(wrap))
    values.wraps.push(next)
  }
  return { kinds, failed }
}

/** The wrap under the new key; undefined for a value that does not open. */
function rewrapOne({ keyring }: Ctx, place: Place, sealed: { key_id: string; wrap: Buffer }, target: string) {
  try {
    return rewrap(keyring, place, sealed, target)
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

/**
 * Compare and set: a row whose wrap has another nonce holds a newer value, because each wrap has its own. The bytes go as
 * one value each, whose parts have one length: PostgreSQL would parse an array of them at twice the cost. The statement
 * leaves with the commit.
 */
function replace(
  { tx }: Ctx,
  tenantId: string,
  kind: SealedKind,
  { owners, nonces, wraps }: Rewrapped,
  target: string,
): void {
  void tx`
    update sealed_value s set key_id = ${target}, wrap = substring(${Buffer.concat(wraps)} from ((v.n - 1) * ${wrapBytes} + 1)::int for ${wrapBytes})
    from unnest(${arrayOf(owners)}::uuid[]) with ordinality as v (owner_id, n)
    where s.tenant_id = ${tenantId} and s.kind = ${kind} and s.owner_id = v.owner_id
      and substring(s.wrap from 2 for ${nonceBytes}) = substring(${Buffer.concat(nonces)} from ((v.n - 1) * ${nonceBytes} + 1)::int for ${nonceBytes})`
}

/** PostgreSQL's array text. */
const arrayOf = (list: readonly string[]) => `{${list.join(',')}}`
