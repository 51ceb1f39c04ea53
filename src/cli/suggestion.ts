/** What a mistyped command or flag most likely meant. */
import { readdirSync } from 'node:fs'
import { nearest } from '../core/kernel/values/nearest.ts'

/** Every command, as it is typed. Read only after a mistake; the path is right from where the build puts this file, too. */
function commandNames(): string[] {
  return readdirSync(new URL('../cli/commands', import.meta.url), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.[jt]s$/.test(file))
    .map((file) => file.replace(/\.[jt]s$/, '').replaceAll(/[/\\]/g, ' '))
}

/** `tenants list` for `tenant lst`: the words behind a command are arguments, so as many as match best are compared. */
export function nearestCommand(typed: string): string | undefined {
  const names = commandNames()
  const topics = [...new Set(names.map((name) => name.split(' ')[0] ?? name))]
  return nearest(typed, names) ?? nearest(typed, topics)
}

/** A flag of the command, with its dashes. `error`: what the parser threw. */
export function nearestFlag(error: object): string | undefined {
  const { flags, parse } = error as {
    flags?: unknown
    parse?: { input?: { flags?: Readonly<Record<string, unknown>> } }
  }
  const known = Object.keys(parse?.input?.flags ?? {}).map((name) => `--${name}`)
  const [unknown] = Array.isArray(flags) ? (flags as string[]) : []
  return unknown === undefined ? undefined : nearest(unknown, known)
}
