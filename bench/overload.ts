/**
 * Overload: twice the highest rate that a daemon holds, against that rate; clients that wait for their answers, of which
 * nothing is refused; and a second workspace's ten requests a second beside the same flood, against the same requests
 * alone. Each request of a rate is due at its moment (open-loop.ts). The flood has a process of its own; the neighbour is
 * measured here. Where the system allows it, the daemon has the priority that deploy/svc.service gives it, and the neighbour
 * the highest: it is little work, and must not wait here behind what it measures. The flood is much work, which with that
 * priority would be taken from PostgreSQL.
 *
 * A rate holds if 99 % of its requests are answered, with a p99 of at most 250 ms, and nothing fails, for as long as the flood
 * lasts that is compared with it. What is compared is measured in turns, and its p99 is that of all turns together.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fillBoards } from './board-filler.ts'
import { addWorkspace, type Ground } from './ground.ts'
import { type Mix, openMix } from './load-mix.ts'
import { heldShare, latencyMs, type Outcome, quantile, sendAtRate, summed, toldOf } from './open-loop.ts'
import type { FloodOrder, FloodSettings } from './overload-process.ts'
import { goFirst } from './priority.ts'
import { startService } from './processes.ts'
import { ceilingLine, type Line, ratioLine } from './table.ts'

const rates = [1500, 1350, 1200, 1050, 900, 750, 600, 450, 300]
/** Below the step that does not hold, the half of it is tried. */
const halfStep = 75
/** A new daemon compiles its code while it serves. */
const warmUp = [300, 600]
const secondsEach = 12
/** The rate that holds and twice that, for equally long: a shorter time finds a rate that the machine does not keep up. */
const floodSeconds = 25
/** What is compared is measured in turns, so often: a p99 is of few requests, and the machine is not equally fast for minutes. */
const turns = 3
/** Connections of one workspace whose callers wait for their answers. */
const clients = 64
const neighbourRate = 10
const neighbourSeconds = 60

const size = { boards: 40, buckets: 5, itemsEach: 250 }
const small = { boards: 4, buckets: 5, itemsEach: 250 }

export async function overload(ground: Ground): Promise<Line[]> {
  const boards = await fillBoards(ground, size)
  const neighbour = await addWorkspace(ground, 'neighbour')
  const ownBoards = await fillBoards({ ...ground, ...neighbour }, small)
  const daemon = await startService(ground.environment)
  const mix = openMix(daemon.address, neighbour, ownBoards)
  const flood = startFlood({ address: daemon.address, token: ground.token, boards })
  // Not earlier: the daemon and the flood would inherit it.
  const standBack = goFirst()
  try {
    for (const rate of warmUp) await flood.send({ rate, seconds: 5 })
    const rate = await highestHeld(flood)
    const send = (rate: number) => flood.send({ rate, seconds: floodSeconds })
    const [held, flooded] = await inTurns(
      () => send(rate),
      () => send(2 * rate),
    )
    const served = await flood.send({ clients, seconds: secondsEach })
    await sendAtRate(mix, neighbourRate, 3)
    const [alone, pressed] = await inTurns(
      () => neighbourBeside(mix, Promise.resolve()),
      () => neighbourBeside(mix, flood.send({ rate: 2 * rate, seconds: neighbourSeconds })),
    )
    return [...linesOfFlood(rate, held, flooded), lineOfClients(served), ...linesOfNeighbour(alone, pressed)]
  } finally {
    await flood.end()
    await mix.close()
    await daemon.stop()
    standBack()
  }
}

/** What the turns of both sides came to together. */
async function inTurns(one: () => Promise<Outcome>, other: () => Promise<Outcome>): Promise<[Outcome, Outcome]> {
  const [ones, others]: [Outcome[], Outcome[]] = [[], []]
  for (let turn = 0; turn < turns; turn += 1) {
    ones.push(await one())
    others.push(await other())
  }
  return [summed(ones), summed(others)]
}

interface Flood {
  send(order: FloodOrder): Promise<Outcome>
  end(): Promise<void>
}

