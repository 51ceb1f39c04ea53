/** A flood for neighbour.ts: starts flood-process.ts, and says at its end what it was answered. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { FloodOrder } from './flood-process.ts'
import type { Flood } from './neighbour.ts'

export async function beginFlood(order: FloodOrder): Promise<Flood> {
  const main = fileURLToPath(new URL('./flood-process.ts', import.meta.url))
  const child = spawn(process.execPath, [main, JSON.stringify(order)], { stdio: ['pipe', 'pipe', 'inherit'] })
  let told = ''
  child.stdout.on('data', (text) => {
    told += String(text)
  })
  const begun = performance.now()
  // Until it floods: its process takes a third of a second to start.
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  return {
    async end() {
      child.stdin.end()
      await once(child, 'close')
      const seconds = (performance.now() - begun) / 1000
      const counts = Object.entries(JSON.parse(told) as Record<string, number>)
      return `was answered in ${seconds.toFixed(0)} s: ${counts.map(([status, count]) => `${count} × ${status}`).join(', ')}`
    },
  }
}
