/**
 * Every command with what goes wrong most: no daemon, nobody at the keyboard, a profile that is not there, output that nobody
 * reads, a word that it does not take. Each ends by itself with its code, and says so in sentences.
 */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readCommands } from '../../scripts/command-pages.ts'
import { exitCodes } from '../../src/cli/failure.ts'
import { root } from '../house/source.ts'
import { type Home, type Ran, temporaryHome } from '../kit/svc.ts'

/** They serve, until somebody ends them, or make a whole installation. */
const lasting = new Set(['daemon', 'up', 'recovery drill'])

type Option = { readonly required?: boolean; readonly options?: readonly string[]; readonly default?: unknown }

const commands = (await readCommands())
  .filter(({ id }) => !lasting.has(id))
  .map(({ id, command }) => {
    const value = ({ options }: Option) => options?.[0] ?? 'x1'
    const args = Object.values(command.args as Record<string, Option>).filter(({ required }) => required)
    const flags = Object.entries({ ...command.baseFlags, ...command.flags } as Record<string, Option>)
      .filter(([, { required }]) => required)
      .map(([name, flag]) => `--${name}=${value(flag)}`)
    return {
      id,
      words: [...id.split(' '), ...args.map(value), ...flags],
      reaches: 'profile' in { ...command.baseFlags, ...command.flags },
    }
  })

let home: Home
beforeAll(() => {
  home = temporaryHome()
})
afterAll(() => home.remove())

const known = new Set<number>(Object.values(exitCodes))

/** What every ending has: a code that help names, no stack, no colour, and a sentence where something is wrong. */
function faultsOf({ code, stdout, stderr }: Ran): string[] {
  const all = `${stdout}${stderr}`
  const faults: string[] = []
  if (code === null || !known.has(code)) faults.push(`ends with ${code}`)
  if (/^\s+at .+:\d+/m.test(all)) faults.push('shows a stack')
  if (/\[object |\bundefined\b|\bNaN\b/.test(all)) faults.push('shows a value that is none')
  if (/\u001b\[/.test(all)) faults.push('has colours')
  if (code !== 0 && code !== exitCodes.findings && !/[.?:]\s*$/m.test(stderr)) faults.push('says no sentence')
  return faults
}

describe.each([
  ['no daemon at the address', { SVC_API_URL: 'http://127.0.0.1:1', SVC_TOKEN: 'svc_pat_nothing' }, []],
  ['neither a profile nor an installation', {}, []],
  ['a flag that there is not', {}, ['--no-such-flag']],
  [
    'an installation that was never made',
    { SVC_DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', SVC_KEYRING_FILE: 'none.json' },
    [],
  ],
] as const)('%s', (_, env, more) => {
  test('every command ends by itself, in sentences', async () => {
    const wrong: string[] = []
    for (const { id, words } of commands) {
      const ran = await home.svc([...words, ...more], { env })
      const faults = faultsOf(ran)
      if (more.length > 0 && ran.code !== exitCodes.usage) faults.push(`ends with ${ran.code}`)
      if (faults.length > 0)
        wrong.push(`${id}: ${faults.join(', ')}: ${ran.stdout.slice(0, 80)}${ran.stderr.slice(0, 200)}`)
    }
    expect(wrong).toEqual([])
    expect(commands.length).toBeGreaterThan(140)
  }, 120_000)
})

test('a profile that there is not is named', async () => {
  const wrong: string[] = []
  for (const { id, words } of commands.filter(({ id, reaches }) => reaches && id !== 'doctor')) {
    const ran = await home.svc([...words, '--profile', 'nobody'])
    const isSaid = ran.code === exitCodes.notFound && ran.stderr.includes('"nobody"')
    // It asks for what it needs first.
    if (!isSaid && ![exitCodes.usage, exitCodes.notAllowed].includes(ran.code as never))
      wrong.push(`${id}: ${ran.code} ${ran.stderr.slice(0, 150)}`)
  }
  expect(wrong).toEqual([])
}, 60_000)

test('output that nobody reads ends a command without a word', () => {
  for (const line of ['svc help', 'svc events catalog --help', 'svc completion bash', 'svc config show --json']) {
    const run = `${line.replace('svc', join(root, 'bin/svc'))} 2>said | head -c 1 > /dev/null; cat said`
    const { stdout } = spawnSync('sh', ['-c', run], {
      cwd: home.folder,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: home.folder },
    })
    expect(stdout, line).toBe('')
  }
})
