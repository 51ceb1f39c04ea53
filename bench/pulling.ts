/**
 * Pulling: the cost of a page where a type has ten million events, against ten thousand; at the
 * beginning, in the middle, and where nothing new is. Both installations exist at the same time.
 *
 * SVC_BENCH_EVENTS sets a smaller number for the large one, to try the benchmark.
 */

import { performForAnswer } from '../src/core/app/perform.ts'
import { triggerOperations } from '../src/core/contract/events/operations.ts'
import { writeCursor } from '../src/core/kernel/transaction/cursor.ts'
import { lengthenOutbox, middleOfOutbox } from './filler.ts'
import { type Ground, layGround } from './ground.ts'
import { compare, elapsedMs } from './rounds.ts'
import { type Line, ratioLine } from './table.ts'

const few = 10_000
const many = Number(process.env['SVC_BENCH_EVENTS'] ?? 10_000_000)
const eventType = 'svc.work.label.created.v1'
const rounds = 9
const pages = 100

export async function pulling(): Promise<Line[]> {
  const small = await layGround()
  const large = await layGround()
  try {
    for (const [{ superuser, tenantId }, count] of [
      [small, few],
      [large, many],
    ] as const)
      await lengthenOutbox(superuser, { tenantId, type: eventType, count })
    const places = { small: await placesIn(small), large: await placesIn(large) }
    const lines: Line[] = []
    for (const [at, where] of ['the first page', 'a page from the middle', 'a poll that finds nothing'].entries()) {
      const { ours, bare } = await compare(hundred(large, places.large[at]), hundred(small, places.small[at]), rounds)
      const what = `pull: ${where} of ${many} events, against ${few} (100 pages of 100)`
      lines.push(ratioLine(what, { ours, bare, unit: 'ms' }, 'at most', 1.5))
    }
    return lines
  } finally {
    await large.remove()
    await small.remove()
  }
}

const pull = ({ installation, actor }: Ground, since: string | undefined, limit = 100) =>
  performForAnswer(installation, triggerOperations.pullEvents, actor, {
    eventType,
    limit,
    ...(since === undefined ? {} : { since }),
  })

const hundred = (ground: Ground, since: string | undefined) => () =>
  elapsedMs(async () => {
    for (let read = 0; read < pages; read += 1) await pull(ground, since)
  })

/** Cursors for the beginning, for the middle, and behind the end. */
async function placesIn(ground: Ground): Promise<(string | undefined)[]> {
  const { installation, tenantId } = ground
  const bound = { operation: 'pullEvents', scope: tenantId, filters: { eventType } }
  const middle = await middleOfOutbox(ground.superuser, eventType)
  const since = writeCursor(installation.keyring, bound, installation.identity.epoch, [
    ...middle,
    new Date().toISOString(),
  ])
  return [undefined, since, (await pull(ground, 'now')).next_since]
}
