/** Tables for people; programs use --json. Colour carries no meaning, and new columns come at the end. */
import type CliTable from 'cli-table3'
import { details, inLines } from './details.ts'
import { printable } from './printable.ts'

export interface Column<Row> {
  readonly head: string
  readonly cell: (row: Row) => string
  readonly align?: 'right'
  /** Never cut short, because people copy its values; where names had no room left, ids are shortened in their middle. */
  readonly whole?: true
}

const gap = 2
const narrowest = 6
const narrowestWords = 24
const comfortable = 16
/** From here on ids stay whole: people copy them, and this is what a terminal has. */
const usualWidth = 80
/** Below this width an address is cut at its end, as everything else. */
const legible = 10
const shortenedSays = 'Ids are shortened to fit; `-o csv` prints them whole.'
const ellipsis = '…'
/** Made where it is needed: a command without such texts starts 2 ms earlier. */
let graphemes: Intl.Segmenter | undefined
/** cli-table3's time grows with the square of its rows: 10,000 at once take 14 s, in such pieces 1.6 s. */
const rowsAtOnce = 100

/** No lines around cells. */
const plainChars = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid']
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .concat('middle')
    .map((name) => [name, '']),
)

/** How many columns of a terminal a text takes. */
type Measure = (text: string) => number

const isPlain = (text: string) => /^[ -~]*$/.test(text)

/** Plain text is as wide as it is long. What measures all else is loaded where it is met: that takes a tenth of a command. */
async function measureOf(lines: readonly string[][]): Promise<Measure> {
  if (lines.every((line) => line.every(isPlain))) return (text) => text.length
  return (await import('string-width')).default
}

/** The table as text; an empty list says so in words. `width` in columns of the terminal; undefined cuts nothing. */
export async function table<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  empty: string,
  width = process.stdout.columns,
): Promise<string> {
  if (rows.length === 0) return empty
  const { default: Table } = await import('cli-table3')
  const whole = rows.map((row) => columns.map((column) => printable(column.cell(row)) || '-'))
  whole.unshift(columns.map((column) => column.head))
  const measure = await measureOf(whole)
  const fits = !width || leastOf(widthsOf(columns, whole, measure, undefined)) <= width
  const tight = fits ? whole : whole.map((line) => line.map(toTheMinute))
  const draw = (some: readonly Column<Row>[], lines: readonly string[][]) => drawn(some, lines, Table, measure, width)
  const least = (some: readonly Column<Row>[], lines: readonly string[][]) => leastOf(widthsOf(some, lines, measure, 1))
  if (width && hasIdsLast(tight) && isCutShort(columns, tight, measure, width)) {
    const [some, ids] = [columns.slice(0, -1), tight.map((line) => line.at(-1))]
    const others = tight.map((line) => line.slice(0, -1))
    const isTooNarrow =
      width < usualWidth &&
      least(
        columns,
        tight.map((line) => line.map(shortened)),
      ) <= width
    if (!isTooNarrow && least(some, others) <= width)
      return draw(some, others)
        .split('\n')
        .map((line, at) => `${line}\n  ${ids[at]}`)
        .join('\n')
  }
  if (
    width &&
    least(
      columns,
      tight.map((line) => line.map(shortened)),
    ) > width
  )
    return hanging(columns, whole, measure, width) ?? blocks(columns, whole.slice(1), width)
  const cramped = isCramped(columns, tight, measure, width)
  const lines = cramped ? tight.map((line) => line.map(shortened)) : tight
  const text = draw(columns, lines)
  return cramped && lines.some((line, at) => line.some((cell, n) => cell !== tight[at]?.[n]))
    ? `${text}\n\n${shortenedSays}`
    : text
}

/** The lines beside each other, in columns. */
function drawn<Row>(
  columns: readonly Column<Row>[],
  lines: readonly string[][],
  Table: typeof CliTable,
  measure: Measure,
  width: number | undefined,
): string {
  const widths = widthsOf(columns, lines, measure, width)
  const cells = lines.map((line) => line.map((cell, at) => cut(cell, widths[at] ?? 0, measure)))
  const settings = {
    colAligns: columns.map((column) => column.align ?? 'left'),
    colWidths: widths.map((columnWidth) => columnWidth + gap),
    chars: plainChars,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': gap },
  }
  const pieces: string[] = []
  for (let at = 0; at < cells.length; at += rowsAtOnce) {
    const piece = new Table(settings)
    piece.push(...cells.slice(at, at + rowsAtOnce))
    pieces.push(piece.toString())
  }
  return pieces.join('\n').replace(/ +$/gm, '')
}

const leastOf = (widths: readonly number[]) => widths.reduce((sum, one) => sum + one, (widths.length - 1) * gap)

const wholeId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const hasIdsLast = ([, ...rows]: readonly string[][]) => rows.every((line) => wholeId.test(line.at(-1) ?? ''))

