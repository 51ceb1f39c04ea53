/**
 * A client of the bare sides of the benches: a connection of postgres.js, row-level security, and the answer as JSON. It shares
 * no statement with the daemon. A read is one packet; an act that has to look before it writes looks in one packet and writes in
 * another one.
 */
import type postgres from 'postgres'

export interface BareCaller {
  readonly tenantId: string
  readonly accountId: string
}

export type Row = Record<string, unknown>
type Send = (text: string, ...values: unknown[]) => Promise<Row[]>

export interface Bare {
  readonly send: Send
  readonly caller: BareCaller
}

/** `execute` sends at once; the driver would wait until somebody awaits the answer. */
const sender =
  (client: postgres.Sql): Send =>
  (text, ...values) =>
    client.unsafe(text, values as never[], { prepare: true }).execute() as never

/** The transaction of a read is one packet. */
export async function reading<T>(
  client: postgres.Sql,
  caller: BareCaller,
  read: (bare: Bare) => Promise<T>,
): Promise<string> {
  const begun = client.unsafe(opening('only', caller)).simple().execute()
  const rows = read({ send: sender(client), caller })
  const [, answer] = await Promise.all([begun, rows, client.unsafe('commit').simple().execute()])
  return JSON.stringify(answer)
}

const opening = (mode: 'only' | 'write', { tenantId }: BareCaller) =>
  `begin read ${mode}; set local role svc_tenant; set local app.tenant_id = '${tenantId}'`

/** The cursor of a page is a text of the length of ours, and not sealed. */
export const page = (rows: readonly Row[], key: string) => ({
  data: rows.slice(0, 50),
  next_cursor: rows.length > 50 ? Buffer.from(JSON.stringify([rows[49]?.[key]])).toString('base64url') : null,
})

/** `ask` in the packet that begins, `write` in the one that commits. `beside`: what has to be done before the commit. */
export async function changing<Asked, Answer>(
  client: postgres.Sql,
  caller: BareCaller,
  act: {
    readonly as?: string
    ask(bare: Bare): Promise<Asked>
    write(bare: Bare, asked: Asked): Promise<Answer>
    beside?(): Promise<unknown>
  },
): Promise<string> {
  const bare = { send: sender(client), caller }
  const begun = client
    .unsafe(act.as ?? opening('write', caller))
    .simple()
    .execute()
  const [, asked] = await Promise.all([begun, act.ask(bare)])
  const written = act.write(bare, asked)
  if (act.beside) await Promise.all([written, act.beside()])
  const [answer] = await Promise.all([written, client.unsafe('commit').simple().execute()])
  return JSON.stringify(answer)
}

/** Throws unless both sides answer with about as much. */
export function compareSizes(what: string, ours: string | undefined, theirs: string): void {
  const ratio = (ours ?? '').length / theirs.length
  if (ratio > 1.15 || ratio < 0.85) throw new Error(`${what}: ${ours} stands against ${theirs}`)
}
