/**
 * Scale: the cost of an installation of 10,000 workspaces and 1,000,000 journal rows, against a new
 * one. Both exist at the same time, so that they are compared in turns like everything else.
 */
import { get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { performForAnswer } from '../src/core/app/perform.ts'
import { journalOperations } from '../src/core/contract/journal/operations.ts'
import { residentMegabytes } from './cold-start.ts'
import { addWorkspaces, lengthenJournal } from './filler.ts'
import { type Ground, layGround } from './ground.ts'
import { startDaemon } from './processes.ts'
import { provision } from './provisioning.ts'
import { compare, elapsedMs, median } from './rounds.ts'
import { ceilingLine, type Line, ratioLine } from './table.ts'

const workspaces = 10_000
const journalRows = { few: 1_000, many: 1_000_000 }
const provisioned = 100
const rounds = 5

export async function scale(): Promise<Line[]> {
  const small = await layGround()
  const large = await layGround()
  try {
    await addWorkspaces(large.superuser, workspaces - 2 * provisioned)
    await lengthenJournal(small.superuser, journalRows.few)
    await lengthenJournal(large.superuser, journalRows.many)
    return [
      ...(await provisioningAtScale(small, large)),
      ...(await journalPages(small, large)),
      ...(await stream(large)),
    ]
  } finally {
    await large.remove()
    await small.remove()
  }
}

/** The first hundred of one installation against the last hundred of the other, twenty at a turn. */
async function provisioningAtScale(small: Ground, large: Ground): Promise<Line[]> {
  const turn = (ground: Ground) => async () => {
    const took: number[] = []
    for (let made = 0; made < provisioned / rounds; made += 1)
      took.push(await elapsedMs(() => provision(ground.installation, ground)))
    return median(took)
  }
  const { ours, bare } = await compare(turn(large), turn(small), rounds)
  const what = `provisioning the last ${provisioned} of ${workspaces} workspaces, against the first`
  return [ratioLine(what, { ours, bare, unit: 'ms' }, 'at most', 1.2)]
}

/** The first page, and one from the middle of the record. */
async function journalPages(small: Ground, large: Ground): Promise<Line[]> {
  const page = ({ installation, actor }: Ground, cursor?: string) =>
    performForAnswer(installation, journalOperations.listJournal, actor, { size: 50, ...(cursor ? { cursor } : {}) })
  const hundred = (ground: Ground, cursor?: string) => () =>
    elapsedMs(async () => {
      for (let read = 0; read < 100; read += 1) await page(ground, cursor)
    })
  const lines: Line[] = []
  const next = async (ground: Ground) => (await page(ground)).next_cursor ?? undefined
  const cursors = [
    { which: 'first', few: undefined, many: undefined },
    { which: 'next', few: await next(small), many: await next(large) },
  ]
  for (const { which, few, many } of cursors) {
    const { ours, bare } = await compare(hundred(large, many), hundred(small, few), rounds)
    const what = `100 × the journal's ${which} page at ${journalRows.many} rows, against ${journalRows.few}`
    lines.push(ratioLine(what, { ours, bare, unit: 'ms' }, 'at most', 1.5))
  }
  return lines
}

/** A small heap, so that growth means memory in use, and not garbage that was not collected yet. */
const tight = { NODE_OPTIONS: '--max-semi-space-size=4 --max-old-space-size=128' }

/** The whole list of workspaces through a daemon: the time of its first byte, and its memory. */
async function stream(ground: Ground): Promise<Line[]> {
  const daemon = await startDaemon({
    ...ground.environment,
    ...tight,
  })
  try {
    await download(daemon.address, ground.token) // the memory of the first call does not count
    const before = await residentMegabytes(daemon.pid)
    const reads = []
    let peak = before
    let isOver = false
    const watching = (async () => {
      for (; !isOver; await pause(10)) peak = Math.max(peak, await residentMegabytes(daemon.pid))
    })()
    for (let round = 0; round < rounds; round += 1) reads.push(await download(daemon.address, ground.token))
    isOver = true
    await watching
    const bytes = reads[0]?.bytes ?? 0
    const figures = {
      ours: median(reads.map(({ firstByteMs }) => firstByteMs)),
      bare: median(reads.map(({ wholeMs }) => wholeMs)),
    }
    return [
      ratioLine('GET /admin/tenants: its first byte, against all of it', { ...figures, unit: 'ms' }, 'at most', 0.25),
      ceilingLine(
        `GET /admin/tenants: memory grown by over ${rounds} lists of ${(bytes / 1e6).toFixed(1)} MB`,
        peak - before,
        'MB',
        30,
      ),
    ]
  } finally {
    await daemon.stop()
  }
}

function download(address: string, token: string): Promise<{ firstByteMs: number; wholeMs: number; bytes: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ firstByteMs: number; wholeMs: number; bytes: number }>()
  const started = performance.now()
  get(`${address}/api/v1/admin/tenants`, { headers: { authorization: `Bearer ${token}` } }, (response) => {
    if (response.statusCode !== 200) reject(new Error(`the list was answered with ${response.statusCode}`))
    let bytes = 0
    let firstByteMs = 0
    response.on('data', (chunk: Buffer) => {
      if (bytes === 0) firstByteMs = performance.now() - started
      bytes += chunk.length
    })
    response.on('end', () => resolve({ firstByteMs, wholeMs: performance.now() - started, bytes }))
  }).on('error', reject)
  return promise
}
