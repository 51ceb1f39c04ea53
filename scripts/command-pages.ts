/** The page of the command line, from the commands' own declarations. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Command } from '@oclif/core'
import { BaseCommand } from '../src/cli/base-command.ts'

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
  return `# Commands\n\n${contents.join('\n')}\n\n${globalSection(commands)}\n${commands.map(section).join('\n')}`
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

const everywhere: Readonly<Record<string, { readonly summary?: string | undefined }>> = {
  json: { summary: "Print the API's answer unchanged, and a refusal as a problem document." },
  ...BaseCommand.baseFlags,
}

/** The flags of all commands, and those by which commands reach an installation. */
function globalSection(commands: readonly Declared[]): string {
  const all = { ...everywhere }
  for (const { command } of commands)
    for (const [name, flag] of Object.entries({ ...command.baseFlags, ...command.flags }))
      if (flag.helpGroup === 'GLOBAL') all[name] = flag
  const lines = Object.entries(all).map(([name, { summary = '' }]) => `- \`--${name}\`: ${summary}`)
  return `## Flags of every command\n\n\`svc help exit-codes\`, \`svc help environment\` and \`svc help config\` say what else concerns all.\n\n${lines.join('\n')}\n`
}

function section({ id, command }: Declared): string {
  const args = Object.entries(command.args ?? {})
  const all = Object.entries({ ...command.baseFlags, ...command.flags }).filter(([, flag]) => !flag.hidden)
  const flags = all.filter(([, flag]) => flag.helpGroup !== 'GLOBAL')
  const installation = all.filter(([name, flag]) => flag.helpGroup === 'GLOBAL' && !(name in everywhere))
  const usage = [
    'svc',
    id,
    ...args.map(([name, arg]) => (arg.required ? name.toUpperCase() : `[${name.toUpperCase()}]`)),
  ].join(' ')
  const parts = [
    `## svc ${id}\n`,
    `${command.summary ?? ''}\n`,
    command.description ? `${resolved(command.description, id)}\n` : '',
    `\`\`\`\n${usage}${all.length > 0 ? ' [flags]' : ''}\n\`\`\`\n`,
    args.length > 0
      ? `${args.map(([name, arg]) => `- \`${name.toUpperCase()}\`: ${arg.description ?? ''}`).join('\n')}\n`
      : '',
    flags.length > 0
      ? `${flags.map(([name, flag]) => `- \`--${name}\`: ${flag.summary ?? flag.description ?? ''}`).join('\n')}\n`
      : '',
    installation.length > 0
      ? `Also ${installation.map(([name]) => `\`--${name}\``).join(', ')} ([flags of every command](#flags-of-every-command)).\n`
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
