/**
 * Notifications: messages on a channel from committed transactions of any process.
 *
 * One connection listens, and is opened again when it is lost. Messages in between are lost,
 * so listeners are told about the new connection and must then read the state themselves.
 * A notification is never the only way to learn about a change.
 */
import type { DatabaseAddress } from './address.ts'
import { attach } from './client.ts'

const retryMs = 500

export interface Listener {
  /** A notification arrived. `process`: the server's process that sent it. */
  heard(payload: string, process: number): void
  /** The connection listens, for the first time or again. Notifications before that may have been missed. */
  listens(): void
}

export interface Listening {
  close(): Promise<void>
}

/** Listens until `close`; a database that cannot be reached is tried again every half second. */
export function listen(address: DatabaseAddress, channel: string, listener: Listener): Listening {
  if (!/^[a-z_]{1,60}$/.test(channel)) throw new TypeError('a channel is lower-case letters and underscores')
  let isOver = false
  const wake = Promise.withResolvers<void>()

  const keep = async () => {
    while (!isOver) {
      await listenOnce().catch(() => {})
      if (!isOver) await Promise.race([new Promise((resolve) => setTimeout(resolve, retryMs)), wake.promise])
    }
  }

  /** Listens until the connection is lost or `close` is called. */
  const listenOnce = async () => {
    const lost = Promise.withResolvers<void>()
    const { client, end } = await attach(address, 'svc notifications', (fresh) => {
      fresh.on('error', () => lost.resolve())
      fresh.on('end', () => lost.resolve())
      fresh.on('notification', ({ payload, processId }) => listener.heard(payload ?? '', processId))
    })
    try {
      await client.query(`listen ${channel}`)
      listener.listens()
      await Promise.race([lost.promise, wake.promise])
    } finally {
      await end()
    }
  }

  const kept = keep()
  return {
    async close() {
      isOver = true
      wake.resolve()
      await kept
    },
  }
}
