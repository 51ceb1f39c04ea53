/**
 * No pattern of a contract can be made slow by what is sent: each is anchored at both ends,
 * and none repeats what repeats. T-33.
 *
 * Two looks at each: its form, and a run over a megabyte that nearly matches, in a process
 * of its own that is ended if the pattern does not. That a pattern which is exponential is
 * found by both is shown on one.
 */
import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { operations } from '../../src/core/operations.ts'
import { openApiDocument } from '../../src/daemon/openapi.ts'

/** Every pattern in the document, wherever it stands. */
function patternsIn(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return found
  for (const [name, member] of Object.entries(value)) {
    if (name === 'pattern' && typeof member === 'string') found.add(member)
    else patternsIn(member, found)
  }
  return found
}
const patterns = [...patternsIn(openApiDocument(Object.values(operations)))]

/** Whether a group that is repeated without end holds something that is repeated without end. */
function repeatsRepetition(pattern: string): boolean {
  const text = pattern.replace(/\\./g, 'x').replace(/\[(?:[^\]])*\]/g, 'x')
  const open: number[] = []
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '(') open.push(at)
    if (text[at] !== ')') continue
    const group = text.slice(open.pop(), at)
    if (/^(?:[*+]|\{\d+,\})/.test(text.slice(at + 1)) && /[*+]|\{\d+,\}/.test(group)) return true
  }
  return false
}

const sizeBytes = 1_048_576

/** Whether the pattern answers for texts of 1 MiB that nearly match, before it is ended. */
function ends(pattern: string): boolean {
  const program = `
    const pattern = new RegExp(process.argv[1], 'u')
    for (const unit of ['a', '0', '-', 'a-', '.', 'a.', 'A', ' ', 'http://a', '0-', '@', 'a@a.', '+', '/', ':', '2026-01-01T', 'é']) {
      const long = unit.repeat(Math.ceil(${sizeBytes} / unit.length))
      for (const end of ['', '!', '\\u0000', '\\n']) pattern.test(long + end)
    }`
  return spawnSync(process.execPath, ['-e', program, pattern], { timeout: 20_000 }).status === 0
}

test('there are patterns to look at', () => expect(patterns.length).toBeGreaterThan(4))

describe.each(patterns.map((pattern) => [pattern]))('%s', (pattern) => {
  test('is anchored at both ends', () => expect(pattern).toMatch(/^\^.*\$$/s))
  test('repeats nothing that repeats', () => expect(repeatsRepetition(pattern)).toBe(false))
  test('answers for a megabyte that nearly matches', () => expect(ends(pattern)).toBe(true))
})

test('an exponential pattern is found by both looks', () => {
  expect(repeatsRepetition('^([a-z0-9]+-?)+$')).toBe(true)
  expect(repeatsRepetition('^(?:a|b{2,})*$')).toBe(true)
  expect(repeatsRepetition('^[a-z0-9][a-z0-9-]{2,39}$')).toBe(false)
  const program = "new RegExp('^([a-z0-9]+-?)+$').test('a'.repeat(64) + '!')"
  expect(spawnSync(process.execPath, ['-e', program], { timeout: 3_000 }).status).not.toBe(0)
})
