/**
 * Whose password is hashed next.
 *
 *    call ──▶ a lane is free: hashed at once
 *         └─▶ waits at its place ──lowest place first──▶ hashed
 *                   └─ too many wait: the highest place is refused (503)
 *
 * A hash takes a core for 30 ms, so only a few are made at a time and the others wait. A call's
 * place is the number of hashes begun before it came, plus eight for each call of the same source
 * ahead of it, plus one for each call of the same workspace ahead of it. So the only call of one
 * source goes before the second call of a source that sends thirty. A workspace with few sign-ins
 * goes before one that many sources flood. Every call gets its turn, because the number of hashes
 * begun keeps growing.
 *
 * Signed-in callers have a lane of their own, in which the source is the account. Spec: decisions
 * 7, Overload.
 */
import { availableParallelism } from 'node:os'
import { Problem } from '../../../contract/problem.ts'
import { type Actor, isAccount } from '../../../kernel/values/actor.ts'

/** On whose behalf a password is hashed. */
export interface Hasher {
  readonly isSignedIn: boolean
  /** The address that the call came from, or the account. */
  readonly source: string
  /** Its id; if there is no such workspace, the name that the caller gave. */
  readonly workspace: string
}

export const hasherFor = (actor: Actor, workspace: string): Hasher => ({
  isSignedIn: actor.kind !== 'ANYONE',
  source: actor.kind === 'ANYONE' ? actor.source : isAccount(actor) ? actor.accountId : actor.kind,
  workspace,
})

export interface Lane {
  /** Runs the work when it is the hasher's turn. Refuses service.unavailable where too many wait. */
  run<T>(hasher: Hasher, work: () => Promise<T>): Promise<T>
}

export interface LaneBounds {
  /** How many hashes are made at a time. */
  readonly width: number
  readonly mostWaiting: number
  /** Of one source, waiting or being hashed. */
  readonly mostOfOne: number
}

interface Entry {
  readonly hasher: Hasher
  readonly place: number
  begin(): void
  refuse(): void
}

const perSource = 8

export function openLane({ width, mostWaiting, mostOfOne }: LaneBounds): Lane {
  const working = new Set<Entry>()
  /** In order of arrival. */
  const waiting = new Set<Entry>()
  let begun = 0

  const count = (is: (hasher: Hasher) => boolean) => [...working, ...waiting].filter(({ hasher }) => is(hasher)).length

  const start = (entry: Entry) => {
    waiting.delete(entry)
    working.add(entry)
    begun += 1
    entry.begin()
  }

  /** Lets the entry wait. If the queue is full, the entry with the highest place is refused. */
  const admit = (entry: Entry) => {
    const last = waiting.size < mostWaiting ? undefined : extreme(waiting, (place, other) => place >= other)
    if (last && last.place <= entry.place) return entry.refuse()
    if (last) {
      waiting.delete(last)
      last.refuse()
    }
    waiting.add(entry)
  }

  const enter = ({ source, workspace, ...rest }: Hasher) =>
    new Promise<Entry>((resolve, reject) => {
      const ofSource = count((other) => other.source === source)
      const ofWorkspace = count((other) => other.workspace === workspace)
      const entry: Entry = {
        hasher: { source, workspace, ...rest },
        place: begun + perSource * ofSource + ofWorkspace,
        begin: () => resolve(entry),
        refuse: () => reject(new Problem('service.unavailable', {}, { headers: { 'retry-after': '1' } })),
      }
      if (ofSource >= mostOfOne) entry.refuse()
      else if (working.size < width) start(entry)
      else admit(entry)
    })

  return {
    async run(hasher, work) {
      const entry = await enter(hasher)
      try {
        return await work()
      } finally {
        working.delete(entry)
        const next = extreme(waiting, (place, other) => place < other)
        if (next) start(next)
      }
    },
  }
}

/** The entry whose place is before that of every other, in the sense of `isBefore`. */
function extreme(entries: Iterable<Entry>, isBefore: (place: number, other: number) => boolean): Entry | undefined {
  let found: Entry | undefined
  for (const entry of entries) if (!found || isBefore(entry.place, found.place)) found = entry
  return found
}

/**
 * One core is left for everything else. Of the four threads on which the runtime hashes, reads
 * files and resolves names, at least one stays free.
 */
const forAnybody = openLane({
  width: Math.min(2, Math.max(1, availableParallelism() - 1)),
  mostWaiting: 128,
  mostOfOne: 32,
})
const forSignedIn = openLane({ width: 1, mostWaiting: 128, mostOfOne: 32 })

/** The lane that hashes for the caller. */
export const laneOf = ({ isSignedIn }: Hasher): Lane => (isSignedIn ? forSignedIn : forAnybody)
