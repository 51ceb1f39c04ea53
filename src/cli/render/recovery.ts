/** Checks and steps of a recovery, as tables for people. */
import type { Check } from '../../core/areas/recovery/finding.ts'
import type { Step } from '../../core/areas/recovery/obligations/obligation.ts'
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

const stepColumns = (wordsOf: (step: Step) => string): readonly Column<Step>[] => [
  { head: 'STEP', cell: wordsOf, whole: true },
  { head: 'ID', cell: ({ id }) => id, whole: true },
  { head: 'WORKSPACE', cell: ({ tenant_id }) => tenant_id, whole: true },
  { head: 'BLOCKED BY', cell: ({ hindered_by }) => hindered_by ?? '' },
  { head: 'CERTAIN', cell: ({ is_uncertain }) => (is_uncertain ? 'no' : 'yes') },
]

/** The obligations say what their steps are called; they are loaded with the reconciliation anyway. */
export async function stepTable(steps: readonly Step[], empty: string): Promise<string> {
  const { wordsOf } = await import('../../core/areas/recovery/obligations/all.ts')
  return table(steps, stepColumns(wordsOf), empty)
}
