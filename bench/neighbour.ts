/**
 * A workspace beside what is measured: its requests at a steady pace, so that a slow answer does not mean fewer of them.
 * They are sent and timed by a thread of their own. In the thread of the work, they would wait until it pauses, which no
 * client of the daemon does.
 */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Boards } from './board-filler.ts'
import type { Ground } from './ground.ts'

export interface Neighbour {
  /** Sends requests until then; answers how long each took, in ms. */
  askUntil(over: Promise<unknown>): Promise<number[]>
  end(): Promise<unknown>
}

export type NeighbourOrder = Pick<Ground, 'collectionId' | 'token'> & {
  readonly address: string
  readonly boards: Boards | undefined
}

/**
 * Lists the buckets of its collection, or sends the mix of load-mix.ts where there are `boards`. It has done so for some
 * seconds, because the first requests of a daemon are slower.
 */
export async function startNeighbour(
  address: string,
  { collectionId, token }: Pick<Ground, 'collectionId' | 'token'>,
  boards?: Boards,
): Promise<Neighbour> {
  const workerData: NeighbourOrder = { address, collectionId, token, boards }
  const worker = new Worker(new URL('./neighbour-thread.ts', import.meta.url), { workerData })
  await once(worker, 'message')
  const neighbour: Neighbour = {
    async askUntil(over) {
      worker.postMessage('begin')
      await over.finally(() => worker.postMessage('end'))
      const [took] = (await once(worker, 'message')) as [number[]]
      return took
    },
    end: () => worker.terminate(),
  }
  await neighbour.askUntil(pause(3_000))
  return neighbour
}

export function p99(figures: readonly number[]): number {
  const sorted = [...figures].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0
}
