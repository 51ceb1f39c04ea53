/** Moments inside of JSON that a statement makes. */
import type { Part } from './statement.ts'
import type { Tx } from './transaction.ts'

/** A moment in the form in which a column is answered. */
export const momentInJson = ({ part }: Pick<Tx, 'part'>, moment: Part): Part =>
  part`to_char(${moment} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
