/**
 * Bounds the memory of answers that wait for slow readers.
 *
 * An answer that the network has not accepted yet is in the daemon's memory. From when it is made until it is sent, its
 * bytes count for its holder: the workspace, or the source address of an anonymous caller.
 *
 *    a reader reads nothing for `slowAfterMs`   its connection is closed
 *    a holder has `ofOneBytes` waiting          its readers that read nothing for a second are closed, the one that has
 *                                               stalled for longest first; without such a reader, its reads get 503
 *    all holders have `inAllBytes` waiting      the same for the holder of the most bytes; if that is another one than
 *                                               the caller, its oldest reader is closed in any case, so that no caller
 *                                               is refused because of another holder
 *
 * A read is checked before its work begins, and again when its answer is made, because reads that were admitted at the
 * same time can be too much together. A change is always answered: it has happened, and its answer is small.
 *
 * Once a second, one timer compares the unsent bytes of every waiting socket with those of a second ago.
 *
 * A reader whose answer was sent forgets it at once (docs/decisions/0498): a set in which much comes and goes leaves its old
 * tables to the next collection of old memory, with all that they name.
 * Spec: decisions 7, Bounds at the door; decision 0140.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isRead } from '../core/contract/operation.ts'
import { Problem } from '../core/contract/problem.ts'
import { isAccount } from '../core/kernel/values/actor.ts'
import { sourceOfConnection } from './source.ts'

declare module 'node:http' {
  interface ServerResponse {
    /** While it waits for its reader. */
    reader?: Reader | undefined
  }
}

export interface ReaderLimits {
  readonly slowAfterMs: number
  readonly inAllBytes: number
  readonly ofOneBytes: number
}

export interface Readers {
  /** Refuses service.unavailable while the waiting answers of the caller's holder leave no room for another one. */
  checkRoom(request: FastifyRequest): void
  /** Records that `bytes` of an answer now wait for its connection; the bytes recorded before were sent. */
  hold(request: FastifyRequest, response: ServerResponse, bytes: number): void
  readonly counts: ReaderCounts
}

export interface ReaderCounts {
  readonly waitingBytes: number
  /** Slow readers whose connections were closed, since the start. */
  readonly closed: number
  /** Reads refused because there was no room, since the start. */
  readonly refused: number
}

interface Holder {
  readonly name: string
  bytes: number
  /** Oldest first. */
  readonly readers: Set<Reader>
  /** The readers that read nothing between the last two checks, ordered by how long they have stalled. */
  stalled: Reader[]
}

interface Waiting {
  readonly request: FastifyRequest
  readonly response: ServerResponse
  readonly socket: Socket
}

interface Reader {
  /** What it reads; undefined once that was sent. */
  answer: Waiting | undefined
  readonly holder: Holder
  bytes: number
  /** The unsent bytes of its socket at the last check; -1 before the first. */
  unsent: number
  movedAt: number
}

const lookEachMs = 1_000
/** A smaller answer is sent even without room: the network accepts it at once, and a probe or a refusal must get through. */
const smallAnswerBytes = 16 * 1024

export function followReaders(app: FastifyInstance, limits: ReaderLimits): Readers {
  const readers = new WaitingReaders(limits)
  const look = setInterval(() => readers.look(performance.now()), lookEachMs).unref()
  app.addHook('onClose', async () => clearInterval(look))
  app.addHook('onSend', (request, reply, payload, done) => {
    const bytes = request.method === 'HEAD' ? 0 : bytesOf(payload)
    if (asksOnly(request) && bytes > smallAnswerBytes && !readers.makesRoom(request, bytes)) {
      done(readers.refusal())
      return
    }
    readers.hold(request, reply.raw, bytes)
    done(null, payload)
  })
  return readers
}

const asksOnly = ({ method, routeOptions: { config } }: FastifyRequest) =>
  method === 'HEAD' || (config.operation === undefined ? method === 'GET' : isRead(config.operation))

function bytesOf(payload: unknown): number {
  if (typeof payload === 'string') return Buffer.byteLength(payload)
  return payload instanceof Uint8Array ? payload.byteLength : 0
}

class WaitingReaders implements Readers {
  private readonly limits: ReaderLimits
  private readonly holders = new Map<string, Holder>()
  private readonly readers = new Set<Reader>()
  private waitingBytes = 0
  private closed = 0
  private refused = 0

  constructor(limits: ReaderLimits) {
    this.limits = limits
  }

  get counts(): ReaderCounts {
    const { waitingBytes, closed, refused } = this
    return { waitingBytes, closed, refused }
  }

  checkRoom(request: FastifyRequest): void {
    if (asksOnly(request) && !this.makesRoom(request, 1)) throw this.refusal()
  }

