/** docs/runbooks/point-in-time-recovery.md, followed on PostgreSQL as Debian has it: archived, lost, recovered, admitted. */
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type Ground, openGround } from '../docs/ground.ts'
import { deploying } from '../docs/stories/deploying.ts'
import { canRecover, recovery } from '../docs/stories/recovering.ts'
import { follow } from '../docs/story.ts'

if (!canRecover)
  process.stderr.write(`Skipped: there is no PostgreSQL of the distribution (Debian's package postgresql)\n`)

describe.runIf(canRecover)(recovery.page, () => {
  let ground: Ground
  beforeAll(async () => {
    ground = await openGround('archiving')
    const terminal = await ground.terminal({ env: {} })
    // Until the set-up.
    await follow({ ...deploying, steps: deploying.steps.slice(0, 4) }, ground, terminal)
    await terminal.close()
  }, 120_000)
  afterAll(() => ground.remove(), 60_000)

  test('brings back what was placed after the time', async () => {
    const terminal = await ground.terminal()
    await follow(recovery, ground, terminal)
    await terminal.close()
  }, 240_000)
})
