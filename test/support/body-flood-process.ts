/** A flood as a process of its own: the same request over and over, on some connections. Prints what it was answered once its standard input ends. */
import { Agent, request } from 'node:http'

export interface FloodOrder {
  readonly port: number
  readonly connections: number
  readonly method: string
  readonly path: string
  /** What stands in a body of `bytes`: `unit` over and over, between `open` and `close`; `#` is a running number. */
  readonly body?: { readonly open: string; readonly unit: string; readonly close: string; readonly bytes: number }
}

const { port, connections, method, path, body }: FloodOrder = JSON.parse(process.argv[2] ?? '{}')
const text = body === undefined ? undefined : textOf(body)
const answers: Record<string, number> = {}
let isOver = false

function textOf({ open, unit, close, bytes }: NonNullable<FloodOrder['body']>): string {
  const units: string[] = []
  for (let length = open.length + close.length, at = 0; length < bytes; at += 1) {
    const next = unit.replace('#', String(at))
    units.push(next)
    length += next.length + 1
  }
  return `${open}${units.slice(0, -1).join(',')}${close}`
}

const once = (agent: Agent) =>
  new Promise<number | string>((resolve) => {
    const headers = text === undefined ? {} : { 'content-type': 'application/json', 'content-length': text.length }
    const sent = request({ agent, port, host: '127.0.0.1', method, path, headers }, (response) => {
      response.resume().once('close', () => resolve(response.statusCode ?? 0))
    })
    sent.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    sent.end(text)
  })

async function flood(): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  while (!isOver) {
    const answer = await once(agent)
    answers[answer] = (answers[answer] ?? 0) + 1
  }
  agent.destroy()
}

process.stdin.resume().once('end', () => {
  isOver = true
})
process.stdout.write('flooding\n')
await Promise.all(Array.from({ length: connections }, flood))
process.stdout.write(`${JSON.stringify(answers)}\n`)
