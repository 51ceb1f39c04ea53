/**
 * The statements of an operation, recorded from one real run and run again bare.
 *
 * Bare means: the same texts and values on connections of postgres.js, one behind another
 * without waiting, `begin` and `commit` included; no rules, no schemas, no sealing, no
 * events to write. It is the least that the same rows can cost. Every run gets ids and
 * slugs of its own, put in before the clock starts.
 */
import { randomUUIDv7 } from 'node:crypto'
import postgres from 'postgres'
import { type DatabaseAddress, postgresOptions } from '../src/core/database/address.ts'
import { columnTypes } from '../src/core/database/column-values.ts'
import { asInstallation, asTenant, contextOf } from '../src/core/context.ts'
import { connect } from '../src/core/database/connection.ts'
import { Json, type Statement } from '../src/core/database/statement.ts'
import { runTransaction } from '../src/core/database/transaction.ts'
import type { Installation } from '../src/core/installation.ts'

export type Recorded = readonly Statement[]

/** Runs work on an installation whose statements are noted, and answers them. */
export async function recorded(
  { config, ring, queue, address }: Installation,
  work: (installation: Installation) => Promise<unknown>,
): Promise<Recorded> {
  const statements: Statement[] = []
  const connection = await connect(address, {
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
  const installation: Pick<Installation, 'config' | 'ring' | 'queue' | 'address' | 'transaction'> = {
    config,
    ring,
    queue,
    address,
    transaction(actor, { tenantId, readOnly = false, ifMatch }, rule) {
      const opening = tenantId === undefined ? asInstallation : asTenant(tenantId)
      return runTransaction(
        noting,
        opening,
        (tx) => rule(contextOf({ tx, actor, config, ring, queue, tenantId, ifMatch })),
        { readOnly },
      )
    },
  }
  await work(installation as Installation)
  await connection.end()
  return statements
}

export interface BarePool {
  /** Sends one run's statements down a connection, and waits for all of them. */
  run(statements: Recorded): Promise<void>
  close(): Promise<void>
}

/** As many connections of postgres.js as our pool has, each a client of its own, with the same types. */
export function openBarePool(address: DatabaseAddress, size: number): BarePool {
  const clients = Array.from({ length: size }, () => postgres({ ...bareOptions(address), max: 1 }))
  const free = [...clients]
  const waiting: ((client: postgres.Sql) => void)[] = []
  const take = () => free.pop() ?? new Promise<postgres.Sql>((resolve) => waiting.push(resolve))
  const giveBack = (client: postgres.Sql) => {
    const next = waiting.shift()
    if (next) next(client)
    else free.push(client)
  }

  return {
    async run(statements) {
      const client = await take()
      try {
        await Promise.all(statements.map((statement) => send(client, statement)))
      } finally {
        giveBack(client)
      }
    },
    async close() {
      await Promise.all(clients.map((client) => client.end({ timeout: 1 })))
    },
  }
}

/** What a session of ours is opened with, without its limits. */
export const bareOptions = (address: DatabaseAddress) =>
  ({
    ...postgresOptions(address),
    fetch_types: false,
    types: columnTypes,
    onnotice: () => undefined,
    connection: { search_path: 'public', TimeZone: 'UTC', DateStyle: 'ISO, YMD' },
  }) as postgres.Options<Record<string, never>>

const jsonb = columnTypes.json.to

function send(client: postgres.Sql, { text, values, mode }: Statement) {
  if (mode === 'simple') return client.unsafe(text).simple()
  const bound = values.map((value) =>
    value instanceof Json ? client.typed(value.text as never, jsonb) : (value as never),
  )
  return client.unsafe(text, bound, { prepare: mode === 'plan' })
}

const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** The same statements for another thing of the same kind: new ids, another slug. What `kept` names stays. */
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
