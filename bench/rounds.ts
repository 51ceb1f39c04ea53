/**
 * Compares two ways of doing the same work: in turns, so that other load of the machine slows both
 * alike. A single figure means nothing; the ratio does.
 */

/** Runs one round and answers its figure: seconds, or operations a second. */
export type Round = () => Promise<number>

export interface Compared {
  readonly ours: number
  readonly bare: number
}

/** A B A B …, after one round of each that does not count. The medians of `rounds` rounds. */
export async function compare(ours: Round, bare: Round, rounds: number): Promise<Compared> {
  const [first, second] = await medians([ours, bare], rounds)
  return { ours: first!, bare: second! }
}

/** The same for any number of them: A B C A B C … */
export async function medians(all: readonly Round[], rounds: number): Promise<number[]> {
  const figures: number[][] = all.map(() => [])
  for (const warmUp of all) await warmUp()
  for (let round = 0; round < rounds; round += 1) for (const [at, one] of all.entries()) figures[at]!.push(await one())
  return figures.map(median)
}

export function median(figures: readonly number[]): number {
  const sorted = [...figures].sort((a, b) => a - b)
  const middle = sorted[Math.floor(sorted.length / 2)]
  if (middle === undefined) throw new Error('the median of nothing')
  return middle
}

/** Operations a second of `total` operations, `width` of them under way at any time. */
export async function throughput(total: number, width: number, operation: (index: number) => Promise<unknown>) {
  let next = 0
  const lane = async () => {
    while (next < total) {
      const index = next
      next += 1
      await operation(index)
    }
  }
  const started = performance.now()
  await Promise.all(Array.from({ length: width }, lane))
  return total / ((performance.now() - started) / 1000)
}

export const elapsedMs = async (work: () => Promise<unknown>): Promise<number> => {
  const started = performance.now()
  await work()
  return performance.now() - started
}
