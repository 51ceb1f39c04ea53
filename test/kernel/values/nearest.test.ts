/** What a mistyped word or variable most likely meant. */
import { expect, test } from 'vitest'
import { mistypedVariables } from '../../../src/core/kernel/config/mistyped.ts'
import { nearest } from '../../../src/core/kernel/values/nearest.ts'

test.each([
  ['lsit', ['list', 'show'], 'list'],
  ['quota', ['quotas', 'tokens'], 'quotas'],
  ['x', ['list'], undefined],
  ['frobnicate', ['tenants list', 'journal'], undefined],
  ['anything', [], undefined],
])('%s among %j is %s', (word, known, meant) => {
  expect(nearest(word, known)).toBe(meant)
})

test('variables that are near to none are left alone, as those that Kubernetes sets', () => {
  const set = { SVC_DATABSE_URL: 'x', SVC_PROT: '1', SVC_PORT: '80', SVC_TOKEN: 't', SVC_SERVICE_HOST: 'h', PATH: '' }
  expect(mistypedVariables({ ...set, SVC_PORT_80_TCP_ADDR: 'a' })).toEqual([
    'SVC_DATABSE_URL is not read. Did you mean SVC_DATABASE_URL?',
    'SVC_PROT is not read. Did you mean SVC_PORT?',
  ])
})
