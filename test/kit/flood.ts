/** A flood of calls for neighbour.ts: starts flood-process.ts, and at the end tells which answers it got. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { FloodOrder } from './flood-process.ts'
import type { Flood } from './neighbour.ts'

export interface FloodOfCalls extends Flood {
  /** How often each status or error was the answer; filled when the flood ends. */
  readonly answers: Readonly<Record<string, number>>
}

/** Resolves once the calls are under way. */
export async function beginFlood(
  order: Partial<FloodOrder> & Pick<FloodOrder, 'daemon' | 'path'>,
): Promise<FloodOfCalls> {
  const whole: FloodOrder = { from: '127.0.0.2', connections: 2, method: 'POST', bodies: [], ...order }
  const main = fileURLToPath(new URL('./flood-process.ts', import.meta.url))
  const child = spawn(process.execPath, [main, JSON.stringify(whole)], { stdio: ['pipe', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.on('data', (text) => {
    out += String(text)
  })
  await once(child.stdout, 'data')
  const begun = performance.now()
  const answers: Record<string, number> = {}
  return {
    answers,
    async end() {
      child.stdin.end()
      await once(child, 'close')
      Object.assign(answers, JSON.parse(out.trim().split('\n').at(-1) ?? '{}'))
      const seconds = (performance.now() - begun) / 1000
      const counts = Object.entries(answers).map(([status, count]) => `${count} × ${status}`)
      return `was answered in ${seconds.toFixed(0)} s: ${counts.join(', ')}`
    },
  }
}
