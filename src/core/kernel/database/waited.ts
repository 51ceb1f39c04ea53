/** Whether a statement had to wait. Spec: docs/decisions/0183. */
import type { Part } from './statement.ts'
import type { Tx } from './transaction.ts'

/**
 * True in the outer query of a statement whose subquery locked rows, if that took longer than it does without a wait:
 * what the subquery read by its snapshot may be old.
 */
export const hasWaited = ({ part }: Pick<Tx, 'part'>): Part =>
  part`clock_timestamp() > statement_timestamp() + interval '10 ms'`
