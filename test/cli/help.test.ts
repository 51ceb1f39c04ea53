/** Help as people read it. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exitCodes } from '../../src/cli/failure.ts'
import { environment } from '../../src/core/kernel/config/config.ts'
import { type Home, temporaryHome } from '../kit/svc.ts'

let home: Home
beforeAll(() => {
  home = temporaryHome()
})
afterAll(() => home.remove())

const help = async (...args: string[]) => {
  const ran = await home.svc(args)
  expect([ran.code, ran.stderr]).toEqual([0, ''])
  return ran.stdout
}

test('exit codes, variables and the order of values have pages, which the first page names', async () => {
  const codes = await help('help', 'exit-codes')
  for (const code of Object.values(exitCodes)) expect(codes).toMatch(new RegExp(`^ *${code}  \\w`, 'm'))
  const variables = await help('help', 'environment')
  for (const name of [...Object.keys(environment.shape), 'SVC_TOKEN', 'NO_COLOR']) expect(variables).toContain(name)
  const config = await help('help', 'config')
  expect(config).toContain('config validate')
  expect(config).toContain('1. --recovery')
  const first = await help('help')
  for (const page of ['exit-codes', 'environment', 'config']) expect(first).toContain(`svc help ${page}`)
  expect(first).toContain('svc open')
})

test('topics are described as topics', async () => {
  const topics = await help('tenants', '--help')
  expect(topics).toMatch(/tenants quotas +Ceilings of a workspace/)
  expect(topics).toMatch(/tenants purge-certificate +What a purge removed/)
})

test.each([['journal'], ['tenants', 'list'], ['webhooks', 'create'], ['api']])(
  'the usage of %s is one line',
  async (...args) => {
    const text = await help(...args, '--help')
    expect(text).not.toMatch(/\|\s*\]/)
    expect(/USAGE\n( {2}\$ svc .*)\n\n/.exec(text)?.[1]).toMatch(new RegExp(`svc ${args.join(' ')}`))
  },
)
