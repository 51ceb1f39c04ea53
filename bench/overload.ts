/**
 * Overload: twice the highest rate that a daemon holds, against that rate; clients that wait for their answers, of which
 * nothing is refused; and a second workspace's ten requests a second beside the same flood, against the same requests
 * alone. Each request of a rate is due at its moment (open-loop.ts). The flood has a process of its own; the neighbour is
 * measured here. Where the system allows it, the daemon has the priority that deploy/svc.service gives it, and the neighbour
 * the highest: it is little work, and must not wait here behind what it measures.
 *
 * A rate holds if 99 % of its requests are answered, with a p99 of at most 250 ms, and nothing fails, for as long as the flood
 * lasts that is compared with it.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fillBoards } from './board-filler.ts'
import { addWorkspace, type Ground } from './ground.ts'
import { type Mix, openMix } from './load-mix.ts'
import { heldShare, latencyMs, type Outcome, quantile, sendAtRate, toldOf } from './open-loop.ts'
import type { FloodOrder, FloodSettings } from './overload-process.ts'
import { startServer } from './processes.ts'
import { ceilingLine, type Line, ratioLine } from './table.ts'

const rates = [1500, 1350, 1200, 1050, 900, 750, 600, 450, 300]
/** A new daemon compiles its code while it serves. */
const warmUp = [300, 600]
const secondsEach = 12
/** The rate that holds and twice that, for equally long: a shorter time finds a rate that the machine does not keep up. */
const floodSeconds = 25
/** Connections of one workspace whose callers wait for their answers. */
const clients = 64
const neighbourRate = 10
/** The p99 of fewer than six hundred requests is that of two or three. */
const neighbourSeconds = 60

const unit = readFileSync(join(import.meta.dirname, '../deploy/svc.service'), 'utf8')
const [, niceness = '0'] = /^Nice=(-?[0-9]+)$/m.exec(unit) ?? []
/** `nice` runs the daemon with ordinary priority where no other is allowed. */
const asService = ['nice', '-n', niceness, join(import.meta.dirname, '../bin/svc'), 'daemon']

const size = { boards: 40, buckets: 5, itemsEach: 250 }
const small = { boards: 4, buckets: 5, itemsEach: 250 }

export async function overload(ground: Ground): Promise<Line[]> {
  const boards = await fillBoards(ground, size)
  const neighbour = await addWorkspace(ground, 'neighbour')
  const ownBoards = await fillBoards({ ...ground, ...neighbour }, small)
  const daemon = await startServer(asService, ground.environment)
  const mix = openMix(daemon.address, neighbour, ownBoards)
  const flood = startFlood({ address: daemon.address, token: ground.token, boards })
  // Not earlier: the daemon and the flood would inherit it.
  preferThis()
  try {
    for (const rate of warmUp) await flood.send({ rate, seconds: 5 })
    const held = await highestHeld(flood)
    const flooded = await flood.send({ rate: 2 * held.rate, seconds: floodSeconds })
    const served = await flood.send({ clients, seconds: secondsEach })
    await sendAtRate(mix, neighbourRate, 3)
    const alone = await neighbourBeside(mix, Promise.resolve())
    const pressed = await neighbourBeside(mix, flood.send({ rate: 2 * held.rate, seconds: neighbourSeconds }))
    return [...linesOfFlood(held, flooded), lineOfClients(served), ...linesOfNeighbour(alone, pressed)]
  } finally {
    await flood.end()
    await mix.close()
    await daemon.stop()
  }
}

interface Held {
  readonly rate: number
  readonly outcome: Outcome
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

function preferThis(): void {
  try {
    setPriority(constants.priority.PRIORITY_HIGHEST)
  } catch {
    process.stderr.write(
      "overload: no higher priority is allowed here, so the neighbour's latencies include its own waits\n",
    )
  }
}

async function highestHeld(flood: Flood): Promise<Held> {
  for (const rate of rates) {
    if (isHeld(await flood.send({ rate, seconds: secondsEach }))) {
      const outcome = await flood.send({ rate, seconds: floodSeconds })
      if (isHeld(outcome)) return { rate, outcome }
    }
    await pause(1_000)
  }
  throw new Error('no rate holds')
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

const p99 = (of: Outcome) => quantile(partsOf(of).answered, 0.99)

function linesOfFlood(held: Held, outcome: Outcome): Line[] {
  const name = `overload: ${2 * held.rate} mixed requests a second, where ${held.rate} hold`
  const { answered, refused, failures } = partsOf(outcome)
  return [
    ratioLine(
      `${name}: answered in a second`,
      { ours: answered.length / floodSeconds, bare: held.rate, unit: '/s' },
      'at least',
      0.9,
    ),
    ratioLine(
      `${name}: p99 of the answered, against the held rate`,
      { ours: quantile(answered, 0.99), bare: p99(held.outcome), unit: 'ms' },
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
