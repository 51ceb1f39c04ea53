/**
 * Recorded statements on connections of postgres.js, one behind another without waiting: no rules,
 * no schemas, no sealing. This is the lowest possible cost of the same rows.
 */
import postgres from 'postgres'
import { type DatabaseAddress, postgresOptions } from '../src/core/kernel/database/address.ts'
import { columnTypes } from '../src/core/kernel/database/column-values.ts'
import { Json, type Statement } from '../src/core/kernel/database/statement.ts'
import type { Recorded } from './recording.ts'

export interface BarePool {
  /** Sends one run's statements down a connection, and waits for all of them. */
  run(statements: Recorded): Promise<void>
  /** Lends a connection to one piece of work at a time, as a pool with separate transactions must (decisions 0001). */
  lend<T>(work: (client: postgres.Sql) => Promise<T>): Promise<T>
  close(): Promise<void>
}

/** As many connections of postgres.js as our pool has, each a client of its own, with the same types. */
export function openBarePool(address: DatabaseAddress, size: number): BarePool {
  const clients = Array.from({ length: size }, () => postgres(bareOptions(address)))
  const free = [...clients]
  const waiting: ((client: postgres.Sql) => void)[] = []
  const take = () => free.pop() ?? new Promise<postgres.Sql>((resolve) => waiting.push(resolve))
  const giveBack = (client: postgres.Sql) => {
    const next = waiting.shift()
    if (next) next(client)
    else free.push(client)
  }

  const lend: BarePool['lend'] = async (work) => {
    const client = await take()
    try {
      return await work(client)
    } finally {
      giveBack(client)
    }
  }

  return {
    lend,
    async run(statements) {
      await lend((client) => Promise.all(statements.map((statement) => send(client, statement))))
    },
    async close() {
      await Promise.all(clients.map((client) => client.end({ timeout: 1 })))
    },
  }
}

/** The options of our sessions, without the limits. */
const bareOptions = (address: DatabaseAddress): postgres.Options<Record<string, never>> => {
  const options: object = {
    ...postgresOptions(address),
    max: 1,
    fetch_types: false,
    types: columnTypes,
    onnotice: () => undefined,
    connection: { search_path: 'public', TimeZone: 'UTC', DateStyle: 'ISO, YMD' },
  }
  return options
}

const jsonb = columnTypes.json.to

function send(client: postgres.Sql, { text, values, mode }: Statement) {
  if (mode === 'simple') return client.unsafe(text).simple()
  const bound = values.map((value) =>
    value instanceof Json ? client.typed(value.text as never, jsonb) : (value as never),
  )
  return client.unsafe(text, bound, { prepare: mode === 'plan' })
}
