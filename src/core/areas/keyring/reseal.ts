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
 *  - a value is replaced only while it still is what was read (its wrap is compared in the
 *    same statement): one that was stored anew meanwhile stays as it was stored;
 *  - what does not open is counted, left as it is, and holds nothing up;
 *  - no plaintext is seen: only the data key is unwrapped.
 *
 * Not guaranteed: that a value is under the current key which a daemon sealed behind the
 * mark under an older one, because it had not read its keyring file again. It is counted, and
 * the next `:reseal` takes it.
 *
 * Spec: Admin: encryption keyring; T-20, F-17; docs/decisions/0061.
 */
import { setImmediate as breathe, setTimeout as pause } from 'node:timers/promises'
import { Problem } from '../../contract/problem.ts'
import type { SealedKind } from '../../contract/sealed-kinds.ts'
import { installationScope } from '../../contract/vocabulary.ts'
import type { Pool } from '../../kernel/database/pool.ts'
import { type Place, rewrap } from '../../kernel/sealing/sealing.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { failpoint } from '../../kernel/values/failpoint.ts'
import { findActiveKey } from './keyring-use.ts'

const system = { kind: 'SYSTEM', job: 'reseal' } as const

/** Values of one transaction. Larger ones are no faster, and hold the others up for longer. */
const sliceSize = 500
/** Values between two breaths for whoever else this process serves: less than a millisecond. */
const atOnce = 50

interface Walk {
  readonly tenant_id: string
  readonly target_key_id: string | null
  readonly at_kind: string
  readonly at_owner_id: string
  readonly failed: number
}

/** While one slice is with the database, the other one is with us. */
const lanes = 2
/** Values of a slice while this process serves others as well: a millisecond or two. */
const politeSize = 50
/** What a small slice is followed by, in times of what it took: others find the server at work for it a quarter of the time, unless a slice takes more than a third of a second. */
const rests = 3
const longestRestMs = 1_000
/** How long the other lane waits before it looks again whether it may begin. */
const laneRestMs = 50

/**
 * Works slices off until none is left that nobody else has in hand, or the moment has come.
 * While this process serves others as well, it is one lane of small slices that rests three
 * times as long as the last one took, a second at most. Answers whether none is left. Throws
 * where this keyring lacks the current key.
 */
export async function resealUntil(installation: Installation, deadlineMs: number): Promise<boolean> {
  const others = othersOf(installation.pool)
  let atWork = lanes
  const lane = async (_: unknown, number: number) => {
    while (performance.now() < deadlineMs) {
      // One at a time, as long as there is another: the last one must not wait for itself.
      if (number > 0 && atWork === lanes && others.arePresent()) {
        await pause(laneRestMs)
        continue
      }
      const began = performance.now()
      const size = others.arePresent() ? politeSize : sliceSize
      others.discount()
      if (!(await resealSlice(installation, size))) {
        atWork -= 1
        return true
      }
      if (others.arePresent()) await pause(Math.min(rests * (performance.now() - began), longestRestMs))
    }
    return false
  }
  const ended = await Promise.all(Array.from({ length: lanes }, lane))
  return ended.every((isDone) => isDone)
}

/** So many connections lent to others in so long make them somebody: what a daemon does of itself is less, most of the time. */
const borrowedOften = 2
const countedMs = 50
/** How long they are thought of after that. */
const politeMs = 1_000

/**
 * Whether the pool lends connections to others than us, just now; each of ours is discounted
 * before it is asked for. At first they are presumed: nobody could have been seen yet.
 */
function othersOf(pool: Pool) {
  let notOthers = pool.counts.lent
  let countedFrom = performance.now()
  let presentUntil = countedFrom + countedMs
  return {
    discount() {
      notOthers += 1
    },
    arePresent() {
      const now = performance.now()
      const { lent } = pool.counts
      const areSeen = lent - notOthers >= borrowedOften
      if (areSeen) presentUntil = now + politeMs
      if (areSeen || now >= countedFrom + countedMs) {
        notOthers = lent
        countedFrom = now
      }
      return now < presentUntil
    },
  }
}

/** One slice of a scope that nobody else has in hand; answers false when there is none. */
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
  readonly before: string[]
  readonly after: string[]
}

async function rewrapSlice(ctx: Ctx, walk: Walk, target: string, size: number) {
  const { tenant_id: tenantId } = walk
  const rows = await ctx.tx<ValueRow[]>`
    select kind, owner_id, key_id, case when key_id <> ${target} then wrap end as wrap from sealed_value
    where tenant_id = ${tenantId} and (kind, owner_id) > (${walk.at_kind}, ${walk.at_owner_id})
    order by kind, owner_id limit ${size}`
  failpoint('reseal.read')
  const { kinds, failed } = await rewrapped(ctx, tenantId, rows, target)
  for (const [kind, values] of kinds) await replace(ctx, tenantId, kind, values, target)
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
    const values = kinds.get(kind) ?? { owners: [], before: [], after: [] }
    kinds.set(kind, values)
    values.owners.push(ownerId)
    values.before.push(bytea(wrap))
    values.after.push(bytea(next))
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

/** Compare and set: a row that no longer has the wrap that was read is somebody's newer value. No two wraps are alike, each has a nonce of its own. */
async function replace(
  { tx }: Ctx,
  tenantId: string,
  kind: SealedKind,
  { owners, before, after }: Rewrapped,
  target: string,
): Promise<void> {
  await tx`
    update sealed_value s set key_id = ${target}, wrap = v.next
    from unnest(${arrayOf(owners)}::uuid[], ${arrayOf(before)}::bytea[], ${arrayOf(after)}::bytea[]) as v (owner_id, wrap, next)
    where s.tenant_id = ${tenantId} and s.kind = ${kind} and s.owner_id = v.owner_id and s.wrap = v.wrap`
}

/** PostgreSQL's array text: three of them are one plan, where lists of rows are one for each length. */
const arrayOf = (list: readonly string[]) => `{${list.join(',')}}`
const bytea = (one: Buffer) => `"\\\\x${one.toString('hex')}"`
