/** The generated pages say what the code says. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { pages } from '../../scripts/pages.ts'
import { root } from './source.ts'

const generated = Object.entries(await pages())

describe('generated pages', () => {
  test.each(generated)('%s is fresh', (path, text) => {
    expect(existsSync(join(root, path)), 'run `npm run docs`').toBe(true)
    expect(readFileSync(join(root, path), 'utf8'), 'run `npm run docs`').toBe(text)
  })
})

test('a setting that is a number shows its default as well', () => {
  expect(Object.fromEntries(generated)['docs/generated/configuration.md']).toContain('| `SVC_PORT` | `8080` |')
})
