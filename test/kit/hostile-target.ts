/** Targets that try to hold, fill or fool their callers (T-18). Each is a path of one raw server. */
import { createServer, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'

const bomb = gzipSync(Buffer.alloc(8 << 20))
const drip = (socket: Socket, piece: string | Buffer, everyMs = 50) => {
  const timer = setInterval(() => socket.write(piece), everyMs)
  socket.on('close', () => clearInterval(timer))
}
const ok = 'HTTP/1.1 200 OK\r\n'

const behaviours: Readonly<Record<string, (socket: Socket) => void>> = {
  'header-drip': (socket) => {
    socket.write(ok)
    drip(socket, 'x-a: b\r\n')
  },
  'body-drip': (socket) => {
    socket.write(`${ok}content-length: 100000\r\n\r\n`)
    drip(socket, 'x')
  },
  'informational-drip': (socket) => drip(socket, 'HTTP/1.1 102 Processing\r\n\r\n'),
  'endless-body': (socket) => {
    socket.write(`${ok}transfer-encoding: chunked\r\n\r\n`)
    drip(socket, `4000\r\n${'y'.repeat(0x4000)}\r\n`, 1)
  },
  'gzip-bomb': (socket) => {
    socket.write(`${ok}content-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`)
    socket.end(bomb)
  },
  'many-headers': (socket) => {
    socket.end(`${ok}${Array.from({ length: 300 }, (_, n) => `x-${n}: v\r\n`).join('')}content-length: 0\r\n\r\n`)
  },
  'long-header': (socket) => socket.end(`${ok}x-long: ${'z'.repeat(1 << 20)}\r\ncontent-length: 0\r\n\r\n`),
  'reset-after-headers': (socket) => {
    socket.write(`${ok}content-length: 10\r\n\r\n`)
    setImmediate(() => socket.resetAndDestroy())
  },
  garbage: (socket) => socket.end(Buffer.from([22, 3, 1, 0, 5, 1, 0, 0, 1, 255, 254, 0])),
  silent: () => {},
  'no-version': (socket) => socket.end('hello, I am HTTP/0.9'),
  'short-body': (socket) => socket.end(`${ok}content-length: 5000\r\n\r\nshort`),
  'long-body': (socket) => socket.end(`${ok}content-length: 2\r\n\r\n${'long'.repeat(50)}`),
  escapes: (socket) => socket.end(`HTTP/1.1 418 No\r\ncontent-length: 9\r\n\r\n\u001b[2J\u0000\u0007\u009b!`),
}

export const hostileKinds = Object.keys(behaviours)

export interface HostileTarget {
  url(kind: string): string
  /** Connections so far. */
  readonly hits: () => number
  readonly open: () => number
  /** The most bytes that one connection took. */
  readonly mostSent: () => number
  close(): Promise<void>
}

export async function hostileTarget(): Promise<HostileTarget> {
  let hits = 0
  let mostSent = 0
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    hits += 1
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      mostSent = Math.max(mostSent, socket.bytesWritten)
    })
    socket.once('data', (head) =>
      behaviours[/^POST \/([a-z-]+)/.exec(head.toString('latin1'))?.[1] ?? 'garbage']?.(socket),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    url: (kind) => `${kind === 'garbage' ? 'https' : 'http'}://127.0.0.1:${port}/${kind}`,
    hits: () => hits,
    open: () => sockets.size,
    mostSent: () => mostSent,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
