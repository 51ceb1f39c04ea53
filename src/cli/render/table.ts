/** Tables for people; programs use --json. Colour carries no meaning, and new columns come at the end. */
import { printable } from './printable.ts'

export interface Column<Row> {
  readonly head: string
  readonly cell: (row: Row) => string
  readonly align?: 'right'
  /** Never cut short, because people copy its values. */
  readonly whole?: true
}

const gap = '  '
const narrowest = 6
const ellipsis = '…'
const graphemes = new Intl.Segmenter()

/** How many columns of a terminal a text takes. */
type Measure = (text: string) => number

/** The table as text; an empty list says so in words. `width` in columns of the terminal; undefined cuts nothing. */
export async function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  empty: string,
  width = process.stdout.columns,
): Promise<string> {
  if (rows.length === 0) return empty
  const { default: measure } = await import('string-width')
  const lines = rows.map((row) => columns.map((column) => printable(column.cell(row)) || '-'))
  lines.unshift(columns.map((column) => column.head))
  const widths = widthsOf(columns, lines, measure, width)
  const line = (cells: readonly string[]) =>
    columns
      .map(({ align }, at) => fitted(cells[at] ?? '', widths[at] ?? 0, measure, align))
      .join(gap)
      .replace(/ +$/, '')
  return lines.map(line).join('\n')
}

/** The width of each column: natural where everything fits, else the widest that may be cut give way. */
function widthsOf<Row>(
  columns: readonly Column<Row>[],
  lines: readonly string[][],
  measure: Measure,
  width: number | undefined,
): number[] {
  const widths = columns.map((_, at) => lines.reduce((widest, line) => Math.max(widest, measure(line[at] ?? '')), 0))
  if (!width) return widths // a terminal that does not know its width says 0
  let excess = widths.reduce((sum, one) => sum + one, (columns.length - 1) * gap.length) - width
  while (excess > 0) {
    const widest = columns
      .map((column, at) => ({ at, width: column.whole ? 0 : (widths[at] ?? 0) }))
      .reduce((one, other) => (other.width > one.width ? other : one))
    if (widest.width <= narrowest) break
    widths[widest.at] = widest.width - 1
    excess -= 1
  }
  return widths
}

/** The text in exactly so many columns: cut between two characters as people see them, or filled up with spaces. */
function fitted(text: string, width: number, measure: Measure, align: 'right' | undefined): string {
  const shown = measure(text) > width ? cut(text, width, measure) : text
  const filling = ' '.repeat(width - measure(shown))
  return align === 'right' ? filling + shown : shown + filling
}

function cut(text: string, width: number, measure: Measure): string {
  let kept = ''
  for (const { segment } of graphemes.segment(text)) {
    if (measure(kept + segment) >= width) break
    kept += segment
  }
  return kept + ellipsis
}
