/**
 * Sends in few writes what a rule gives to the driver at once.
 *
 * The driver writes as soon as 1,024 bytes are waiting, and the rest when all promises that can go on have gone on
 * (driver-query.ts). A change sends some kilobytes, and each write to a socket costs (docs/decisions/0176).
 * So the socket is corked at the first of these writes, and opened behind the rest.
 *
 * When more than 4 KiB wait and another long piece comes, what waits leaves first: PostgreSQL begins with it while we
 * write the rest.
 */
import type { Socket } from 'node:net'

/** From this length on, the driver did not wait. */
const longBytes = 1_024

/** More than this does not wait for the next long piece. A change of one row is shorter. */
const partBytes = 4_096

/** Over TLS the driver writes to another stream, and this changes nothing. */
export function sendWholePackets(socket: Socket): void {
  const { write } = socket
  let isCorked = false
  const open = () => {
    if (!isCorked) return
    isCorked = false
    socket.uncork()
  }
  socket.write = (...args: unknown[]) => {
    const [piece] = args as [Uint8Array]
    if (piece.length >= longBytes && socket.writableLength > partBytes) open()
    if (!isCorked) {
      isCorked = true
      socket.cork()
      // The rest was asked for before this moment or will be before the first of these; the second is behind both.
      process.nextTick(() => process.nextTick(open))
    }
    return Reflect.apply(write, socket, args) as boolean
  }
}
