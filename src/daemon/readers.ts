/**
 * Answers that wait to be taken, and readers that do not take them.
 *
 * An answer that the network does not take lies in the daemon's memory. Each counts, from the moment it is made
 * until it is sent, for its holder: the workspace, or the source address of somebody who has not said who they are.
 *
 *    took nothing for `slowAfterMs`             its connection is closed
 *    the holder has `ofOneBytes` waiting        its readers that took nothing for a second are closed, the one that
 *                                               has stood still for longest first; if there is none, 503 for its reads
 *    all have `inAllBytes` waiting              the same for the holder of most; where that is somebody else, its
 *                                               oldest reader is closed in any case, so that nobody is refused for another
 *
 * A read is refused before its work begins, and once more when its answer is made: what was admitted together may be
 * too much together. A change is always answered: it has happened, and its answer is small.
 *
 * Whether a reader takes anything is seen in what its socket still has to send, looked at once a second for all that
 * wait; there is no timer for each. Spec: decisions 7, Bounds at the door; decision 0140.
 */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Problem } from '../core/contract/problem.ts'
import { isAccount } from '../core/kernel/values/actor.ts'
import { sourceOfConnection } from './source.ts'

export interface ReaderLimits {
  readonly slowAfterMs: number
  readonly inAllBytes: number
  readonly ofOneBytes: number
}

export interface Readers {
  /** Refuses service.unavailable while what waits for the caller's workspace leaves no room for another answer. */
  checkRoom(request: FastifyRequest): void
  /** Notes that so many bytes of an answer now wait for its connection; what was noted of it before is sent. */
  hold(request: FastifyRequest, response: ServerResponse, bytes: number): void
  readonly counts: ReaderCounts
}

export interface ReaderCounts {
  readonly waitingBytes: number
  /** Readers closed for their slowness, since the start. */
  readonly closed: number
  /** Reads refused for want of room, since the start. */
  readonly refused: number
}

interface Holder {
  readonly name: string
  bytes: number
  /** Oldest first. */
  readonly readers: Set<Reader>
  /** Those that took nothing between the last two looks, the one that has stood still for longest first. */
  stalled: Reader[]
}

interface Reader {
  readonly request: FastifyRequest
  readonly response: ServerResponse
  readonly socket: Socket
  readonly holder: Holder
  bytes: number
  /** What its socket had to send when it was last looked at; -1 before that. */
  unsent: number
  movedAt: number
}

const lookEachMs = 1_000
/** A smaller answer is sent even where there is no room: a network takes it at once, and a probe or a refusal must get through. */
const smallAnswerBytes = 16 * 1024

export function followReaders(app: FastifyInstance, limits: ReaderLimits): Readers {
  const readers = new WaitingReaders(limits)
  const look = setInterval(() => readers.look(performance.now()), lookEachMs).unref()
  app.addHook('onClose', async () => clearInterval(look))
  app.addHook('onSend', (request, reply, payload, done) => {
    const bytes = request.method === 'HEAD' ? 0 : bytesOf(payload)
    if (isRead(request) && bytes > smallAnswerBytes && !readers.makesRoom(request, bytes)) {
      done(readers.refusal())
      return
    }
    readers.hold(request, reply.raw, bytes)
    done(null, payload)
  })
  return readers
}

const isRead = ({ method }: FastifyRequest) => method === 'GET' || method === 'HEAD'

function bytesOf(payload: unknown): number {
  if (typeof payload === 'string') return Buffer.byteLength(payload)
  return payload instanceof Uint8Array ? payload.byteLength : 0
}

class WaitingReaders implements Readers {
  private readonly limits: ReaderLimits
  private readonly holders = new Map<string, Holder>()
  private readonly readers = new Map<ServerResponse, Reader>()
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
    if (isRead(request) && !this.makesRoom(request, 1)) throw this.refusal()
  }

  refusal(): Problem {
    this.refused += 1
    return new Problem('service.unavailable', {}, { headers: { 'retry-after': '1' } })
  }

  hold(request: FastifyRequest, response: ServerResponse, bytes: number): void {
    if (bytes === 0) return
    const reader = this.readers.get(response) ?? this.begin(request, response)
    const more = bytes - reader.bytes
    reader.bytes = bytes
    reader.holder.bytes += more
    this.waitingBytes += more
  }

  /** Whether so many bytes more may wait for the caller's holder, once slow readers have made room. */
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

  /** Looks who has taken something since the last time, and closes who has not for too long. */
  look(now: number): void {
    for (const reader of this.readers.values()) {
      const { socket } = reader
      // An answer that stood behind another one, unsent, hears nothing of its connection's end.
      if (socket.destroyed) this.release(reader)
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
    const reader = { request, response, socket, holder, bytes: 0, unsent: -1, movedAt: performance.now() }
    holder.readers.add(reader)
    this.readers.set(response, reader)
    response.once('close', () => this.release(reader))
    return reader
  }

  /** Closes a reader's connection; false without one. */
  private close(reader: Reader | undefined): boolean {
    if (!reader) return false
    if (!reader.socket.destroyed) {
      this.closed += 1
      reader.request.refusal = 'reader.slow'
      reader.socket.destroy()
    }
    this.release(reader)
    return true
  }

  private release(reader: Reader): void {
    const { response, holder, bytes } = reader
    if (!this.readers.delete(response)) return
    holder.readers.delete(reader)
    holder.bytes -= bytes
    this.waitingBytes -= bytes
    if (holder.readers.size === 0) this.holders.delete(holder.name)
  }

  private largest(): Holder {
    let largest: Holder | undefined
    for (const holder of this.holders.values()) if (holder.bytes > (largest?.bytes ?? 0)) largest = holder
    if (!largest) throw new Error('bytes wait that nobody holds')
    return largest
  }
}

/** The workspace, or the source of somebody who has not said who they are. */
function holderOf({ actor, raw }: FastifyRequest): string {
  if (actor && isAccount(actor)) return actor.tenantId
  return actor?.kind === 'ANYONE' && actor.source !== '' ? actor.source : sourceOfConnection(raw.socket.remoteAddress)
}

/** The reader that has stood still for longest and still does. */
function nextStalled({ stalled, readers }: Holder): Reader | undefined {
  for (let reader = stalled.pop(); reader; reader = stalled.pop())
    if (readers.has(reader) && !hasMoved(reader)) return reader
  return undefined
}

/** Whether the reader has taken something since the last time this was asked; one that nothing is sent to yet has no fault. */
function hasMoved(reader: Reader): boolean {
  const unsent = unsentOf(reader.socket)
  const isMoved = unsent === 0 || unsent !== reader.unsent
  reader.unsent = unsent
  return isMoved
}

/** `writableLength` counts a text whole until all of it is sent; only the handle knows of its parts, as Node's own timeout does. */
function unsentOf(socket: Socket): number {
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readonly writeQueueSize?: number } | null }
  return socket.writableLength + (handle?.writeQueueSize ?? 0)
}
