/** Errors of the server that are faults of what is loaded: of a value, or of a key. Every other error is passed on. */
import { Problem } from '../../../contract/problem.ts'
import { invalid } from '../archive-reader.ts'

/** SQLSTATE classes of values that a column does not take, and of rows that break a key. */
const ofValues = /^(22|23|42804)/

export const asValue = (error: unknown) => asFault(error, 'value')
export const asKeys = (error: unknown) => asFault(error, 'keys')

function asFault(error: unknown, fault: 'value' | 'keys'): never {
  if (error instanceof Problem) throw error
  if (ofValues.test(String((error as { code?: unknown } | null)?.code ?? ''))) invalid(fault)
  throw error
}
