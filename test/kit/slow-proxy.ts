/** A proxy in front of PostgreSQL's socket that behaves like a slow network. */
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { DatabaseAddress } from '../../src/core/kernel/database/address.ts'
import { socketOf } from './database.ts'

export interface Weather {
  /** In each direction. */
  readonly delayMs?: number
  readonly bytesPerSecond?: number
  /** Nothing passes until `be` is called again. */
  readonly isStalled?: true
  /** The share of packets from the server at which the connection is cut. */
  readonly resets?: number
}

export interface SlowProxy {
  readonly address: DatabaseAddress
  /** Valid from now on, also for bytes under way. */
  be(weather: Weather): void
  close(): Promise<void>
}

export async function slowProxy(target: DatabaseAddress): Promise<SlowProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-slow-'))
  const sockets = new Set<Socket>()
  let weather: Weather = {}
  let packets = 0

  /** Passes on the bytes in their order, each piece as late as the weather says. */
  const pass = (from: Socket, to: Socket, cuts: boolean) => {
    let before = Promise.resolve()
    let isFreeAt = 0
    from.on('data', (piece: Buffer) => {
      const now = performance.now()
      const { delayMs = 0, bytesPerSecond = Number.POSITIVE_INFINITY, resets = 0 } = weather
      packets += 1
      if (cuts && resets > 0 && packets % Math.round(1 / resets) === 0) from.destroy()
      isFreeAt = Math.max(isFreeAt, now) + (piece.length / bytesPerSecond) * 1000
      const due = isFreeAt + delayMs
      before = before.then(async () => {
        const wait = due - performance.now()
        if (wait > 0) await pause(wait)
        while (weather.isStalled && !to.destroyed) await pause(10)
        if (!to.destroyed) to.write(piece)
      })
    })
  }

  const server = createServer((near) => {
    const far = connect(socketOf(target))
    pass(near, far, false)
    pass(far, near, true)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        near.destroy()
        far.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(join(folder, '.s.PGSQL.5432'), resolve))

  return {
    address: { ...target, host: folder, port: 5432 },
    be(next) {
      weather = next
    },
    async close() {
      weather = {}
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
