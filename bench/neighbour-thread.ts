/**
 * The thread of a neighbour (neighbour.ts). It says when it is ready; then it sends requests from one message to the next, and
 * answers how long each took, in ms.
 */
import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { openMix } from './load-mix.ts'
import type { NeighbourOrder } from './neighbour.ts'
import { goFirst } from './priority.ts'

/** Between two requests: about 100 a second. */
const beatMs = 10
/** More than are under way at this pace. */
const connections = 16

const order = workerData as NeighbourOrder

/** What sends a request, and answers its status. */
async function sender({ address, collectionId, token, boards }: NeighbourOrder): Promise<() => Promise<number>> {
  if (boards === undefined)
    return async () => {
      const buckets = `${address}/api/v1/containers/${collectionId}/buckets`
      const answer = await fetch(buckets, { headers: { authorization: `Bearer ${token}` } })
      await answer.arrayBuffer()
      return answer.status
    }
  const mix = openMix(address, { token }, boards, connections)
  await mix.learn()
  return mix.sendNext
}

const send = await sender(order)

async function timedRequest(): Promise<number> {
  const began = performance.now()
  const status = await send()
  if (status >= 400) throw new Error(`a request was answered with ${status}`)
  return performance.now() - began
}

goFirst()
parentPort!.postMessage('ready')
for (;;) {
  await once(parentPort!, 'message')
  const took: Promise<number>[] = []
  // At each beat, even if the request before it was not answered yet.
  const beat = setInterval(() => took.push(timedRequest()), beatMs)
  await once(parentPort!, 'message')
  clearInterval(beat)
  parentPort!.postMessage(await Promise.all(took))
}
