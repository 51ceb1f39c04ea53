/** Events for tests: workspaces with an account that may pull, thousands of events, and the way to pull them. */
import { randomUUIDv7 } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Sql } from 'postgres'
import { performForAnswer } from '../../src/core/app/perform.ts'
import { operations } from '../../src/core/contract/operations.ts'
import type { Ctx } from '../../src/core/kernel/transaction/context.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import type { AccountActor, Actor } from '../../src/core/kernel/values/actor.ts'

export const pulledType = 'svc.work.label.created.v1'

export const system = { kind: 'SYSTEM', job: 'test' } as const satisfies Actor

/** An ADMIN of a workspace, without the token that would prove it. */
export const adminOf = (tenantId: string, accountId = randomUUIDv7()): AccountActor => ({
  kind: 'ACCOUNT',
  accountId,
  tenantId,
  credentialId: randomUUIDv7(),
  bearerId: randomUUIDv7(),
  sessionId: null,
  scopes: ['workspace:read'],
  role: 'ADMIN',
  isOperator: false,
})

/** The open hub of invented events, in every workspace. */
export const eventHubId = '0199c0de-0000-7000-8000-000000000001'

/** Makes the hub if it does not exist yet. */
export const layEventHub = ({ tx }: Pick<Ctx, 'tx'>, tenantId: string) => tx`
  insert into container (tenant_id, id, kind, name, rank) values (${tenantId}, ${eventHubId}, 'HUB', 'Events', 'a0')
  on conflict (tenant_id, id) do nothing`

/** Emits a label's event as the transaction that created one would; the test recognises it by `name`. */
export const emitLabel = (ctx: Ctx, name: string): Promise<void> => {
  const id = randomUUIDv7()
  return ctx.emit({
    name: 'work.label.created',
    data: { id, container_id: eventHubId, name, color_token: 'red' },
  })
}

/** One committed transaction with an event of each name. */
export const writeLabels = (installation: Installation, tenantId: string, ...names: string[]) =>
  installation.transaction(system, { tenantId }, async (ctx) => {
    await layEventHub(ctx, tenantId)
    for (const name of names) await emitLabel(ctx, name)
  })

/**
 * Writes until it is enough; answers the names of the events that were committed, and only those. Every tenth transaction
 * rolls back, every twentieth commits late. It goes on once `tell` has been told.
 */
export async function keepWriting(
  installation: Installation,
  tenantId: string,
  writer: number,
  isEnough: () => boolean,
  tell: (count: number) => void | Promise<void>,
): Promise<string[]> {
  const committed: string[] = []
  for (let turn = writer; !isEnough(); turn += 1) {
    const names = Array.from({ length: 1 + (turn % 5) }, (_, n) => `${writer}/${turn}/${n}`)
    const work = installation.transaction(system, { tenantId }, async (ctx) => {
      for (const name of names) await emitLabel(ctx, name)
      if (turn % 20 === 7) await pause(10 + (turn % 90))
      if (turn % 10 === 3) throw new Error('rolled back')
    })
    const done = await work.then(
      () => true,
      (error: Error) => {
        if (error.message !== 'rolled back') throw error
        return false
      },
    )
    if (!done) continue
    committed.push(...names)
    await tell(names.length)
  }
  return committed
}

/** One page, as the daemon answers it. */
export const pullPage = (
  installation: Installation,
  tenantId: string,
  sent: { since?: string; limit?: number; eventType?: string } = {},
  actor: Actor = adminOf(tenantId),
) => {
  const { eventType = pulledType, ...query } = sent
  return performForAnswer(installation, operations.pullEvents, actor, { eventType, ...query })
}

export interface StoredLabel {
  /** Its place in the order of the workspace. */
  readonly number: bigint
  readonly name: string
}

/** What the database has of these events, in the order of the workspace's counter. */
export async function storedLabels(sql: Sql, tenantId: string): Promise<StoredLabel[]> {
  const rows = await sql<{ number: string; name: string }[]>`
    select seq::text as number, body::jsonb -> 'data' ->> 'name' as name from outbox_event
    where tenant_id = ${tenantId} and type = ${pulledType} order by tx, seq`
  return rows.map(({ number, name }) => ({ number: BigInt(number), name }))
}

export type Pulled = Awaited<ReturnType<typeof pullPage>>

export const namesIn = (page: Pulled) => page.data.map(({ data }) => (data as { name: string }).name)

/** Everything there is from a cursor on, page by page. */
export async function pullAll(installation: Installation, tenantId: string, since?: string, limit = 100) {
  const names: string[] = []
  let page = await pullPage(installation, tenantId, { ...(since === undefined ? {} : { since }), limit })
  names.push(...namesIn(page))
  while (page.has_more) {
    page = await pullPage(installation, tenantId, { since: page.next_since, limit })
    names.push(...namesIn(page))
  }
  return { names, next: page.next_since }
}

/** Takes the next numbers of a workspace for events that a test writes itself: `last` is the one before the first. */
export const numberEvents = (sql: Sql, tenantId: string, count: number) => sql`
  insert into outbox_counter (tenant_id, last) values (${tenantId}, ${count})
  on conflict (tenant_id) do update set last = outbox_counter.last + excluded.last returning last - ${count}::int as last`

/** Makes events of the past: `count` of them, made so many days ago. */
export const agedEvents = (sql: Sql, tenantId: string, count: number, days: number, type = pulledType) => sql`
  with before as (${numberEvents(sql, tenantId, count)})
  insert into outbox_event (tenant_id, id, seq, type, occurred_at, body)
  select ${tenantId}, uuidv7(make_interval(days => ${-days})), last + n, ${type}, now() - make_interval(days => ${days}), json_build_object('data', json_build_object('name', n::text))
  from before, generate_series(1, ${count}) n`