  refusal(): Problem {
    this.refused += 1
    return new Problem('service.unavailable', {}, { headers: { 'retry-after': '1' } })
  }

  hold(request: FastifyRequest, response: ServerResponse, bytes: number): void {
    if (bytes === 0) return
    const reader = response.reader ?? this.begin(request, response)
    const more = bytes - reader.bytes
    reader.bytes = bytes
    reader.holder.bytes += more
    this.waitingBytes += more
  }

  /** Whether `bytes` more may wait for the caller's holder; closes slow readers to make room. */
  makesRoom(request: FastifyRequest, bytes: number): boolean {
    const name = holderOf(request)
    const holder = this.holders.get(name)
    const { inAllBytes, ofOneBytes } = this.limits
    while (holder && holder.bytes > 0 && holder.bytes + bytes > ofOneBytes) {
      if (!this.close(nextStalled(holder))) return false
    }
    while (this.waitingBytes > 0 && this.waitingBytes + bytes > inAllBytes) {
      const largest = this.largest()
      const isOwn = largest.name === name
      const [oldest] = isOwn ? [] : largest.readers
      if (!this.close(nextStalled(largest) ?? oldest)) return false
    }
    return true
  }

  /** Checks which readers have read something since the last check, and closes those that have stalled for too long. */
  look(now: number): void {
    for (const reader of this.readers) {
      // An unsent answer that is queued after another one gets no event when its connection ends.
      if (reader.answer?.socket.destroyed) this.release(reader)
      else if (hasMoved(reader)) reader.movedAt = now
      else if (now - reader.movedAt >= this.limits.slowAfterMs) this.close(reader)
    }
    for (const holder of this.holders.values()) {
      holder.stalled = [...holder.readers]
        .filter(({ movedAt }) => now - movedAt >= lookEachMs)
        .sort((a, b) => b.movedAt - a.movedAt)
    }
  }

  private begin(request: FastifyRequest, response: ServerResponse): Reader {
    const name = holderOf(request)
    const holder = this.holders.get(name) ?? { name, bytes: 0, readers: new Set(), stalled: [] }
    this.holders.set(name, holder)
    const { socket } = request.raw
    const answer = { request, response, socket }
    const reader = { answer, holder, bytes: 0, unsent: -1, movedAt: performance.now() }
    holder.readers.add(reader)
    this.readers.add(reader)
    response.reader = reader
    response.once('close', () => this.release(reader))
    return reader
  }

  /** Closes a reader's connection; false without a reader. */
  private close(reader: Reader | undefined): boolean {
    if (!reader?.answer) return false
    const { request, socket } = reader.answer
    if (!socket.destroyed) {
      this.closed += 1
      request.refusal = 'reader.slow'
      socket.destroy()
    }
    this.release(reader)
    return true
  }

  private release(reader: Reader): void {
    const { answer, holder, bytes } = reader
    if (!answer) return
    answer.response.reader = undefined
    reader.answer = undefined
    this.readers.delete(reader)
    holder.readers.delete(reader)
    holder.bytes -= bytes
    this.waitingBytes -= bytes
    if (holder.readers.size === 0) this.holders.delete(holder.name)
  }

  private largest(): Holder {
    let largest: Holder | undefined
    for (const holder of this.holders.values()) if (holder.bytes > (largest?.bytes ?? 0)) largest = holder
    if (!largest) throw new Error('waiting bytes have no holder')
    return largest
  }
}

/** The workspace, or the source address of an anonymous caller. */
function holderOf({ actor, raw }: FastifyRequest): string {
  if (actor && isAccount(actor)) return actor.tenantId
  return actor?.kind === 'ANYONE' && actor.source !== '' ? actor.source : sourceOfConnection(raw.socket.remoteAddress)
}

/** The reader that has stalled for longest and still does. */
function nextStalled({ stalled, readers }: Holder): Reader | undefined {
  for (let reader = stalled.pop(); reader; reader = stalled.pop())
    if (readers.has(reader) && !hasMoved(reader)) return reader
  return undefined
}

/** Whether the reader has read something since the last check. A reader without unsent bytes counts as moving. */
function hasMoved(reader: Reader): boolean {
  const unsent = reader.answer ? unsentOf(reader.answer.socket) : 0
  const isMoved = unsent === 0 || unsent !== reader.unsent
  reader.unsent = unsent
  return isMoved
}

/** `writableLength` counts a whole text until all of it is sent; only the handle, which Node's own timeout uses, knows the sent parts. */
function unsentOf(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null }
  return socket.writableLength + (handle?.writeQueueSize ?? 0)
}
