/**
 * The bell: dispatchers hear which webhooks have something due, after the transaction that made it due has committed.
 *
 *    commit ──ring──▶ the dispatcher of this process, at once
 *                └──▶ those of others: one merged notification at a time, on a connection of its own
 *
 * No transaction of a rule notifies: PostgreSQL lets transactions that do commit one after the other, in the whole
 * cluster (decision 0195). What is rung for is committed, so that a ring that is lost only delays: the dispatchers' look
 * finds it within five seconds.
 */

import type { DatabaseAddress } from '../database/address.ts'
import { type Attached, attach } from '../database/client.ts'
import { type Listening, listen } from '../database/notifications.ts'
import { sessionWithoutSync } from '../database/roles.ts'
import { portionsOf } from '../values/portions.ts'

/** The channel of the notifications: `<workspace> <webhook> <webhook> …`. */
export const dueChannel = 'svc_deliveries'
/** How many webhooks one notification names; it can carry 8,000 bytes at most. Further webhooks follow in the next one. */
export const perNotification = 200

/** From a ring to the notification that tells others of it, at least. */
const mergeMs = 3
/** From one notification to the next at least: each is a transaction, and wakes every process that listens. */
const betweenMs = 25
/** How long nothing is sent after the connection failed. */
const pauseMs = 500
/** How long the connection is kept after the last ring. */
const idleMs = 30_000

export interface DueListener {
  /** Of one workspace. */
  heard(tenantId: string, webhookIds: readonly string[]): void
  /** From now on others are heard, too. What they rang for before may have been missed. */
  listens(): void
}

export interface Bell {
  /** For the webhooks of a workspace for which a committed transaction has made something due. Throws nothing. */
  ring(tenantId: string, webhookIds: readonly string[]): void
  hear(listener: DueListener): Listening
  /** Sends what waits. */
  close(): Promise<void>
}

export const openBell = (address: DatabaseAddress): Bell => new ProcessBell(address)

class ProcessBell implements Bell {
  private readonly address: DatabaseAddress
  private readonly listeners = new Set<DueListener>()
  /** What other processes have not been told yet. */
  private waiting = new Map<string, Set<string>>()
  private connection: Attached | undefined
  /** The server's process of that connection: what it notifies was heard here already. */
  private ownProcess: number | undefined
  private sending: Promise<void> | undefined
  private lastSent = Number.NEGATIVE_INFINITY
  private idle: NodeJS.Timeout | undefined

  constructor(address: DatabaseAddress) {
    this.address = address
  }

  ring(tenantId: string, webhookIds: readonly string[]): void {
    if (webhookIds.length === 0) return
    this.tell(tenantId, webhookIds)
    const known = this.waiting.get(tenantId) ?? new Set()
    for (const id of webhookIds) known.add(id)
    this.waiting.set(tenantId, known)
    clearTimeout(this.idle)
    this.sending ??= this.sendAll().finally(() => {
      this.sending = undefined
      this.idle = setTimeout(() => void this.rest(), idleMs).unref()
    })
  }

  hear(listener: DueListener): Listening {
    this.listeners.add(listener)
    const listening = listen(this.address, dueChannel, {
      heard: (payload, process) => {
        const { tenantId, webhookIds } = read(payload)
        if (process !== this.ownProcess) this.tell(tenantId, webhookIds)
      },
      listens: () => listener.listens(),
    })
    return {
      close: () => {
        this.listeners.delete(listener)
        return listening.close()
      },
    }
  }

  async close(): Promise<void> {
    await this.sending
    await this.rest()
  }

  /** Gives the connection up; the next ring makes another. */
  private async rest(): Promise<void> {
    clearTimeout(this.idle)
    const { connection } = this
    this.connection = undefined
    await connection?.end()
  }

  private tell(tenantId: string, webhookIds: readonly string[]): void {
    for (const listener of this.listeners) listener.heard(tenantId, webhookIds)
  }

  private async sendAll(): Promise<void> {
    while (this.waiting.size > 0) {
      // The dispatcher of this process begins first: the server has the notification to do behind its claim.
      await pause(Math.max(mergeMs, this.lastSent + betweenMs - performance.now()))
      this.lastSent = performance.now()
      const payloads = payloadsOf(this.waiting)
      this.waiting = new Map()
      try {
        this.connection ??= await this.connect()
        const { client } = this.connection
        // Commands need no plan, and several of them are one packet and one transaction.
        const commands = payloads.map((payload) => `notify ${dueChannel}, ${client.escapeLiteral(payload)}`)
        await client.query(commands.join('; '))
      } catch {
        // The other dispatchers find it when they look.
        await this.connection?.end()
        this.connection = undefined
        await pause(pauseMs)
      }
    }
  }

  private async connect(): Promise<Attached> {
    const attached = await attach(this.address, 'svc bell', (client) => {
      client.on('end', () => {
        if (this.connection?.client === client) this.connection = undefined
      })
    })
    // A notification need not outlast a crash of the server, and so waits for no disk.
    await attached.client.query(sessionWithoutSync)
    this.ownProcess = (attached.client as unknown as { processID: number }).processID
    return attached
  }
}

function read(payload: string) {
  const [tenantId = '', ...webhookIds] = payload.split(' ')
  return { tenantId, webhookIds }
}

function payloadsOf(due: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  return [...due].flatMap(([tenantId, webhookIds]) => {
    return portionsOf([...webhookIds], perNotification).map((part) => `${tenantId} ${part.join(' ')}`)
  })
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
