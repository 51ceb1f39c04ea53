/** Connections outside the pool, each with one purpose. */
import { Socket } from 'node:net'
import type { Client } from 'pg'
import { type DatabaseAddress, pgOptions } from './address.ts'

/** After 10 s of silence the system probes the other host, and gives up 10 s later. */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 }

const connectMs = 5_000
/** Longest wait for a short statement; only a frozen server takes longer. */
const answerMs = 5_000
const goodbyeMs = 1_000

export interface Attached {
  readonly client: Client
  /** Ends the connection, and destroys the socket if the server does not answer. Never rejects. */
  end(): Promise<void>
}

/**
 * Connects a client for short statements, which the caller keeps: no statement is waited for longer
 * than 5 s. `prepared` is called before it connects, so that it can add listeners. Throws when the
 * database cannot be reached.
 */
export async function attach(
  address: DatabaseAddress,
  name: string,
  prepared: (client: Client) => void,
): Promise<Attached> {
  const { default: pg } = await import('pg')
  const stream = new Socket()
  const client = new pg.Client({
    ...pgOptions(address),
    ...keepAlive,
    stream: () => stream,
    application_name: name,
    connectionTimeoutMillis: connectMs,
    query_timeout: answerMs,
  })
  // A connection that is lost between two statements reports it here.
  client.on('error', () => {})
  prepared(client)
  const end = async () => {
    const deadline = setTimeout(() => stream.destroy(), goodbyeMs)
    await client.end().catch(() => {})
    clearTimeout(deadline)
  }
  try {
    await client.connect()
  } catch (error) {
    stream.destroy()
    throw error
  }
  return { client, end }
}

/** What a connection that failed says about where its address is from. */
export interface OfAddress {
  readonly variable: string | undefined
}

/** Runs work over its own connection, and then ends the connection: for migrations and checks, never for a rule. */
export async function withClient<T>(address: DatabaseAddress, work: (client: Client) => Promise<T>): Promise<T> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({
    ...pgOptions(address),
    ...keepAlive,
    application_name: 'svc maintenance',
    connectionTimeoutMillis: connectMs,
  })
  // A connection that is lost between two statements reports it here; the next statement fails with it.
  client.on('error', () => {})
  await client.connect().catch((error: Error) => {
    throw Object.assign(error, { variable: address.variable } satisfies OfAddress)
  })
  try {
    return await work(client)
  } finally {
    await client.end().catch(() => {})
  }
}
