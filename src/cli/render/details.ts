/** One thing as a list of names and values. */
import { printable } from './printable.ts'

/** One line for each member that has a value; names in one column. */
export function details(
  members: readonly (readonly [name: string, value: string | number | bigint | null | undefined])[],
): string {
  const told = members.filter(([, value]) => value !== null && value !== undefined && value !== '')
  const width = Math.max(...told.map(([name]) => name.length))
  return told.map(([name, value]) => `${name.padEnd(width)}  ${printable(String(value))}`).join('\n')
}
