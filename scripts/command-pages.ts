/** The page of the command line, from the commands' own declarations. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Command } from '@oclif/core'

const folder = fileURLToPath(new URL('../src/cli/commands', import.meta.url))

type Example = string | { readonly description: string; readonly command: string }

interface Declared {
  readonly id: string
  readonly command: typeof Command & { readonly examples?: readonly Example[] }
}

/** Every command with its flags, arguments and examples, in alphabetical order. */
export async function commandPages(): Promise<string> {
  const commands = await readCommands()
  const contents = commands.map(
    ({ id, command }) => `- [\`svc ${id}\`](#svc-${id.replaceAll(' ', '-')}): ${command.summary ?? ''}`,
  )
  return `# Commands\n\n${contents.join('\n')}\n\n${commands.map(section).join('\n')}`
}

/** The commands by id, loaded from their files. */
export async function readCommands(): Promise<Declared[]> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const loaded = files.map(async (name) => {
    const module = (await import(pathToFileURL(join(folder, name)).href)) as { default: Declared['command'] }
    return { id: idOf(name), command: module.default }
  })
  return (await Promise.all(loaded)).sort((a, b) => (a.id < b.id ? -1 : 1))
}

const idOf = (name: string) =>
  name
    .slice(0, -'.ts'.length)
    .replaceAll('\\', '/')
    .replace(/\/index$/, '')
    .replaceAll('/', ' ')

function section({ id, command }: Declared): string {
  const args = Object.entries(command.args ?? {})
  const flags = Object.entries({ ...command.baseFlags, ...command.flags }).filter(([, flag]) => !flag.hidden)
  const usage = [
    'svc',
    id,
    ...args.map(([name, arg]) => (arg.required ? name.toUpperCase() : `[${name.toUpperCase()}]`)),
  ].join(' ')
  const parts = [
    `## svc ${id}\n`,
    `${command.summary ?? ''}\n`,
    command.description ? `${resolved(command.description, id)}\n` : '',
    `\`\`\`\n${usage}${flags.length > 0 ? ' [flags]' : ''}\n\`\`\`\n`,
    args.length > 0
      ? `${args.map(([name, arg]) => `- \`${name.toUpperCase()}\`: ${arg.description ?? ''}`).join('\n')}\n`
      : '',
    flags.length > 0
      ? `${flags.map(([name, flag]) => `- \`--${name}\`: ${flag.summary ?? flag.description ?? ''}`).join('\n')}\n`
      : '',
    examples(command.examples ?? [], id),
  ]
  return parts.filter((part) => part !== '').join('\n')
}

function examples(list: readonly Example[], id: string): string {
  const lines = list.map((example) =>
    typeof example === 'string' ? example : `# ${example.description}\n${example.command}`,
  )
  return lines.length === 0 ? '' : `\`\`\`\n${lines.map((line) => resolved(line, id)).join('\n')}\n\`\`\`\n`
}

const resolved = (text: string, id: string) =>
  text.replaceAll('<%= config.bin %>', 'svc').replaceAll('<%= command.id %>', id)
