/**
 * A server that speaks clamd's INSTREAM and PING on a real socket, and finds the EICAR text. It keeps to what clamd does: it
 * refuses a stream that is longer than its limit before the end, and answers nothing to a stream that is not ended.
 */
import { createServer, type Socket } from 'node:net'

/** In two pieces, so that no scanner takes this file for what it describes. */
export const eicar = ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR', '-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join('')

export interface TestClamd {
  readonly port: number
  /** How many streams it has checked to their end. */
  scanned: number
  /** The longest stream that it takes, in bytes. */
  limit: number
  stop(): Promise<void>
}

export async function startClamd(): Promise<TestClamd> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    let received = Buffer.alloc(0)
    let isOver = false
    socket.on('data', (bytes) => {
      if (isOver) return
      received = Buffer.concat([received, bytes])
      const answer = answerTo(received, clamd)
      isOver = answer !== undefined
      if (isOver) socket.end(`${answer}\0`)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const clamd: TestClamd = {
    port: (server.address() as { port: number }).port,
    scanned: 0,
    limit: 30_000_000,
    async stop() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return clamd
}

/** What clamd says to all that came so far; undefined: it waits. */
function answerTo(received: Buffer, clamd: TestClamd): string | undefined {
  const end = received.indexOf(0)
  if (end < 0) return undefined
  const command = received.subarray(0, end).toString()
  if (command === 'zPING') return 'PONG'
  if (command !== 'zINSTREAM') return 'UNKNOWN COMMAND'
  const pieces: Buffer[] = []
  let length = 0
  for (let at = end + 1; at + 4 <= received.byteLength; ) {
    const size = received.readUInt32BE(at)
    if (size === 0) {
      clamd.scanned += 1
      return Buffer.concat(pieces).includes(eicar) ? 'stream: Eicar-Test-Signature FOUND' : 'stream: OK'
    }
    pieces.push(received.subarray(at + 4, at + 4 + size))
    length += size
    if (length > clamd.limit) return 'INSTREAM size limit exceeded. ERROR'
    at += 4 + size
  }
  return undefined
}
