/**
 * No pattern that a caller's text meets takes longer than its length (T-33): each one is run
 * against 1 MiB of what makes patterns go astray. One that does would not end before the sun
 * does, so the test only has to see that it ends at all.
 */
import { createContext, runInContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import type { Operation } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { openApiDocument } from '../../src/daemon/openapi.ts'
import { sourceFiles } from '../house/source.ts'

const patience = 20_000
const mebibyte = 1_048_576

/** Runs a pattern against one text after another in a place of its own, where it can be stopped; answers where it was. */
function stuckAt(pattern: string, texts: readonly string[], timeout = patience): string | undefined {
  const context = createContext({ pattern, texts, at: 0 })
  const program = 'const met = new RegExp(pattern, "u"); for (; at < texts.length; at += 1) met.test(texts[at])'
  try {
    runInContext(program, context, { timeout })
    return undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT')
      return texts[context['at'] as number]?.slice(0, 40)
    throw error
  }
}

const pumps = ['a', '0', '-', '.', '@', ' ', '/', 'A', 'é', 'a-', 'a.', 'a@', 'a0', '0.', '-.', ':', '%', '+', '\n']
/** The usual attack: something that nearly matches, very long, with an end that does not. */
const attacks = (start: string, length: number) =>
  pumps.flatMap((pump) => {
    const long = start + pump.repeat(Math.ceil(length / pump.length)).slice(0, length)
    return [long, `${long}!`, `${long}\u0000`]
  })
const longAttacks = attacks('', mebibyte)
const shortAttacks = attacks('', 65_536)

/** What a match has to begin with, as far as the pattern says so plainly. */
const plainStart = (pattern: string) => /^\^([A-Za-z0-9_@./:-]*)(?![*+?{])/.exec(pattern)?.[1] ?? ''

function patternsIn(value: unknown, found = new Set<string>()): Set<string> {
  if (value === null || typeof value !== 'object') return found
  for (const [name, member] of Object.entries(value)) {
    if (name === 'pattern' && typeof member === 'string') found.add(member)
    else patternsIn(member, found)
  }
  return found
}

const every: readonly Operation[] = Object.values(operations)
const patterns = [...patternsIn(openApiDocument(every))]

describe('the patterns of the schemas', () => {
  test('are found at all, and one that goes astray is', () => {
    expect(patterns.length).toBeGreaterThan(2)
    expect(stuckAt('^([a-z0-9]+-?)+$', ['-', `${'a'.repeat(39)}!`], 1_000)).toBe(`${'a'.repeat(39)}!`)
  })

  test.each(patterns)(
    '%s ends',
    (pattern) => {
      const start = plainStart(pattern)
      const texts = start === '' ? longAttacks : [...longAttacks, ...attacks(start, mebibyte)]
      expect(stuckAt(pattern, texts)).toBeUndefined()
    },
    120_000,
  )
})

describe('the patterns of passwords, settings and mails in the source', () => {
  const literal =
    /(?<![\w)\]/*])\/((?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])*)\/[dgimsuy]*/g
  const files = [
    ...['auth', 'providers', 'second-factor', 'settings'].flatMap((area) => sourceFiles(`src/core/contract/${area}`)),
    ...['auth', 'settings', 'mail'].flatMap((area) => sourceFiles(`src/core/areas/${area}`)),
    ...sourceFiles('src/core').filter(({ path }) => /\/(mail-settings|oidc-presets|set-up)\.ts$/.test(path)),
  ]
  const found = files
    .filter(({ path }) => !path.endsWith('/common-passwords.ts'))
    .flatMap(({ text }) =>
      [
        ...text
          .replace(/\/\*[\s\S]*?\*\//g, '')
          .replace(/(^|\s)\/\/.*$/gm, '')
          .matchAll(literal),
      ].map(([, source = '']) => source),
    )
    .filter((source) => {
      try {
        new RegExp(source, 'u')
        return true
      } catch {
        return false // a division, or a path in a text
      }
    })

  test.each([...new Set(found)])(
    '%s ends',
    (pattern) => {
      // A password has at most 1,024 characters, an address 254; no text longer than 64 KiB gets here.
      expect(stuckAt(pattern, shortAttacks)).toBeUndefined()
    },
    120_000,
  )
})
