/**
 * Rows as comma-separated values (RFC 4180, with LF): a head of the members' names, then a line for each row. A member that
 * holds members becomes columns of its own, `a.b`; a list is JSON text.
 */
import { writeJson } from '../../core/kernel/values/json.ts'
import { listIn } from './fields.ts'

type Cells = Map<string, unknown>

export function csvOf(answer: unknown): string {
  const list = listIn(answer)
  const rows = Array.isArray(answer)
    ? answer
    : list === undefined
      ? [answer]
      : (answer as Record<string, unknown>)[list]
  const flat = (rows as unknown[]).map((row) => cellsOf(row))
  const heads = [...new Set(flat.flatMap((cells) => [...cells.keys()]))]
  const lines = flat.map((cells) => heads.map((head) => cell(cells.get(head))).join(','))
  return [heads.map(quoted).join(','), ...lines].join('\n')
}

function cellsOf(value: unknown, prefix = '', cells: Cells = new Map()): Cells {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    cells.set(prefix || 'value', value)
    return cells
  }
  for (const [name, member] of Object.entries(value)) cellsOf(member, prefix === '' ? name : `${prefix}.${name}`, cells)
  return cells
}

/** A text that a spreadsheet would run as a formula begins with an apostrophe; numbers are left alone. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'string') return quoted(/^[=+\-@\t\r]/.test(value) ? `'${value}` : value)
  return quoted(typeof value === 'object' ? writeJson(value) : String(value))
}

const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
