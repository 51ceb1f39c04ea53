/**
 * Notifications: what committed transactions of any process say on a channel.
 *
 * One connection listens and is made again when it is lost; whatever was said in between
 * is lost with it, so whoever listens is told that it listens anew and has to look for
 * itself. Never the only way to learn of something.
 */
import type { Client } from 'pg'
import { type DatabaseAddress, pgOptions } from './address.ts'

const retryMs = 500

export interface Listener {
  /** Something was said. */
  heard(payload: string): void
  /** It listens, for the first time or again: what was said until now may have been missed. */
  listens(): void
}

export interface Listening {
  close(): Promise<void>
}

/** Listens until `close`; a database that cannot be reached is tried again every half second. */
export function listen(address: DatabaseAddress, channel: string, listener: Listener): Listening {
  if (!/^[a-z_]{1,60}$/.test(channel)) throw new TypeError('a channel is lower-case letters and underscores')
  let isOver = false
  let client: Client | undefined
  const wake = Promise.withResolvers<void>()

  const keep = async () => {
    while (!isOver) {
      const attached = await attach().catch(() => undefined)
      if (attached) await Promise.race([attached.lost, wake.promise])
      await client?.end().catch(() => {})
      if (!isOver) await Promise.race([new Promise((resolve) => setTimeout(resolve, retryMs)), wake.promise])
    }
  }

  const attach = async (): Promise<{ readonly lost: Promise<void> }> => {
    const { default: pg } = await import('pg')
    const fresh = new pg.Client({
      ...pgOptions(address),
      application_name: 'svc notifications',
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    })
    const gone = Promise.withResolvers<void>()
    fresh.on('error', () => gone.resolve())
    fresh.on('end', () => gone.resolve())
    fresh.on('notification', ({ payload }) => listener.heard(payload ?? ''))
    client = fresh
    await fresh.connect()
    await fresh.query(`listen ${channel}`)
    listener.listens()
    return { lost: gone.promise }
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
