/**
 * A workspace beside the one that is worked on: its reads at a steady pace, so that a slow answer does not mean fewer of them.
 * They are sent and timed by a thread of their own. In the thread of the work, they would wait until it pauses, which no
 * client of the daemon does.
 */
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Ground } from './ground.ts'

export interface Neighbour {
  /** Reads until then; answers how long each read took, in ms. */
  readUntil(over: Promise<unknown>): Promise<number[]>
  end(): Promise<unknown>
}

/** Lists the buckets of its collection; has read for some seconds, because the first requests of a daemon are slower. */
export async function startNeighbour(address: string, { collectionId, token }: Ground): Promise<Neighbour> {
  const worker = new Worker(new URL('./neighbour-reader.ts', import.meta.url), {
    workerData: { address: `${address}/api/v1/containers/${collectionId}/buckets`, token },
  })
  await once(worker, 'online')
  const neighbour: Neighbour = {
    async readUntil(over) {
      worker.postMessage('begin')
      await over.finally(() => worker.postMessage('end'))
      const [took] = (await once(worker, 'message')) as [number[]]
      return took
    },
    end: () => worker.terminate(),
  }
  await neighbour.readUntil(pause(3_000))
  return neighbour
}

export function p99(figures: readonly number[]): number {
  const sorted = [...figures].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0
}
