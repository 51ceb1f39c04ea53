/** A daemon that has nothing to do gives back what its start has left behind, and not before (docs/decisions/0492). */
import { spawn } from 'node:child_process'
import { expect, test } from 'vitest'

const part = new URL('../../src/daemon/start-garbage.ts', import.meta.url).href

/** Runs until the collection came, or the time is over; answers what the engine says of its collections. */
async function collections(meanwhile: string, withinMs: number): Promise<string> {
  const text = `const { collectStartGarbage } = await import('${part}'); collectStartGarbage(); ${meanwhile}`
  const child = spawn(process.execPath, ['--trace-gc', '--input-type=module', '--eval', text], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  const over = setTimeout(() => child.kill(), withinMs)
  child.stdout.on('data', (chunk: Buffer) => {
    said += chunk.toString()
    if (said.includes('Mark-Compact')) child.kill()
  })
  await new Promise((resolve) => child.once('close', resolve))
  clearTimeout(over)
  return said
}

test('an idle process collects once, and a busy one does not', async () => {
  expect(await collections('setInterval(() => {}, 1_000)', 20_000)).toContain('Mark-Compact')
  const busy = 'setInterval(() => { const end = performance.now() + 50; while (performance.now() < end); }, 60)'
  expect(await collections(busy, 4_000)).not.toContain('Mark-Compact')
}, 60_000)
