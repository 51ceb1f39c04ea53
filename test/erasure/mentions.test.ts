/** Names and addresses in texts of others (Keeping 2, mentions found). */
import { expect, test } from 'vitest'
import { namesOf, struckOut } from '../../src/core/areas/erasure/mentions.ts'

test('a name is struck out as a whole word, with every sign that a name or an address may have', () => {
  for (const sign of '-.+\'_*?^$(){}[]|\\/#&!,:;<=>@~"`% ') {
    const name = `an${sign}na`
    expect([sign, struckOut(`ask ${name}, or x${name}`, namesOf([name]))]).toEqual([sign, `ask […], or x${name}`])
  }
  expect(struckOut('Müller, Müllerin, MÜLLER', namesOf(['Müller']))).toBe('[…], Müllerin, […]')
})
