/**
 * Counts what a daemon sends to PostgreSQL: statements and round trips by what arrives at a proxy in front of it, and
 * packets by what leaves the daemon's sockets, because two writes may arrive as one.
 */
import { Socket } from 'node:net'
import type { DatabaseAddress } from '../../src/core/kernel/database/address.ts'
import { type PacketProxy, packetProxy } from '../kernel/database/packet-proxy.ts'

export interface Cost {
  /** Statements, those of one text each for itself. */
  readonly statements: number
  /** How often something was sent after an answer had come. */
  readonly roundTrips: number
  /** Writes to a socket. */
  readonly packets: number
}

export interface Wire extends Pick<PacketProxy, 'address' | 'close'> {
  /** What was sent since the last call. */
  taken(): Cost
}

export async function wireTo(target: DatabaseAddress): Promise<Wire> {
  let cost = { statements: 0, roundTrips: 0 }
  let packets = 0
  const proxy = await packetProxy(target, () => {
    const read = messageReader()
    let isAnswered = true
    return {
      sent(packet) {
        cost.statements += read(packet)
        if (isAnswered) cost.roundTrips += 1
        isAnswered = false
      },
      answered() {
        isAnswered = true
      },
    }
  })
  const isOurs = (socket: object) => 'host' in socket && socket.host === proxy.address.host
  const uncounted = countWrites((socket) => {
    if (isOurs(socket)) packets += 1
  })
  return {
    address: proxy.address,
    async close() {
      uncounted()
      await proxy.close()
    },
    taken() {
      const before = { ...cost, packets }
      cost = { statements: 0, roundTrips: 0 }
      packets = 0
      proxy.sent() // forgets the packets
      return before
    },
  }
}

/** Counts the statements in what a client sends; messages may be cut anywhere. The first message has no letter. */
function messageReader(): (packet: Uint8Array) => number {
  let waiting: Buffer = Buffer.alloc(0)
  let isGreeted = false
  return (packet) => {
    waiting = Buffer.concat([waiting, packet])
    let statements = 0
    for (;;) {
      const letters = isGreeted ? 1 : 0
      if (waiting.length < letters + 4) return statements
      const length = letters + waiting.readUInt32BE(letters)
      if (waiting.length < length) return statements
      const letter = isGreeted ? String.fromCharCode(waiting[0]!) : ''
      if (letter === 'E') statements += 1
      if (letter === 'Q')
        statements += waiting
          .toString('utf8', 5, length - 1)
          .split(';')
          .filter((text) => text.trim() !== '').length
      isGreeted = true
      waiting = waiting.subarray(length)
    }
  }
}

/** Tells of each write of each socket in this process, until the answered function is called. */
function countWrites(wrote: (socket: object) => void): () => void {
  const { _write, _writev } = Socket.prototype
  Socket.prototype._write = function (...args) {
    wrote(this)
    return _write.apply(this, args)
  }
  Socket.prototype._writev = function (...args) {
    wrote(this)
    return _writev?.apply(this, args)
  }
  return () => Object.assign(Socket.prototype, { _write, _writev })
}
