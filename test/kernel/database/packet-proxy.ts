/** A proxy in front of PostgreSQL's socket that counts what we send and can cut an answer. */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DatabaseAddress } from '../../../src/core/kernel/database/address.ts'
import { socketOf } from '../../kit/database.ts'

export interface PacketProxy {
  readonly address: DatabaseAddress
  /** What was sent to the server since the last call, one text for each packet. */
  sent(): string[]
  /**
   * From now on the server's answers to a packet with this text are dropped, and its connection is cut once the server
   * says that it is in no transaction any more. The text is that of a commit.
   */
  cutAnswerTo(text: string): void
  /** Whether new connections are hung up on. */
  refuse(refuses: boolean): void
  close(): Promise<void>
}

/** What is told of one connection, as it passes. */
export interface Listener {
  sent(packet: Buffer): void
  answered(): void
}

/** ReadyForQuery of a server that is in no transaction. */
const isIdle = Buffer.from('Z\0\0\0\x05I', 'latin1')

const deaf: Listener = { sent() {}, answered() {} }

/** `listen` is called for each new connection. */
export async function packetProxy(target: DatabaseAddress, listen: () => Listener = () => deaf): Promise<PacketProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-proxy-'))
  const sockets = new Set<Socket>()
  let packets: string[] = []
  let cut: string | undefined
  let refuses = false

  const server = createServer((near) => {
    if (refuses) return void near.destroy()
    const far = connect(socketOf(target))
    let cutting = false
    let dropped = Buffer.alloc(0)
    const listener = listen()
    near.on('data', (packet) => {
      packets.push(packet.toString('latin1'))
      listener.sent(packet)
      cutting ||= cut !== undefined && packet.includes(cut)
      far.write(packet)
    })
    // Answers to statements that left with the commit come first, and a server that cannot send them ends without it.
    far.on('data', (answer) => {
      listener.answered()
      if (!cutting) return void near.write(answer)
      dropped = Buffer.concat([dropped, answer])
      if (dropped.includes(isIdle)) near.destroy()
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
    sent: () => packets.splice(0),
    cutAnswerTo: (text) => {
      cut = text
    },
    refuse: (next) => {
      refuses = next
    },
    close: async () => {
      packets = []
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