function startFlood(settings: FloodSettings): Flood {
  const child: ChildProcess = fork(join(import.meta.dirname, 'overload-process.ts'), [JSON.stringify(settings)], {
    serialization: 'advanced',
  })
  return {
    async send(order) {
      child.send(order)
      const [outcome] = (await once(child, 'message')) as [Outcome]
      const what = 'rate' in order ? `${order.rate}/s` : `${order.clients} clients`
      process.stderr.write(`overload ${what}: ${toldOf(outcome)}\n`)
      return outcome
    },
    async end() {
      if (child.connected) child.disconnect()
      if (child.exitCode === null) await once(child, 'exit')
    },
  }
}

async function highestHeld(flood: Flood): Promise<number> {
  for (const rate of rates) {
    if (await holds(flood, rate)) return (await holds(flood, rate + halfStep)) ? rate + halfStep : rate
    await pause(1_000)
  }
  throw new Error('no rate holds')
}

/** Tried for a short time, and then for as long as it is compared. */
async function holds(flood: Flood, rate: number): Promise<boolean> {
  for (const seconds of [secondsEach, floodSeconds]) if (!isHeld(await flood.send({ rate, seconds }))) return false
  return true
}

function isHeld(outcome: Outcome): boolean {
  const { answered, failures } = partsOf(outcome)
  const isAnswered = answered.length >= outcome.due * heldShare
  return isAnswered && quantile(answered, 0.99) <= latencyMs && failures === 0
}

/** The neighbour's requests for as long as the flood takes. */
async function neighbourBeside(mix: Mix, flood: Promise<unknown>): Promise<Outcome> {
  const [outcome] = await Promise.all([sendAtRate(mix, neighbourRate, neighbourSeconds), flood])
  process.stderr.write(`neighbour: ${toldOf(outcome)}\n`)
  return outcome
}

/** Answered, refused by the door, and failed in another way. */
function partsOf({ due, byStatus, failed }: Outcome) {
  const of = (isWanted: (status: number) => boolean) =>
    Float64Array.from([...byStatus].flatMap(([status, took]) => (isWanted(status) ? [...took] : []))).sort()
  const answered = of((status) => status < 500)
  const refused = of((status) => status === 503)
  const unsent = due - [...byStatus.values()].reduce((sum, { length }) => sum + length, failed)
  return { answered, refused, failures: of((status) => status >= 500 && status !== 503).length + failed + unsent }
}

const aSecond = ({ length }: Float64Array) => length / (turns * floodSeconds)
const p99 = (of: Outcome) => quantile(partsOf(of).answered, 0.99)

function linesOfFlood(rate: number, held: Outcome, outcome: Outcome): Line[] {
  const name = `overload: ${2 * rate} mixed requests a second, where ${rate} hold`
  const { answered, refused, failures } = partsOf(outcome)
  return [
    ratioLine(
      `${name}: answered in a second`,
      { ours: aSecond(answered), bare: aSecond(partsOf(held).answered), unit: '/s' },
      'at least',
      0.9,
    ),
    ratioLine(
      `${name}: p99 of the answered, against the held rate`,
      { ours: quantile(answered, 0.99), bare: p99(held), unit: 'ms' },
      'at most',
      3,
    ),
    ceilingLine(`${name}: p99 of ${refused.length} refusals`, quantile(refused, 0.99), 'ms', 100),
    ceilingLine(`${name}: failures that are no 503`, failures, '', 0),
  ]
}

function lineOfClients(outcome: Outcome): Line {
  const { refused, failures } = partsOf(outcome)
  return ceilingLine(`${clients} connections that are busy all the time: refused`, refused.length + failures, '', 0)
}

function linesOfNeighbour(alone: Outcome, pressed: Outcome): Line[] {
  const neighbour = partsOf(pressed)
  return [
    ceilingLine(
      `${neighbourRate} requests a second of another workspace beside it: refused`,
      neighbour.refused.length + neighbour.failures,
      '',
      0,
    ),
    ratioLine(
      `${neighbourRate} requests a second of another workspace beside it: p99, against alone`,
      { ours: p99(pressed), bare: p99(alone), unit: 'ms' },
      'at most',
      2,
    ),
  ]
}
