/** The table that `npm run bench` prints: one line for each promise, with the figure to which it is compared. */
import Table from 'cli-table3'

export interface Line {
  readonly what: string
  readonly ours: string
  readonly bare: string
  /** The figure of the promise, and its target. */
  readonly figure: string
  readonly target: string
  readonly isMet: boolean
}

/** A ratio that must not be below (`at least`) or above (`at most`) its target. */
export function ratioLine(
  what: string,
  { ours, bare, unit }: { ours: number; bare: number; unit: string },
  bound: 'at least' | 'at most',
  target: number,
): Line {
  const ratio = ours / bare
  return {
    what,
    ours: shown(ours, unit),
    bare: shown(bare, unit),
    figure: ratio.toFixed(2),
    target: `${bound === 'at least' ? '≥' : '≤'} ${target}`,
    isMet: bound === 'at least' ? ratio >= target : ratio <= target,
  }
}

/** A figure without a comparison, which has a ceiling. */
export function ceilingLine(what: string, figure: number, unit: string, ceiling: number): Line {
  return {
    what,
    ours: shown(figure, unit),
    bare: '',
    figure: shown(figure, unit),
    target: `≤ ${ceiling} ${unit}`,
    isMet: figure <= ceiling,
  }
}

const shown = (figure: number, unit: string) => `${figure >= 100 ? Math.round(figure) : figure.toFixed(1)} ${unit}`

export function drawn(lines: readonly Line[]): string {
  const table = new Table({
    head: ['what', 'svc', 'bare', 'ratio', 'target', ''],
    colAligns: ['left', 'right', 'right', 'right', 'right', 'left'],
    style: { head: [], border: [] },
  })
  for (const { what, ours, bare, figure, target, isMet } of lines)
    table.push([what, ours, bare, figure, target, isMet ? 'met' : 'MISSED'])
  return table.toString()
}
