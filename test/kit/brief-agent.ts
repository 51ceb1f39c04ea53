/**
 * A client that keeps an idle connection for a second, by the clock.
 *
 * After five seconds the daemon closes an idle connection, perhaps just when the next request is on its way. A timer does
 * not prevent that: a test that works for seconds in one piece holds up the timers of both, because the daemon runs in the
 * test's process.
 */
import { Agent } from 'node:http'
import type { Duplex } from 'node:stream'

const longestIdleMs = 1_000

export class BriefAgent extends Agent {
  private readonly freed = new WeakMap<object, number>()

  constructor(maxSockets: number) {
    super({ keepAlive: true, maxSockets, timeout: longestIdleMs })
    this.on('free', (socket: Duplex) => this.freed.set(socket, performance.now()))
  }

  /** Closes what is idle for too long; to be called before a request. */
  dropIdle(): this {
    const oldest = performance.now() - longestIdleMs
    for (const socket of Object.values(this.freeSockets).flatMap((sockets) => sockets ?? []))
      if ((this.freed.get(socket) ?? 0) < oldest) socket.destroy()
    return this
  }
}
