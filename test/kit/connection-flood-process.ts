/**
 * A flood of connections, in its own process: it opens as many as it is told, each second opens new ones for those that
 * were closed, and on SIGTERM prints what happened to them. Started by connection-flood.ts.
 */
import { connect, type Socket } from 'node:net'

export interface FloodPlan {
  readonly port: number
  readonly connections: number
  /** The address that the connections come from. */
  readonly source: string
  /** What each sends at once. */
  readonly begin: string
  /** Each sends one more byte every so many ms; 0: never. */
  readonly dripMs: number
  /** Whether it reads the answers. */
  readonly reads: boolean
}

export interface FloodTold {
  readonly opened: number
  /** The most at the same time. */
  readonly mostOpen: number
  readonly closed: number
  readonly failed: number
}

const plan = JSON.parse(process.argv[2] ?? '') as FloodPlan
const open = new Set<Socket>()
let [opened, mostOpen, closed, failed] = [0, 0, 0, 0]
let isEnding = false

function openOne(): void {
  const socket = connect({ host: '127.0.0.1', port: plan.port, localAddress: plan.source })
  open.add(socket)
  socket.once('connect', () => {
    opened += 1
    mostOpen = Math.max(mostOpen, open.size)
    if (plan.reads) socket.resume()
    else socket.pause()
    socket.write(plan.begin)
  })
  socket.on('error', () => {
    if (socket.connecting) failed += 1
  })
  socket.once('close', () => {
    open.delete(socket)
    if (!isEnding) closed += 1
  })
}

function fill(): void {
  for (let missing = plan.connections - open.size; missing > 0; missing -= 1) openOne()
}

fill()
setInterval(fill, 1_000)
if (plan.dripMs > 0)
  setInterval(() => {
    for (const socket of open) socket.write('x')
  }, plan.dripMs)
// The first connections are open by now.
setTimeout(() => process.stdout.write('flooding\n'), 1_000)

process.once('SIGTERM', () => {
  isEnding = true
  const told: FloodTold = { opened, mostOpen, closed, failed }
  process.stdout.write(`${JSON.stringify(told)}\n`, () => process.exit(0))
})
