/**
 * Rows of a `copy … to stdout`, taken before the driver sees them.
 *
 * The driver makes three views of each row and pushes it into a stream, which costs as much as all that becomes of the
 * row here. So while a copy runs, the messages of rows end here and the others go on to the driver, which begins, ends
 * and fails the copy:
 *
 *    socket ──▶ messages ──┬─ CopyData ──▶ take
 *                          └─ others ────▶ the driver
 *
 * Over TLS the driver reads from another socket. Then it does make its views, and only the `push` of its stream is
 * replaced.
 */
import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import type postgres from 'postgres'
import type { Silence } from './silence.ts'
import { translated } from './unavailable.ts'

/**
 * Takes one row of a copy as the server sent it, with its line feed: the bytes of the packet from `from` to `end`. They
 * are valid only during the call. If it returns a promise, the server is held back until the promise settles; rows that
 * have already arrived still come.
 */
export type TakeRow = (packet: Buffer, from: number, end: number) => Promise<void> | undefined

/** Answers how many rows the server says that it sent. `plain` is the socket if the driver reads from it; nothing is due on it. */
export function copiedOut(
  client: postgres.Sql,
  plain: Socket | undefined,
  text: string,
  take: TakeRow,
  silence: Silence,
): Promise<number> {
  let restore = () => {}
  return new Promise<number>((resolve, fail) => {
    const reject = (error: unknown) => fail(translated(error))
    let stream: Readable | undefined
    let held: Promise<void> | undefined
    /** Whether the server may go on. */
    const taken: (...row: Parameters<TakeRow>) => boolean = (packet, from, end) => {
      try {
        const wait = take(packet, from, end)
        if (wait === undefined || wait === held) return held === undefined
        if (held === undefined) silence.due -= 1 // while the taker holds the server back, its silence does not count
        held = wait
        wait.then(() => {
          if (held !== wait) return
          held = undefined
          silence.due += 1
          stream?._read(0) // the driver resumes its socket, which over TLS is not ours
        }, reject)
      } catch (error) {
        reject(error)
      }
      return false
    }
    if (plain) restore = takeRowsFrom(plain, taken)
    // The end comes with the result, which counts. After an answer of `false` the driver pauses its socket.
    const push = (row: Buffer | null) => row === null || taken(row, 0, row.length)
    const query = client.unsafe(text) as postgres.PendingQuery<never> & Answered
    const { resolve: handOut } = query
    query.resolve = (given) => {
      const opened = given as Readable
      // Called once more at the end.
      query.resolve = (result) => {
        Promise.resolve(held).then(() => resolve((result as { readonly count: number }).count), reject)
      }
      // Listens as soon as the stream exists: a failure may be in the same packet.
      opened.on('error', reject)
      stream = Object.assign(opened, { push })
      handOut(opened)
    }
    query.readable().catch(reject)
  }).finally(() => restore())
}

interface Answered {
  resolve(given: Readable | { readonly count: number }): void
}

const copyData = 0x64

/** Pauses the socket at a row that is answered with `false`. Answers what gives every message to the driver again. */
function takeRowsFrom(socket: Socket, taken: (packet: Buffer, from: number, end: number) => boolean): () => void {
  const { emit } = socket
  let goesOn = true
  const receive = inMessages((packet, from, end) => {
    if (packet[from] === copyData) goesOn = taken(packet, from + headBytes, end)
    else Reflect.apply(emit, socket, ['data', packet.subarray(from, end)])
  })
  socket.emit = (...args: unknown[]) => {
    if (args[0] !== 'data') return Reflect.apply(emit, socket, args) as boolean
    goesOn = true // a packet may have no row, but the middle of one
    receive(args[1] as Buffer)
    if (!goesOn) socket.pause()
    return true
  }
  return () => {
    socket.emit = emit
  }
}

/** A message begins with one byte that is its kind, and four that are its length without this byte. */
const headBytes = 5

/** Divides what arrives into messages, from a message's beginning on. */
function inMessages(each: (packet: Buffer, from: number, end: number) => void): (arrived: Buffer) => void {
  /** Pieces of a message whose end did not come. */
  let begun: Buffer[] = []
  let had = 0
  let length = 0
  return (arrived) => {
    let packet = arrived
    let at = 0
    if (had >= headBytes) {
      at = length - had
      begun.push(at < packet.length ? packet.subarray(0, at) : packet)
      had += packet.length
      if (had < length) return
      each(Buffer.concat(begun, length), 0, length)
    } else if (had > 0) packet = Buffer.concat([...begun, packet])
    for (length = 0; at + headBytes <= packet.length; at += length) {
      length = 1 + packet.readUInt32BE(at + 1)
      if (at + length > packet.length) break
      each(packet, at, at + length)
    }
    had = packet.length - at
    begun = had > 0 ? [packet.subarray(at)] : []
  }
}
