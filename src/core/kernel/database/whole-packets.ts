/**
 * Sends in few writes what one turn of the event loop gives to the driver.
 *
 * The driver writes as soon as 1,024 bytes are waiting, and the rest at the end of the turn. A
 * change sends some kilobytes, and a write to a socket costs more than all of our code for it
 * (docs/decisions/0176). So the socket is corked at the first of these writes:
 *
 *    a long piece     the rest follows at the end of this turn: opened then, or a turn later if none came
 *    a short piece    it is the rest: opened when the code that sent it has run
 *
 * When more than 4 KiB wait and another long piece comes, what waits leaves first: PostgreSQL begins with it while we
 * write the rest.
 */
import type { Socket } from 'node:net'

/** From this length on, the driver did not wait for the end of the turn. */
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
      // The driver's own turn end was asked for earlier or later in this turn; the second turn end is behind both.
      if (piece.length >= longBytes) setImmediate(() => setImmediate(open))
    }
    if (piece.length < longBytes) process.nextTick(open)
    return Reflect.apply(write, socket, args) as boolean
  }
}
