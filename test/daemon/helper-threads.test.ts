/** The thread that answers keeps the higher priority of its process, and no other thread has it (docs/decisions/0509). */
import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { shows } from '../kit/needs.ts'

const part = new URL('../../src/daemon/helper-threads.ts', import.meta.url).href

/** How nice each thread is: the 19th member of its line. */
const looks = `
  const { readFileSync, readdirSync } = await import('node:fs')
  const nicenessOf = (thread) => Number(readFileSync('/proc/self/task/' + thread + '/stat', 'utf8').replace(/^.*\\) /, '').split(' ')[16])
  const threads = readdirSync('/proc/self/task')
  const isMain = (thread) => thread === String(process.pid)
  console.log(JSON.stringify({ main: threads.filter(isMain).map(nicenessOf), others: threads.filter((one) => !isMain(one)).map(nicenessOf) }))`

const priorityOf = (niceness: number, ...command: readonly string[]) =>
  execFileSync('nice', ['-n', String(niceness), ...command], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })

function threadsAt(niceness: number, before = ''): { readonly main: number[]; readonly others: number[] } {
  const text = `${before}; const { lowerHelperThreads } = await import('${part}'); await lowerHelperThreads(); ${looks}`
  return JSON.parse(priorityOf(niceness, process.execPath, '--input-type=module', '--eval', text))
}

const mayRaise = shows(
  'threads of a process of high priority',
  'Linux, and the right to raise a priority',
  process.platform === 'linux' && priorityOf(-5, 'nice').trim() === '-5',
)

test.runIf(mayRaise)('in a process of high priority, only the thread that answers has it', () => {
  const { main, others } = threadsAt(-5)
  expect(main).toEqual([-5])
  expect(others.length).toBeGreaterThan(1)
  expect(new Set(others)).toEqual(new Set([0]))
})

test.runIf(mayRaise)('where no program can do it, the process goes on', () => {
  expect(threadsAt(-5, "process.env.PATH = '/nowhere'").main).toEqual([-5])
})

test.skipIf(process.platform !== 'linux')('in any other process, all threads have the same', () => {
  const { main, others } = threadsAt(3)
  expect(new Set([...main, ...others])).toEqual(new Set([3]))
})
