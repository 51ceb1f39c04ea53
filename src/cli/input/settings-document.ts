/** A settings file, and the changes that it would make. Spec: decisions 4, InstanceSettings. */
import { readFileSync } from 'node:fs'
import type { InstanceSettings } from '../../core/contract/settings/operations.ts'
import { writeJson } from '../../core/kernel/values/json.ts'
import { Failure } from '../failure.ts'
import { readStdin } from './secret-input.ts'
import { unreadable } from './unreadable.ts'

export type SettingsBody = Omit<InstanceSettings, 'source' | 'is_enforced_from_file' | 'version'>

export interface Change {
  readonly name: string
  /** As JSON; null if the switch was not, or would not be, decided. */
  readonly from: string | null
  readonly to: string | null
}

/** Reads and validates the file; `-` is standard input. Fails (usage) with every fault, before any call. */
export async function readDocument(file: string): Promise<SettingsBody> {
  const text = file === '-' ? await readStdin() : readText(file)
  // Loaded only here, because the other commands need neither YAML nor these schemas.
  const { parseSettings } = await import('../../core/areas/settings/document.ts')
  const parsed = await parseSettings(text)
  if ('faults' in parsed)
    throw new Failure(
      'usage',
      `The settings in ${file === '-' ? 'standard input' : file} are not valid.`,
      parsed.faults.join('\n'),
    )
  return parsed.document
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw unreadable(`the file ${file}`, error)
  }
}

/** The decided switches by name, with `reason` and `locked` as they would be stored. */
function decided({ sign_in, blocklist_file, legal, localisation, quotas, ai }: SettingsBody): Map<string, string> {
  const switches = Object.entries(sign_in ?? {}).map(([name, given]) => {
    const { value, locked = false, reason = null } = given ?? {}
    return [`sign_in.${name}`, writeJson({ value, locked, ...(reason === null ? {} : { reason }) })] as const
  })
  const plain = Object.entries({ legal, localisation, quotas, ai }).flatMap(([group, members]) =>
    Object.entries(members ?? {}).map(([name, value]) => [`${group}.${name}`, writeJson(value)] as const),
  )
  const list = blocklist_file === undefined ? [] : [['blocklist_file', writeJson(blocklist_file)] as const]
  return new Map([...switches, ...plain, ...list])
}

/** The switches that a replacement would change, in alphabetical order. */
export function changesBetween(before: SettingsBody, after: SettingsBody): readonly Change[] {
  const [from, to] = [decided(before), decided(after)]
  return [...new Set([...from.keys(), ...to.keys()])]
    .filter((name) => from.get(name) !== to.get(name))
    .sort()
    .map((name) => ({ name, from: from.get(name) ?? null, to: to.get(name) ?? null }))
}
