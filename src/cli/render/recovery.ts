/** Checks and steps of a recovery, as tables for people. */
import type { Check } from '../../core/areas/recovery/check.ts'
import type { Step } from '../../core/areas/recovery/reconcile.ts'
import { printable } from './printable.ts'
import { type Column, table } from './table.ts'

const checkColumns: readonly Column<Check>[] = [
  { head: '', cell: ({ state }) => state, whole: true },
  { head: 'CHECK', cell: ({ code }) => code, whole: true },
  { head: 'FOUND', cell: ({ says }) => says, whole: true },
]

export async function checkTable(checks: readonly Check[]): Promise<string> {
  const remedies = checks.flatMap(({ code, remedy }) => (remedy === null ? [] : [printable(`${code}: ${remedy}`)]))
  return [await table(checks, checkColumns, ''), ...(remedies.length > 0 ? ['', ...remedies] : [])].join('\n')
}

const words: Readonly<Record<Step['what'], string>> = {
  'hold.place': 'place the hold',
  'operator.add': 'add the operator',
  'operator.remove': 'remove the operator',
  'account.leave': 'remove from the workspace',
  'token.revoke': 'revoke the token',
  'purge.repeat': 'purge the workspace',
}

const stepColumns: readonly Column<Step>[] = [
  { head: 'STEP', cell: ({ what }) => words[what], whole: true },
  { head: 'ID', cell: ({ id }) => id, whole: true },
  { head: 'WORKSPACE', cell: ({ tenant_id }) => tenant_id, whole: true },
  { head: 'BLOCKED BY', cell: ({ hindered_by }) => hindered_by ?? '' },
  { head: 'CERTAIN', cell: ({ is_uncertain }) => (is_uncertain ? 'no' : 'yes') },
]

export const stepTable = (steps: readonly Step[], empty: string) => table(steps, stepColumns, empty)
