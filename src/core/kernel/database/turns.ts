/**
 * Turns: the order in which waiting transactions get free connections.
 *
 * Every transaction waits in a lane: that of its workspace, of anonymous callers, or of a kind
 * of background work. A single lane may hold every connection. While other lanes wait,
 *
 *  - lanes take turns, however many transactions wait in each, so a flood only delays itself;
 *  - lanes with less than their share (at most a third of the connections) go before a lane that
 *    holds its share; if only such lanes wait, the first of them is served;
 *  - within a lane, the order is first in, first out.
 *
 * If a caller comes or waits while other lanes wait, although its own lane holds less than its
 * share, the pool counts as crowded for a second. Then no lane gets more than its share, even if a
 * connection is free, so that the caller's next transactions find one. Otherwise each of them would
 * wait for the flood to return a connection. The share is smaller than a third while the calls of
 * small lanes have become slow; a lane that is refused much then even rests between its transactions (slowdown.ts).
 *
 * The number of waiting transactions is bounded for each lane, so that only the flood is
 * refused. It is also bounded in total: at that bound, the newest of the longest lane is refused
 * in favour of a new one in a shorter lane. Callers are asked about earlier, at the door: while a
 * queue stands, `isInTime` admits only those that get a connection soon (backlog.ts).
 *
 * Cost: one look-up by name for each transaction; the rest only while transactions wait.
 * Spec: decisions 7, Bounds at the door, Overload; docs/decisions/0143, 0185, 0189, 0512.
 */
import { type Asker, Backlog, isFlood } from './backlog.ts'
import { Slowdown } from './slowdown.ts'

export interface Lane<W> extends Asker {
  readonly name: string
  /** Connections that it holds, or that are being made for it. */
  held: number
  readonly waiting: W[]
  /** It does without a connection for a moment, if the pool is crowded. */
  isResting: boolean
}

/** How many idle lanes are kept; making a new one costs less than a look-up. */
const remembered = 1_000
/** How long the pool counts as crowded after a caller had to wait for another lane. */
const crowdedMs = 1_000
/** The bound on all waiting transactions, in full lanes. */
const fullLanes = 5

export class Turns<W> {
  private readonly perLane: number
  private readonly lanes = new Map<string, Lane<W>>()
  /** Lanes with waiting transactions, in the order of their turns. */
  private readonly queue = new Set<Lane<W>>()
  private count = 0
  private crowdedUntil = 0
  private readonly backlog: Backlog
  private readonly slowdown: Slowdown

  constructor(size: number, perLane: number) {
    const third = Math.ceil(size / 3)
    this.perLane = perLane
    this.backlog = new Backlog(third, perLane)
    this.slowdown = new Slowdown(third)
  }

  /** How many transactions wait, in all lanes. */
  get waiting(): number {
    return this.count
  }

  /** How many lanes have waiting transactions. */
  get waitingLanes(): number {
    return this.queue.size
  }

  /** How many connections a lane may hold while others need some. */
  get share(): number {
    return this.slowdown.most
  }

  lane(name: string): Lane<W> {
    const known = this.lanes.get(name)
    if (known) return known
    if (this.lanes.size >= remembered) this.forget()
    const lane: Lane<W> = { name, held: 0, waiting: [], isResting: false, refused: 0, forgottenAt: 0 }
    this.lanes.set(name, lane)
    return lane
  }

  /** Whether a transaction that comes now may have a connection that is free. A caller beside a flood makes the pool crowded. */
  admits(lane: Lane<W>, isCaller: boolean): boolean {
    if (lane.waiting.length > 0) return false
    const isSmall = this.isSmall(lane)
    if (isSmall && isCaller && this.count > 0) this.crowd()
    return isSmall || !this.isCrowded()
  }

  /** A call of the lane took so long: a sign of what others take from it, unless the lane floods the pool itself. */
  took(name: string, kind: string, ms: number): void {
    if (this.count === 0) {
      if (!this.isCrowded()) this.slowdown.tookCalm(kind, ms)
      return
    }
    const lane = this.lanes.get(name)
    const isCrowd = lane !== undefined && (lane.waiting.length > 0 || lane.held >= this.share)
    if (!isCrowd) this.slowdown.tookBeside(kind, ms, [...this.queue].some(isFlood))
  }

