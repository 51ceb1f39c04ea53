/** The members that `--fields` names: of each row where the answer is a list, else of the answer itself. */
import { nearest } from '../../core/kernel/values/nearest.ts'
import { Failure } from '../failure.ts'

type Row = Readonly<Record<string, unknown>>

const isRow = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The member of the answer that holds its rows: `data`, or its only list of objects. */
export function listIn(answer: unknown): string | undefined {
  if (!isRow(answer)) return undefined
  if (Array.isArray(answer['data'])) return 'data'
  const lists = Object.keys(answer).filter((name) => {
    const member = answer[name]
    return Array.isArray(member) && member.every(isRow) && member.length > 0
  })
  return lists.length === 1 ? lists[0] : undefined
}

/**
 * The answer with these members alone; `a.b` is the member b of a. An answer keeps its shape: what reads `.data[0].slug`
 * reads it from a chosen answer, too. Fails (usage) for a member that no row has.
 */
export function fieldsFrom(answer: unknown, names: readonly string[]): unknown {
  if (Array.isArray(answer)) return chosenOf(answer, names)
  const own = isRow(answer) && names.every((name) => (name.split('.')[0] ?? '') in answer)
  const list = own ? undefined : listIn(answer)
  if (list === undefined) return chosenOf([answer], names)[0]
  const { [list]: rows, ...rest } = answer as Row
  return {
    [list]: chosenOf(rows as unknown[], names),
    ...('next_cursor' in rest ? { next_cursor: rest['next_cursor'] } : {}),
  }
}

function chosenOf(rows: readonly unknown[], names: readonly string[]): unknown[] {
  const known = [...new Set(rows.filter(isRow).flatMap(Object.keys))]
  for (const name of names) if (rows.length > 0) demandKnown(rows, name, known)
  return rows.map((row) => {
    const chosen: Record<string, unknown> = {}
    for (const name of names) put(chosen, name.split('.'), at(row, name.split('.')))
    return chosen
  })
}

function demandKnown(rows: readonly unknown[], name: string, known: readonly string[]): void {
  if (rows.some((row) => isRow(row) && (name.split('.')[0] ?? '') in row)) return
  const meant = nearest(name, known)
  throw new Failure(
    'usage',
    `The answer came, but it has no member "${name}".${meant === undefined ? '' : ` Did you mean ${meant}?`}`,
    known.length === 0 ? 'It has no members.' : `Its members: ${known.join(', ')}.`,
  )
}

const at = (value: unknown, [first, ...rest]: readonly string[]): unknown => {
  if (first === undefined) return value
  return isRow(value) ? at(value[first], rest) : null
}

function put(target: Record<string, unknown>, [first = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) target[first] = value ?? null
  else {
    const inner = (isRow(target[first]) ? target[first] : {}) as Record<string, unknown>
    target[first] = inner
    put(inner, rest, value)
  }
}
