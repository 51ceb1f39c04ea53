/** Counts what a daemon sends to PostgreSQL, by what arrives at a proxy in front of it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseAddress } from '../../src/core/kernel/database/address.ts'

export interface Cost {
  /** Statements, those of one text each for itself. */
  readonly statements: number
  /** How often something was sent after an answer had come. */
  readonly roundTrips: number
}

export interface Wire {
  readonly address: DatabaseAddress
  /** What was sent since the last call. */
  taken(): Cost
  close(): Promise<void>
}

export async function wireTo(target: DatabaseAddress): Promise<Wire> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-wire-'))
  const sockets = new Set<Socket>()
  let cost = { statements: 0, roundTrips: 0 }
  const server = createServer((near) => {
    const far = connect(`${target.host}/.s.PGSQL.${target.port}`)
    const read = messageReader()
    let isAnswered = true
    near.on('data', (packet) => {
      cost.statements += read(packet)
      if (isAnswered) cost.roundTrips += 1
      isAnswered = false
      far.write(packet)
    })
    far.on('data', (answer) => {
      isAnswered = true
      near.write(answer)
    })
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        near.destroy()
        far.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(join(folder, '.s.PGSQL.5432'), resolve))
  return {
    address: { ...target, host: folder, port: 5432 },
    taken() {
      const before = cost
      cost = { statements: 0, roundTrips: 0 }
      return before
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true, force: true })
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