  /** For how long the lane does without a connection, now that it returns one that it held for so long, in ms. */
  rest(lane: Lane<W>, heldMs: number): number {
    if (!isFlood(lane) || !this.isCrowded()) return 0
    const ms = this.slowdown.restMs(heldMs)
    lane.isResting ||= ms > 0
    return ms
  }

  /** Whether a call that comes now in this lane, `lateMs` after it was sent, would be lent a connection in time. */
  isInTime(name: string, lateMs: number): boolean {
    const lane = this.lanes.get(name)
    if (lane === undefined) return true // nothing of it waits
    return this.backlog.hasRoom({
      asker: lane,
      waiting: lane.waiting.length,
      all: this.count,
      lanes: this.queue.size,
      lateMs,
    })
  }

  /**
   * Adds a transaction to the end of its lane. A caller that waits for other lanes makes the pool crowded. Returns the
   * transaction that must leave for it: none, the newcomer itself if its lane is full or the longest, or the newest of
   * the longest lane.
   */
  enter(lane: Lane<W>, newcomer: W, isCaller: boolean): W | undefined {
    // What waits behind its own lane does not wait for another.
    if (isCaller && lane.waiting.length === 0 && this.isSmall(lane)) this.crowd()
    if (lane.waiting.length >= this.perLane) return newcomer
    let leaving: W | undefined
    if (this.count >= this.perLane * fullLanes) {
      const longest = this.longest()
      if (longest.waiting.length <= lane.waiting.length + 1) return newcomer
      leaving = longest.waiting.at(-1)
      if (leaving !== undefined) this.leave(longest, leaving)
    }
    lane.waiting.push(newcomer)
    this.queue.add(lane)
    this.count += 1
    if (this.count === 1) this.backlog.began()
    return leaving
  }

  /** Removes a waiting transaction. Answers whether it was still waiting. */
  leave(lane: Lane<W>, waiter: W): boolean {
    const place = lane.waiting.indexOf(waiter)
    if (place === -1) return false
    lane.waiting.splice(place, 1)
    this.count -= 1
    if (this.count === 0) this.backlog.ended()
    if (lane.waiting.length === 0) this.queue.delete(lane)
    return true
  }

  /** The transaction whose turn it is; its lane holds a connection from now on. */
  next(): W | undefined {
    const lane = this.count === 0 ? undefined : this.nextLane()
    const waiter = lane?.waiting.shift()
    if (lane === undefined || waiter === undefined) return undefined
    this.count -= 1
    this.backlog.served()
    if (this.count === 0) this.backlog.ended()
    // To the end of the queue, if transactions still wait in it.
    this.queue.delete(lane)
    if (lane.waiting.length > 0) this.queue.add(lane)
    lane.held += 1
    return waiter
  }

  /** Few lanes can hold their share, so the search is short. */
  private nextLane(): Lane<W> | undefined {
    for (const lane of this.queue) if (this.isSmall(lane)) return lane
    const [first] = this.isCrowded() ? [] : this.queue
    return first
  }

  private isSmall({ held, isResting }: Lane<W>): boolean {
    return held < this.share && !(isResting && this.isCrowded())
  }

  private crowd(): void {
    this.crowdedUntil = performance.now() + crowdedMs
  }

  private isCrowded(): boolean {
    return this.crowdedUntil > 0 && performance.now() < this.crowdedUntil
  }

  private longest(): Lane<W> {
    let longest: Lane<W> | undefined
    for (const lane of this.queue) if (!longest || lane.waiting.length > longest.waiting.length) longest = lane
    if (!longest) throw new Error('nobody waits')
    return longest
  }

  private forget(): void {
    for (const [name, lane] of this.lanes) if (lane.held === 0 && lane.waiting.length === 0) this.lanes.delete(name)
  }
}
