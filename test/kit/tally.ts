/**
 * The summary that `npm test` prints at its end: the slowest files, with the time of import and
 * set-up and the time of tests, and the number of executed assertions. That number shows that a
 * change which makes the suite faster did not make it smaller.
 */
import type { Reporter, TestModule } from 'vitest/node'
import { summaryOfRefusals } from './refusals.ts'

const slowest = 10

/** `write` receives the text. */
export class Tally implements Reporter {
  private readonly write: (text: string) => void

  constructor(write: (text: string) => void = (text) => void process.stdout.write(text)) {
    this.write = write
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const files = modules.map(timesOf).toSorted((one, other) => other.total - one.total)
    const lines = files
      .slice(0, slowest)
      .map(({ name, ready, tests }) => `${seconds(ready)} + ${seconds(tests)}  ${name}`)
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const assertions = tests.reduce((sum, one) => sum + (one.meta().assertions ?? 0), 0)
    this.write(`\nImport and set-up + tests of the ${lines.length} slowest files, in seconds:\n${lines.join('\n')}\n`)
    this.write(`${assertions} assertions executed by ${tests.length} tests in ${modules.length} files\n`)
    this.write(`${summaryOfRefusals(tests.flatMap((one) => one.meta().refusals ?? []))}\n`)
  }
}

function timesOf(module: TestModule) {
  const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } = module.diagnostic()
  const ready = environmentSetupDuration + prepareDuration + collectDuration + setupDuration
  return { name: module.relativeModuleId, ready, tests: duration, total: ready + duration }
}

const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(1).padStart(6)
