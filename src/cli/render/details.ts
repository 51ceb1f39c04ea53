/** One thing as a list of names and values. */
import { printable } from './printable.ts'

const gap = 2
/** Beside narrower values nothing is gained by lines of our own. */
const narrowest = 24

/**
 * The members that have a value; names in one column. On a terminal a value that does not fit goes on below itself, from one
 * word to the next: `width` in columns of the terminal, undefined breaks nothing.
 */
export function details(
  members: readonly (readonly [name: string, value: string | number | bigint | null | undefined])[],
  width = process.stdout.columns,
): string {
  const told = members.filter(([, value]) => value !== null && value !== undefined && value !== '')
  const indent = Math.max(...told.map(([name]) => name.length)) + gap
  const room = width ? width - indent : Number.POSITIVE_INFINITY // a terminal that does not know its width says 0
  return told
    .map(([name, value]) => {
      const text = printable(String(value))
      const lines = room < narrowest ? [text] : inLines(text, room)
      return name.padEnd(indent) + lines.join(`\n${' '.repeat(indent)}`)
    })
    .join('\n')
}

/**
 * Sentences for a terminal: a line that does not fit goes on below itself, from one word to the next, behind its indentation
 * and its label (`  password       closed: …`). `width` in columns of the terminal, undefined breaks nothing.
 */
export const folded = (text: string, width = process.stdout.columns): string =>
  width
    ? text
        .split('\n')
        .map((line) => foldedLine(line, width))
        .join('\n')
    : text

function foldedLine(line: string, width: number): string {
  if (line.length <= width) return line
  const labelled = /^ *(?:\S+(?: \S+)* {2,})?/.exec(line)?.[0].length ?? 0
  const indent = width - labelled < narrowest ? line.length - line.trimStart().length : labelled
  return line.slice(0, indent) + inLines(line.slice(indent), width - indent).join(`\n${' '.repeat(indent)}`)
}

/** The text in lines of so many characters. A word that is longer than a line stays whole: people copy it. */
export function inLines(text: string, room: number): string[] {
  if (text.length <= room) return [text]
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > room) {
      lines.push(line.trimEnd())
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
