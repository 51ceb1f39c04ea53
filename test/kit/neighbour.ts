/**
 * The effect of a flood on a neighbour: the same calls, one after another, alone and beside the
 * flood.
 *
 * The daemon and the flood run in their own processes; the neighbour's calls are timed here. The
 * calls alone are measured first, on the same daemon, so that both have the same caches.
 */
import { expect } from 'vitest'

export interface Felt {
  readonly p50: number
  readonly p99: number
  readonly calls: number
  /** Statuses other than the wanted one, and connections that failed, with their counts. */
  readonly refused: Readonly<Record<string, number>>
}

export interface Flood {
  /** Ends the flood; answers what it did, for the campaign's line. */
  end(): Promise<string>
}

export interface Neighbour {
  /** One call; answers its status. */
  readonly call: () => Promise<number>
  readonly wanted: number
  /** Calls that are timed, alone and beside; a 99th percentile needs at least 200. */
  readonly calls: number
  /** Rest between two calls, in ms (0). */
  readonly restMs?: number
}

/** Times the neighbour alone, then beside the flood, and prints both. */
export async function besideFlood(
  name: string,
  neighbour: Neighbour,
  begin: () => Promise<Flood>,
): Promise<{ readonly alone: Felt; readonly beside: Felt }> {
  await felt({ ...neighbour, calls: Math.ceil(neighbour.calls / 4) }) // warms up
  const alone = await felt(neighbour)
  const flood = await begin()
  const beside = await felt(neighbour).finally(async () => {
    const did = await flood.end()
    process.stdout.write(`${name}: the flood ${did}\n`)
  })
  const times = (beside.p50 / alone.p50).toFixed(1)
  process.stdout.write(`${name}: ${told(alone)} alone, ${told(beside)} beside: p50 ${times} times\n`)
  return { alone, beside }
}

/**
 * Expects that no call of the neighbour is refused, and that its median is at most three times that of the calls alone
 * (or `floorMs`).
 */
export function expectSpared({ alone, beside }: { alone: Felt; beside: Felt }, floorMs = 0): void {
  expect(beside.refused).toEqual({})
  expect(beside.p50).toBeLessThanOrEqual(Math.max(3 * alone.p50, floorMs))
}

async function felt({ call, wanted, calls, restMs = 0 }: Neighbour): Promise<Felt> {
  const times: number[] = []
  const refused: Record<string, number> = {}
  for (let n = 0; n < calls; n += 1) {
    const begun = performance.now()
    const status = await call().catch((error: NodeJS.ErrnoException) => error.code ?? error.message)
    times.push(performance.now() - begun)
    if (status !== wanted) refused[status] = (refused[status] ?? 0) + 1
    if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs))
  }
  times.sort((a, b) => a - b)
  return { p50: at(times, 0.5), p99: at(times, 0.99), calls, refused }
}

const at = (sorted: readonly number[], share: number) => sorted[Math.floor(sorted.length * share)] ?? 0

const told = ({ p50, p99, refused }: Felt) => {
  const not = Object.entries(refused).map(([status, count]) => `, ${count} × ${status}`)
  return `p50 ${p50.toFixed(1)}, p99 ${p99.toFixed(1)} ms${not.join('')}`
}
