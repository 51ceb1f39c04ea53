/**
 * How many connections there are, in all and of one source.
 *
 * A new connection is let in as long as another one can make room for it. That is the oldest one of the source that
 * has most of those on which no whole request is under way:
 *
 *    UNFINISHED ──a whole request has arrived──▶ BUSY ──its answer is sent──▶ IDLE
 *        ▲ new, or half a header, or half a body   ▲──────the next request──────┘
 *
 * UNFINISHED ones go before IDLE ones, a BUSY one never goes. So whoever opens thousands of connections and sends
 * half a request on each closes the sender's own, and the time that is left for half a request becomes shorter the
 * faster they come. A source has at most `perSource`, so that the rest is always free for others; behind one proxy
 * all callers are one source, and a flood among them still gives way to whoever sends whole requests.
 *
 * Every step is O(1): sources stand in the order of how many connections they could give up.
 *
 * Elsewhere: how long a connection may take (server.ts), and readers that do not read (readers.ts).
 * Spec: decisions 7, Bounds at the door; decision 0141.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { sourceOfConnection } from './source.ts'

export interface ConnectionLimits {
  readonly inAll: number
  readonly perSource: number
}

export interface ConnectionCounts {
  readonly open: number
  /** Closed for a newer one, since the start. */
  readonly gaveWay: number
  /** Turned away because all others were busy, since the start. */
  readonly refused: number
}

interface Connection {
  readonly socket: Socket
  readonly source: Source
  /** Whole requests that are not yet answered: a caller may send several at once. */
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

/** Holds a server to its limits; answers how it stands. */
export function boundConnections(server: Server, limits: ConnectionLimits): ConnectionCounts {
  const connections = new Connections(limits)
  server.on('connection', (socket: Socket) => connections.admit(socket))
  // Before the framework's own listener, which may answer at once.
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

  /** A request whose header is whole: its connection is busy once the body is, until it is answered. */
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

/** Sources by how many connections they could give up. */
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

const hasBody = ({ headers }: IncomingMessage) =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
