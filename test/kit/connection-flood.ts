/** Starts connection-flood-process.ts, and ends it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { FloodPlan, FloodTold } from './connection-flood-process.ts'
import type { Flood } from './neighbour.ts'

const program = fileURLToPath(new URL('./connection-flood-process.ts', import.meta.url))

export interface RunningFlood extends Flood {
  readonly process: ChildProcess
}

/**
 * Half a request on each connection; answers are read unless `reads` is false. Resolves once the flood is under way.
 */
export async function beginFlood(plan: Pick<FloodPlan, 'port' | 'begin'> & Partial<FloodPlan>): Promise<RunningFlood> {
  const whole: FloodPlan = { connections: 100, source: '127.0.0.3', dripMs: 0, reads: true, ...plan }
  const child = spawn(process.execPath, [program, JSON.stringify(whole)], { stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk.toString()
  })
  await once(child.stdout, 'data')
  return {
    process: child,
    async end() {
      const ended = once(child, 'close')
      child.kill('SIGTERM')
      await ended
      const told = JSON.parse(out.trim().split('\n').at(-1) ?? '{}') as FloodTold
      return `opened ${told.opened} connections, ${told.mostOpen} at once; ${told.closed} were closed, ${told.failed} failed`
    },
  }
}
