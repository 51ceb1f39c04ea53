/** The loopback port of the embedded server. */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

// Below the ports that systems use for outgoing connections (Linux from 32768). So a port that is kept for years is not
// taken by an outgoing connection at the next start.
const lowest = 20_000
const highest = 32_000

/** A port that no program listens on at this moment; one may a moment later. */
export async function findFreePort(): Promise<number> {
  for (let attempt = 0; attempt < 200; attempt++) {
    const port = randomInt(lowest, highest)
    if (await isPortFree(port)) return port
  }
  throw new Error(`No port between ${lowest} and ${highest} is free on 127.0.0.1`)
}

/** Whether a server could listen on 127.0.0.1 at this port. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
