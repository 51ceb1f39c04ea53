/**
 * What lets somebody in is not valid before it was issued: a clock that falls back must not make it live longer.
 * 5 s are allowed for small corrections of the clock. Spec: people 9, clocks; docs/decisions/0045, 0482, 0496.
 */
import type { Part } from '../../kernel/database/statement.ts'
import type { Tx } from '../../kernel/database/transaction.ts'

/** A condition: the moment of issue is not in the future, by the database's clock. */
export const isIssued = ({ part }: Pick<Tx, 'part'>, issuedAt: Part): Part =>
  part`${issuedAt} <= now() + interval '5 seconds'`

/** The same of the token `c` of a session or a program. A minute, because a correction of some seconds must sign nobody out. */
export const isTokenIssued = ({ part }: Pick<Tx, 'part'>): Part => part`c.created_at <= now() + interval '1 minute'`
