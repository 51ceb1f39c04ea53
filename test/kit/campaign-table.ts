/**
 * The table that `npm run test:campaigns` prints at its end: a line for each test of each campaign,
 * with the counts in its name, its result and its duration.
 */
import Table from 'cli-table3'
import type { Reporter, TestCase, TestModule } from 'vitest/node'

const results = { passed: 'passed', failed: 'FAILED', skipped: 'skipped', pending: 'NOT RUN' } as const

/** `text` receives the table; standard output by default. */
export class CampaignTable implements Reporter {
  private readonly write: (text: string) => void

  constructor(write: (text: string) => void = (text) => void process.stdout.write(text)) {
    this.write = write
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const table = new Table({
      head: ['campaign', 'test', 'result', 'seconds'],
      colAligns: ['left', 'left', 'left', 'right'],
      colWidths: [null, 90, null, null],
      wordWrap: true,
      style: { head: [], border: [] },
    })
    let failed = 0
    let passed = 0
    for (const module of modules) {
      const tests = [...module.children.allTests()]
      // A file that failed before its first test is a campaign that did not run.
      if (tests.length === 0) table.push([module.relativeModuleId, '', 'NOT RUN', ''])
      if (tests.length === 0) failed += 1
      for (const one of tests) {
        const { state } = one.result()
        if (state === 'passed') passed += 1
        else failed += 1
        table.push([module.relativeModuleId, one.fullName, results[state], secondsOf(one)])
      }
    }
    this.write(`\n${table.toString()}\n${modules.length} campaigns: ${passed} passed, ${failed} failed or not run\n`)
  }
}

const secondsOf = (one: TestCase) => ((one.diagnostic()?.duration ?? 0) / 1000).toFixed(1)
