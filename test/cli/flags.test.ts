/** Scripts rest on the flags and arguments: a change of one shows here, and is a decision. */
import type { Command } from '@oclif/core'
import { expect, test } from 'vitest'
import { readCommands } from '../../scripts/command-pages.ts'

type Class = typeof Command

test('every command has the flags and arguments that scripts rest on', async () => {
  const commands = await readCommands()
  const surface = Object.fromEntries(commands.map(({ id, command }) => [id, surfaceOf(command)]))
  expect(surface).toMatchSnapshot()
})

function surfaceOf(command: Class) {
  const flags = {
    ...command.baseFlags,
    ...command.flags,
    ...(command.enableJsonFlag ? { json: { type: 'boolean' } } : {}),
  }
  return {
    args: Object.entries(command.args).map(([name, arg]) => (arg.required ? name : `[${name}]`)),
    flags: Object.entries(flags)
      .map(([name, flag]) => lineOf(name, flag as Readonly<Record<string, unknown>>))
      .sort(),
  }
}

function lineOf(name: string, flag: Readonly<Record<string, unknown>>): string {
  const char = flag['char'] ? `-${String(flag['char'])} ` : ''
  const value =
    flag['type'] === 'option' ? (Array.isArray(flag['options']) ? `=${flag['options'].join('|')}` : '=…') : ''
  const marks = ['required', 'multiple', 'allowNo', 'hidden'].filter((mark) => flag[mark]).map((mark) => ` (${mark})`)
  return `${char}--${name}${value}${marks.join('')}`
}

test('no argument is filled from standard input behind the caller’s back', async () => {
  const commands = await readCommands()
  const filled = commands.flatMap(({ id, command }) =>
    Object.entries(command.args)
      .filter(([, arg]) => !arg.ignoreStdin)
      .map(([name]) => `${id} ${name}`),
  )
  expect(filled).toEqual([])
})
