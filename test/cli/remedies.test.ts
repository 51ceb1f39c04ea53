/** What a refused command leaves behind, and what it tells to do: words that serve where the reader stands. Issue 20, part 10. */
import { randomUUIDv7 } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { problems } from '../../src/core/contract/problem.ts'
import { silentLog } from '../../src/daemon/log.ts'
import { keepSetUpToken } from '../../src/daemon/set-up-token.ts'
import { plantToken } from '../kit/accounts.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { everyScope, type Home as Owner, setUp } from '../kit/people.ts'
import { databaseEnv, type Home, temporaryHome } from '../kit/svc.ts'

let daemon: TestDaemon
let owner: Owner
let home: Home
beforeAll(async () => {
  daemon = await testDaemon()
  owner = await setUp(daemon)
  const { token } = await plantToken({ oracle: daemon.db.sql }, owner, { scopes: everyScope })
  home = temporaryHome({ SVC_API_URL: daemon.address, SVC_TOKEN: token })
})
afterAll(async () => {
  home.remove()
  await daemon.close()
})

describe('a bad slug is refused before anything is made', () => {
  const ofOwner = ['--owner-name', 'O', '--owner-email', 'o@acme.example', '--password-stdin']
  test.each([
    [
      'tenants provision',
      ['tenants', 'provision', '--slug', 'A b', '--display-name', 'A', '--owner-email', 'o@acme.example'],
    ],
    ['up', ['up', '--workspace', 'A b', '--workspace-name', 'A', ...ofOwner]],
    ['installation set-up', ['installation', 'set-up', '--workspace', 'A b', '--workspace-name', 'A', ...ofOwner]],
  ])('by `%s`', async (_, args) => {
    const fresh = temporaryHome({ SVC_PORT: '0' })
    try {
      const ran = await fresh.svc(args, { input: 'correct horse battery staple' })
      expect(ran).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('3 to 40 lower-case letters') })
      expect(readdirSync(fresh.folder)).toEqual([])
    } finally {
      fresh.remove()
    }
  })
})

describe('the set-up token', () => {
  test('is in a file that nobody else reads, and the file goes with it', async () => {
    const { config } = daemon
    const own = { ...config, setUpToken: undefined } as typeof config
    const file = await keepSetUpToken(own, 'svcu_of-this-start', silentLog)
    expect(file).toBe(join(config.dataDir, 'set-up.token'))
    expect(statSync(file!).mode & 0o777).toBe(0o600)
    expect(await readFile(file!, 'utf8')).toBe('svcu_of-this-start\n')
    expect(await keepSetUpToken(own, undefined, silentLog)).toBeUndefined()
    expect(readdirSync(config.dataDir)).not.toContain('set-up.token')
  })

  test('that the operator chose is written nowhere', async () => {
    const { config } = daemon
    expect(await keepSetUpToken({ ...config, setUpToken: 'chosen' }, 'chosen', silentLog)).toBeUndefined()
    expect(readdirSync(config.dataDir)).not.toContain('set-up.token')
  })
})

describe('a refusal by the API', () => {
  test('says the same with --json: the document of the API, the sentence and the remedy of the terminal', async () => {
    const args = ['tenants', 'show', randomUUIDv7()]
    const [shown, told] = [await home.svc(args), await home.svc([...args, '--json'])]
    expect([shown.code, told.code]).toEqual([3, 3])
    const document = JSON.parse(told.stderr)
    const { says, remedy } = problems.not_found
    expect(document).toMatchObject({ code: 'not_found', status: 404, params: {}, detail: says, remedy })
    expect(document.instance).toMatch(/^urn:uuid:/)
    expect(shown.stderr).toBe(`${says} ${remedy}\n`)
    expect(told.stdout).toBe('')
  })

  test('names no path and no JSON to somebody at a terminal', async () => {
    const { stderr } = await home.svc(['mail', 'list', '--kind', 'nothing'])
    expect(stderr).not.toContain(problems['request.malformed'].remedy)
    expect(stderr).toMatch(/^ {2}kind {2}must be one of /m)
  })
})

test('what every remedy tells to type is a command that there is, with flags that it has', async () => {
  const { readCommands } = await import('../../scripts/command-pages.ts')
  const commands = new Map((await readCommands()).map(({ id, command }) => [id.replaceAll(':', ' '), command]))
  const typed = Object.entries(problems).flatMap(([code, row]) =>
    [...`${row.says} ${'remedy' in row ? row.remedy : ''}`.matchAll(/`svc ([^`]+)`/g)].map(
      ([, line = '']) => [code, line] as const,
    ),
  )
  expect(typed.length).toBeGreaterThan(20)
  for (const [code, line] of typed) {
    const words = line.split(' ')
    const known = [3, 2, 1].map((length) => words.slice(0, length).join(' ')).find((name) => commands.has(name))
    expect(known, `${code}: svc ${line}`).toBeDefined()
    const { flags = {}, baseFlags = {} } = commands.get(known!)!
    const names = new Set([...Object.keys({ ...flags, ...baseFlags }), 'json'])
    for (const [, flag = ''] of line.matchAll(/--([a-z-]+)/g))
      expect([code, line, names.has(flag)]).toEqual([code, line, true])
  }
})

test('every command that takes --confirm asks by the same function, so a refused one ends alike everywhere', () => {
  const folder = 'src/cli/commands'
  const asking = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [name, readFileSync(join(folder, name), 'utf8')] as const)
    .filter(([, text]) => /^ {4}confirm: /m.test(text))
  expect(asking.length).toBeGreaterThan(8)
  expect(asking.filter(([, text]) => !/\bconfirmBy\w+\(/.test(text)).map(([name]) => name)).toEqual([])
})

test('reading at the database beside a daemon that serves asks for nothing', async () => {
  const env = { ...databaseEnv(daemon.config), SVC_API_URL: '', SVC_TOKEN: '' }
  for (const args of [['tenants', 'list'], ['journal'], ['mail', 'list'], ['operators', 'list']]) {
    const ran = await home.svc([...args, '--recovery'], { env })
    expect([args, ran.code]).toEqual([args, 0])
    expect(ran.stderr).not.toContain('while-serving')
  }
})