/** Whether what may be cut would lose so much that people could not tell it from others. */
function isCutShort<Row>(
  columns: readonly Column<Row>[],
  lines: readonly string[][],
  measure: Measure,
  width: number,
): boolean {
  const natural = widthsOf(columns, lines, measure, undefined)
  const fitting = widthsOf(columns, lines, measure, width)
  return leastOf(fitting) > width || fitting.some((one, at) => one < (natural[at] ?? 0) && one < comfortable)
}

/** `2026-11-20 12:32`: of a moment that has no room, the minute is more than its beginning. */
const toTheMinute = (cell: string) => cell.replace(/^(\d{4}-\d\d-\d\d \d\d:\d\d):\d\d [+-]\d\d:\d\d$/, '$1')

const isMoment = (cell: string) => /^(?:-|\d{4}-\d\d-\d\d(?: \d\d:\d\d)?)$/.test(cell)

/** The table with a last column of words that go on below themselves; undefined if it is none, or has no room. */
function hanging<Row>(
  columns: readonly Column<Row>[],
  lines: readonly string[][],
  measure: Measure,
  width: number,
): string | undefined {
  const last = columns.length - 1
  const widths = widthsOf(columns, lines, measure, undefined).slice(0, last)
  const indent = widths.reduce((sum, one) => sum + one + gap, 0)
  if (width - indent < narrowestWords || !lines.some((line) => line[last]?.includes(' '))) return undefined
  return lines
    .map((line) => {
      const beside = widths.map((one, at) => padded(line[at] ?? '', one, columns[at]?.align, measure))
      return [...beside, inLines(line[last] ?? '', width - indent).join(`\n${' '.repeat(indent)}`)].join(
        ' '.repeat(gap),
      )
    })
    .join('\n')
}

function padded(text: string, width: number, align: 'right' | undefined, measure: Measure): string {
  const blanks = ' '.repeat(Math.max(0, width - measure(text)))
  return align === 'right' ? blanks + text : text + blanks
}

/** Rows below each other instead of beside: every value whole. */
const blocks = <Row>(columns: readonly Column<Row>[], rows: readonly string[][], width: number) =>
  rows
    .map((row) =>
      details(
        columns.map(({ head }, at) => [head, row[at]] as const),
        width,
      ),
    )
    .join('\n\n')

/** Whether ids of 36 characters leave a name fewer columns than people need to tell it from others. */
function isCramped<Row>(
  columns: readonly Column<Row>[],
  lines: readonly string[][],
  measure: Measure,
  width: number | undefined,
): boolean {
  if (!width) return false
  if (leastOf(widthsOf(columns, lines, measure, width)) > width) return true
  return width < usualWidth && isCutShort(columns, lines, measure, width)
}

const id = /\b([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{8}([0-9a-f]{4})\b/g

/** `0190c9d2…abcd`: the beginning says when it was made, the end tells it from its neighbours. `--fields id` prints it whole. */
const shortened = (cell: string) => cell.replace(id, `$1${ellipsis}$2`)

/** The width of each column: natural where everything fits, else the widest that may be cut give way. */
function widthsOf<Row>(
  columns: readonly Column<Row>[],
  lines: readonly string[][],
  measure: Measure,
  width: number | undefined,
): number[] {
  const widths = columns.map((_, at) => lines.reduce((widest, line) => Math.max(widest, measure(line[at] ?? '')), 0))
  if (!width) return widths // a terminal that does not know its width says 0
  // A day or a number without its end says something else.
  const isWhole = columns.map(
    (column, at) => column.whole || column.align || lines.slice(1).every((line) => isMoment(line[at] ?? '')),
  )
  let excess = widths.reduce((sum, one) => sum + one, (columns.length - 1) * gap) - width
  while (excess > 0) {
    const widest = columns
      .map((_, at) => ({ at, width: isWhole[at] ? 0 : (widths[at] ?? 0) }))
      .reduce((one, other) => (other.width > one.width ? other : one))
    if (widest.width <= narrowest) break
    widths[widest.at] = widest.width - 1
    excess -= 1
  }
  return widths
}

/** As much of the text as so many columns hold, cut between two characters as people see them; of a URL the end, too. */
function cut(text: string, width: number, measure: Measure): string {
  if (measure(text) <= width) return text
  if (/^https?:\/\/[!-~]*$/.test(text) && width >= legible) {
    const behind = Math.floor((width - 1) / 2)
    return text.slice(0, width - 1 - behind) + ellipsis + text.slice(-behind)
  }
  if (isPlain(text)) return text.slice(0, width - 1) + ellipsis
  let kept = ''
  graphemes ??= new Intl.Segmenter()
  for (const { segment } of graphemes.segment(text)) {
    if (measure(kept + segment) >= width) break
    kept += segment
  }
  return kept + ellipsis
}
