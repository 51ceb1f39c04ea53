/** The thread of a neighbour (neighbour.ts): reads from one message to the next, and answers how long each read took, in ms. */
import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'

/** Between two reads: about 100 a second. */
const beatMs = 10

const { address, token } = workerData as { address: string; token: string }

async function timedRead(): Promise<number> {
  const began = performance.now()
  const answer = await fetch(address, { headers: { authorization: `Bearer ${token}` } })
  await answer.arrayBuffer()
  if (answer.status !== 200) throw new Error(`a read was answered with ${answer.status}`)
  return performance.now() - began
}

for (;;) {
  await once(parentPort!, 'message')
  const took: Promise<number>[] = []
  // At each beat, even if the read before it was not answered yet.
  const beat = setInterval(() => took.push(timedRead()), beatMs)
  await once(parentPort!, 'message')
  clearInterval(beat)
  parentPort!.postMessage(await Promise.all(took))
}
