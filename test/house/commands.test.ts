/** What every command has: a summary, an example that names itself, --json, and no secret on its command line. */
import { describe, expect, test } from 'vitest'
import { readCommands } from '../../scripts/command-pages.ts'

const commands = await readCommands()
const secret = /password|secret|token/i
/** Flags that name a file or say where a secret is read from, not the secret. */
const isSource = (flag: string) => /-(file|stdin)$/.test(flag)

describe('commands', () => {
  test('are read at all', () => expect(commands.length).toBeGreaterThan(10))

  test.each(commands)('svc $id', ({ id, command }) => {
    expect(command.summary, 'a summary').toBeTruthy()
    expect(command.summary?.endsWith('.'), 'no full stop behind a summary').toBe(false)
    expect(command.enableJsonFlag, 'an answer for programs: --json').toBe(true)
    const examples = (command.examples ?? []).map((example) =>
      (typeof example === 'string' ? example : example.command)
        .replaceAll('<%= config.bin %>', 'svc')
        .replaceAll('<%= command.id %>', id),
    )
    expect(
      examples.some((example) => example.includes(`svc ${id}`)),
      'an example',
    ).toBe(true)
    expect(
      Object.keys(command.flags ?? {}).filter((name) => name in (command.baseFlags ?? {})),
      'a flag of every command means the same everywhere',
    ).toEqual([])
    const valued = Object.entries(command.flags ?? {}).filter(
      ([name, flag]) => secret.test(name) && flag.type === 'option' && !isSource(name),
    )
    expect(
      valued.map(([name]) => name),
      'a secret is never an argument: everybody on the machine can read it',
    ).toEqual([])
  })
})
