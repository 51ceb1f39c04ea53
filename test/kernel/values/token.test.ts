/** Tokens check themselves, so that garbage asks no database. Spec: decisions 2, Tokens. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { hashToken, isTokenShaped, mintToken, type TokenKind } from '../../../src/core/kernel/values/token.ts'

const kinds: readonly TokenKind[] = ['personal', 'service', 'session', 'refresh', 'stepUp', 'invitation']
const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

describe.each(kinds)('a %s token', (kind) => {
  test('has its form, its hash, and no twin', () => {
    const minted = Array.from({ length: 200 }, () => mintToken(kind))
    for (const { token, hash, last4 } of minted) {
      expect(token).toMatch(/^svc[parsui]_[0-9A-Za-z]{49}$/)
      expect(isTokenShaped(token, kind)).toBe(true)
      expect(hash).toEqual(hashToken(token))
      expect(token.endsWith(last4)).toBe(true)
    }
    expect(new Set(minted.map(({ token }) => token)).size).toBe(200)
  })

  test('is no token of another kind, whatever is written in front of it', () => {
    const { token } = mintToken(kind)
    const others = kinds.filter((other) => other !== kind)
    expect(isTokenShaped(token, ...others)).toBe(false)
    for (const other of others) {
      const prefix = mintToken(other).token.slice(0, 5)
      expect(isTokenShaped(prefix + token.slice(5), ...kinds)).toBe(false)
    }
  })
})

test('any one wrong character shows', () => {
  const { token } = mintToken('personal')
  for (let at = 5; at < token.length; at += 1)
    for (const other of letters)
      if (other !== token[at])
        expect(isTokenShaped(token.slice(0, at) + other + token.slice(at + 1), 'personal')).toBe(false)
})

test('two characters that changed places show, and so does anything around it', () => {
  const { token } = mintToken('session')
  for (let at = 5; at < token.length - 1; at += 1) {
    const swapped = `${token.slice(0, at)}${token[at + 1]}${token[at]}${token.slice(at + 2)}`
    expect(isTokenShaped(swapped, 'session')).toBe(swapped === token)
  }
  for (const text of [`${token} `, ` ${token}`, `${token}\n`, token.toUpperCase(), `${token}${token}`, ''])
    expect(isTokenShaped(text, 'session')).toBe(false)
})

test('no text is one by chance', () => {
  const garbage = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom(...letters), minLength: 49, maxLength: 49 }).map((body) => `svcp_${body}`),
  )
  fc.assert(
    fc.property(garbage, (text) => {
      expect(isTokenShaped(text, ...kinds)).toBe(false)
    }),
    { numRuns: 5_000 },
  )
})
