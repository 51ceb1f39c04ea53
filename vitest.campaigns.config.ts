import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineConfig, mergeConfig } from 'vitest/config'
import { CampaignTable } from './test/kit/campaign-table.ts'
import base from './vitest.config.ts'

/** The campaigns, the faults, and every other test file that has a longer form, run with their full counts. */
const campaigns = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => join('test', name))
  .filter((path) => /^test.(campaigns|faults)\b/.test(path) || readFileSync(path, 'utf8').includes('SVC_FAULTS'))

const merged = mergeConfig(base, { test: { maxWorkers: 1, testTimeout: 1_800_000, hookTimeout: 120_000 } })
export default defineConfig({
  ...merged,
  test: { ...merged.test, include: campaigns, reporters: ['default', new CampaignTable()] },
})
