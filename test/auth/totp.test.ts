/** Codes of authenticator apps, against the vectors of RFC 6238 and at the edges of their time steps. */
import { describe, expect, test } from 'vitest'
import { newSecret, stepOf, uriOf } from '../../src/core/areas/auth/second-factor/totp.ts'

/** "12345678901234567890" in base32: the secret of RFC 6238, appendix B. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

test.each([
  [59, '287082'],
  [1111111109, '081804'],
  [1111111111, '050471'],
  [1234567890, '005924'],
  [2000000000, '279037'],
  [20000000000, '353130'],
])('RFC 6238 at %i s', (seconds, code) => {
  expect(stepOf(secret, code, seconds)).toBe(Math.floor(seconds / 30))
})

describe('a code is of its own step', () => {
  // Step 37037036, from 1111111080 s to 1111111110 s.
  const [at, code, own] = [1111111109, '081804', 37037036]
  test.each([
    [1111111049, undefined],
    [1111111050, own],
    [1111111080, own],
    [1111111139, own],
    [1111111140, undefined],
  ])('seen at %i s', (moment, step) => expect(stepOf(secret, code, moment)).toBe(step))

  test('and no other is taken', () => {
    for (const other of ['081805', '000000', '81804', '0818040', '']) expect(stepOf(secret, other, at)).toBeUndefined()
  })
})

test('a secret has 160 bits and is never the same', () => {
  const secrets = Array.from({ length: 100 }, newSecret)
  expect(new Set(secrets).size).toBe(100)
  for (const one of secrets) expect(one).toMatch(/^[A-Z2-7]{32}$/)
})

test('the link for the app names workspace and address, whatever they hold', () => {
  const uri = new URL(uriOf(secret, 'Acme: Sons & "Co"?#', 'ada:x@acme.example'))
  expect(uri.protocol).toBe('otpauth:')
  expect(Object.fromEntries(uri.searchParams)).toEqual({
    issuer: 'Acme  Sons & "Co"?#',
    secret,
    algorithm: 'SHA1',
    digits: '6',
    period: '30',
  })
  expect(decodeURIComponent(uri.pathname)).toBe('/Acme  Sons & "Co"?#:ada x@acme.example')
})
