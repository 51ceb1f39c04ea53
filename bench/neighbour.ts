/** A workspace beside the one that is worked on: its reads at a steady pace, so that a slow answer does not mean fewer of them. */
import type { Ground } from './ground.ts'

/** Between two reads: about 100 a second. */
const beatMs = 10

export async function readBuckets(address: string, { collectionId, token }: Ground): Promise<void> {
  const answer = await fetch(`${address}/api/v1/containers/${collectionId}/buckets`, {
    headers: { authorization: `Bearer ${token}` },
  })
  await answer.arrayBuffer()
  if (answer.status !== 200) throw new Error(`a read was answered with ${answer.status}`)
}

/** Reads at each beat, even if the read before it was not answered yet; answers how long each took, in ms. */
export async function readUntil(over: Promise<unknown>, read: () => Promise<void>): Promise<number[]> {
  const took: Promise<number>[] = []
  const timed = async () => {
    const began = performance.now()
    await read()
    return performance.now() - began
  }
  const beat = setInterval(() => took.push(timed()), beatMs)
  await over.finally(() => clearInterval(beat))
  return Promise.all(took)
}

export function p99(figures: readonly number[]): number {
  const sorted = [...figures].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0
}
