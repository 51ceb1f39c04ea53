/**
 * F-06: real point-in-time recoveries. An embedded installation, its base backup, holds placed
 * and released, a rewind, the whole run-book, and what has to be true afterwards.
 *
 *     SVC_FAULTS=full vitest run test/faults/drills.test.ts    10 drills instead of 1
 */
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { performForAnswer } from '../../src/core/app/perform.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { drill } from '../../src/core/drill/drill.ts'
import { type Config, readConfig } from '../../src/core/kernel/config/config.ts'
import { type Embedded, holdEmbedded } from '../../src/core/kernel/database/embedded.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'

const drills = process.env['SVC_FAULTS'] === 'full' ? 10 : 1
const longestMs = 30_000

let config: Config
let live: Embedded

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-drill-'))
  chmodSync(folder, 0o711) // under root the server's user has to get in
  config = readConfig({ SVC_DATA_DIR: folder })
  live = await holdEmbedded(folder)
  const booted = await bootInstallation(config, { works: false, applicationName: 'svc test' })
  await performForAnswer(booted.installation, operations.setUpInstallation, recoveryActor(), {
    body: {
      set_up_token: 'not asked for',
      workspace: { slug: 'first', display_name: 'First' },
      owner: { email: 'ops@first.example', display_name: 'Olive', password: 'correct horse battery' },
    },
  })
  await booted.close()
})
afterAll(async () => {
  await live.release()
  rmSync(config.dataDir, { recursive: true, force: true })
  rmSync(dirname(live.where), { recursive: true, force: true })
})

test.each(Array.from({ length: drills }, (_, count) => count + 1))(
  'drill %i loses no obligation',
  async () => {
    const before = readdirSync(config.dataDir).sort()
    const report = await drill(config, () => {})
    expect(report.proved.filter(({ holds }) => !holds)).toEqual([])
    expect(report.replaced).toEqual({ 'hold.place': 2, 'operator.add': 1, 'token.revoke': 1, 'purge.repeat': 1 })
    expect(report.second_run).toBe(0)
    expect(report.passed).toBe(true)
    expect(report.took_ms).toBeLessThan(longestMs)
    expect(readdirSync(config.dataDir).sort(), 'nothing is left behind').toEqual(before)
  },
  2 * longestMs,
)
