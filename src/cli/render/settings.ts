/** Settings as tables. */
import type { InstanceSettings } from '../../core/contract/settings/operations.ts'
import type { Change } from '../input/settings-document.ts'
import { table } from './table.ts'

interface Line {
  readonly name: string
  readonly value: string
  readonly locked: boolean
  readonly reason: string | null
}

const text = (value: unknown): string => (Array.isArray(value) ? value.join(' ') : String(value))

function linesOf({ sign_in, legal, localisation, quotas, ai, blocklist_file }: InstanceSettings): Line[] {
  const switches = Object.entries(sign_in ?? {}).map(([name, given]) => ({
    name: `sign_in.${name}`,
    value: text(given?.value),
    locked: given?.locked ?? false,
    reason: given?.reason ?? null,
  }))
  const plain = Object.entries({ legal, localisation, quotas, ai }).flatMap(([group, members]) =>
    Object.entries(members ?? {}).map(([name, value]) => ({
      name: `${group}.${name}`,
      value: text(value),
      locked: false,
      reason: null,
    })),
  )
  const list =
    blocklist_file === undefined ? [] : [{ name: 'blocklist_file', value: blocklist_file, locked: false, reason: null }]
  return [...switches, ...plain, ...list]
}

export const settingsTable = (settings: InstanceSettings) =>
  table<Line>(
    linesOf(settings),
    [
      { head: 'SWITCH', cell: ({ name }) => name, whole: true },
      { head: 'VALUE', cell: ({ value }) => value },
      { head: 'LOCKED', cell: ({ locked }) => (locked ? 'yes' : 'no'), whole: true },
      { head: 'REASON', cell: ({ reason }) => reason ?? '' },
    ],
    'No setting is decided; every setting has its default.',
  )

export const changeTable = (changes: readonly Change[]) =>
  table<Change>(
    changes,
    [
      { head: 'SWITCH', cell: ({ name }) => name, whole: true },
      { head: 'FROM', cell: ({ from }) => from ?? '' },
      { head: 'TO', cell: ({ to }) => to ?? '' },
    ],
    '',
  )
