/**
 * Limits the number of connections, in total and for each source.
 *
 * At the limit, a new connection replaces another one: the oldest connection without a whole request under way, of
 * the source that has the most of these.
 *
 *    UNFINISHED ──a whole request has arrived──▶ BUSY ──its answer is sent──▶ IDLE
 *        ▲ new, or half a header, or half a body   ▲──────the next request──────┘
 *
 * UNFINISHED connections are closed before IDLE ones; a BUSY one is never closed. A client that opens thousands of
 * connections with half a request on each therefore closes its own, and the faster it opens them the sooner they end.
 * A source has at most `perSource` connections, so that the rest is free for others. Behind one proxy all callers are
 * one source; even there, unfinished connections of a flood give way to callers that send whole requests.
 *
 * Every step is O(1): sources are ordered by the number of connections that they could give up.
 *
 * Elsewhere: how long a connection may take (server.ts), and readers that do not read (readers.ts).
 * Spec: decisions 7, Bounds at the door; decision 0141.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { sourceOfConnection } from './source.ts'
import { hasBody } from './unread.ts'

export interface ConnectionLimits {
  readonly inAll: number
  readonly perSource: number
}

export interface ConnectionCounts {
  readonly open: number
  /** Connections closed to make room for newer ones, since the start. */
  readonly gaveWay: number
  /** Connections refused because all others were busy, since the start. */
  readonly refused: number
}

interface Connection {
  readonly socket: Socket
  readonly source: Source
  /** Whole requests without an answer yet; a caller may send several at once. */
  underWay: number
}

class Source {
  readonly name: string
  open = 0
  /** Oldest first, as all sets are. */
  readonly unfinished = new Set<Connection>()
  readonly idle = new Set<Connection>()

  constructor(name: string) {
    this.name = name
  }

  get spare(): number {
    return this.unfinished.size + this.idle.size
  }

  next(): Connection | undefined {
    const [unfinished] = this.unfinished
    if (unfinished) return unfinished
    const [idle] = this.idle
    return idle
  }
}

/** Applies the limits to a server, and returns its counts. */
export function boundConnections(server: Server, limits: ConnectionLimits): ConnectionCounts {
  const connections = new Connections(limits)
  server.on('connection', (socket: Socket) => connections.admit(socket))
  // Runs before the framework's own listener, which may answer at once.
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) =>
    connections.follow(request, response),
  )
  return connections
}

class Connections implements ConnectionCounts {
  private readonly limits: ConnectionLimits
  private readonly bySocket = new Map<Socket, Connection>()
  private readonly sources = new Map<string, Source>()
  private readonly crowds = new Crowds()
  gaveWay = 0
  refused = 0

  constructor(limits: ConnectionLimits) {
    this.limits = limits
  }

  get open(): number {
    return this.bySocket.size
  }

  admit(socket: Socket): void {
    const name = sourceOfConnection(socket.remoteAddress)
    if (!this.hasRoom(this.sources.get(name))) {
      this.refused += 1
      socket.destroy()
      return
    }
    const source = this.sources.get(name) ?? new Source(name)
    this.sources.set(name, source)
    const connection = { socket, source, underWay: 0 }
    this.bySocket.set(socket, connection)
    source.open += 1
    this.change(source, () => source.unfinished.add(connection))
    socket.once('close', () => this.forget(connection))
  }

  /** Called for each whole header. The connection is busy from the end of the body until the answer. */
  follow(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.bySocket.get(request.socket)
    if (!connection) return
    let hasBegun = false
    const begin = () => {
      hasBegun = true
      this.begin(connection)
    }
    if (hasBody(request)) request.once('end', begin)
    else begin()
    response.once('close', () => {
      request.off('end', begin)
      if (hasBegun) this.end(connection)
    })
  }

  private hasRoom(source: Source | undefined): boolean {
    if (source && source.open >= this.limits.perSource) return this.giveWay(source)
    return this.open < this.limits.inAll || this.giveWay(this.crowds.largest)
  }

  private giveWay(source: Source | undefined): boolean {
    const connection = source?.next()
    if (!connection) return false
    this.gaveWay += 1
    this.forget(connection)
    connection.socket.destroy()
    return true
  }

  private begin(connection: Connection): void {
    connection.underWay += 1
    const { source } = connection
    if (connection.underWay === 1)
      this.change(source, () => {
        source.unfinished.delete(connection)
        source.idle.delete(connection)
      })
  }

  private end(connection: Connection): void {
    connection.underWay -= 1
    const { source, socket } = connection
    if (connection.underWay === 0 && this.bySocket.has(socket)) this.change(source, () => source.idle.add(connection))
  }

  private forget(connection: Connection): void {
    if (!this.bySocket.delete(connection.socket)) return
    const { source } = connection
    source.open -= 1
    this.change(source, () => {
      source.unfinished.delete(connection)
      source.idle.delete(connection)
    })
    if (source.open === 0) this.sources.delete(source.name)
  }

  private change(source: Source, act: () => void): void {
    const before = source.spare
    act()
    this.crowds.move(source, before, source.spare)
  }
}

/** Sources ordered by the number of connections that they could give up. */
class Crowds {
  private readonly bySize: Set<Source>[] = []
  private most = 0

  get largest(): Source | undefined {
    const [source] = this.bySize[this.most] ?? []
    return source
  }

  move(source: Source, from: number, to: number): void {
    if (from === to) return
    this.bySize[from]?.delete(source)
    if (to > 0) this.of(to).add(source)
    this.most = Math.max(this.most, to)
    while (this.most > 0 && this.of(this.most).size === 0) this.most -= 1
  }

  private of(size: number): Set<Source> {
    const known = this.bySize[size] ?? new Set()
    this.bySize[size] = known
    return known
  }
}
