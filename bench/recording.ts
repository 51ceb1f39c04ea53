/**
 * The statements of an operation, recorded from one real run, to be run again bare (bare-pool.ts):
 * the same texts and values, with `begin` and `commit`. Every run gets its own ids and slugs, which
 * are put in before the clock starts.
 */
import { randomUUIDv7 } from 'node:crypto'
import { openLedgerCopies } from '../src/core/areas/recovery/ledger/ledger-copies.ts'
import { connect } from '../src/core/kernel/database/connection.ts'
import { checkedOpening, Json, type Statement } from '../src/core/kernel/database/statement.ts'
import { runTransaction } from '../src/core/kernel/database/transaction.ts'
import { type Installation, installationOver } from '../src/core/kernel/transaction/installation.ts'

export type Recorded = readonly Statement[]

/** Runs work on an installation, and answers the statements that it sent. */
export async function recorded(
  installation: Installation,
  work: (installation: Installation) => Promise<unknown>,
): Promise<Recorded> {
  const statements: Statement[] = []
  const connection = await connect(installation.address, {
    applicationName: 'svc bench recorder',
    statementMs: 5_000,
    lockMs: 2_000,
    idleInTransactionMs: 10_000,
  })
  const noting = {
    ...connection,
    alive: true,
    send(statement: Statement) {
      statements.push(statement)
      return connection.send(statement)
    },
  }
  const pool: Installation['pool'] = {
    ...installation.pool,
    transaction: (opening, rule, options = {}) => runTransaction(noting, checkedOpening(opening), rule, options),
  }
  try {
    await work(installationOver({ ...installation, pool, openCopies: openLedgerCopies }))
  } finally {
    await connection.end()
  }
  return statements
}

const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** The same statements for another thing of the same kind: new ids and another slug. Ids in `kept` stay. */
export function renewed(statements: Recorded, slug: { was: string; is: string }, kept: ReadonlySet<string>): Recorded {
  const ids = new Map<string, string>()
  const renew = (text: string) =>
    text.replaceAll(slug.was, slug.is).replace(uuids, (id) => {
      if (kept.has(id)) return id
      const fresh = ids.get(id) ?? randomUUIDv7()
      ids.set(id, fresh)
      return fresh
    })
  return statements.map(({ text, values, mode }) => ({
    text: mode === 'simple' ? renew(text) : text,
    values: values.map((value) => {
      if (value instanceof Json) return new Json(renew(value.text))
      return typeof value === 'string' ? renew(value) : value
    }),
    mode,
  }))
}
