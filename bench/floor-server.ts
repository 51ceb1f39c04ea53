/**
 * The floor: the same reads and writes as the daemon's, in its own process and by its own statements.
 * Fastify, a pool of single-connection clients, row-level security, and one look-up by the token's
 * hash. No limits, no schemas, no locks, no log.
 *
 * A request is two packets: the look-up, and the transaction with everything in it. It writes the
 * rows that the daemon writes: the item, the key of its title, its entry in the trail, its event, what is to be
 * indexed (which the daemon does for both, in the background), and the tallies.
 *
 * Takes the database's address and the number of connections as JSON; prints where it listens.
 */
import { createHash, randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import fastify, { type FastifyRequest } from 'fastify'
import type postgres from 'postgres'
import type { DatabaseAddress } from '../src/core/kernel/database/address.ts'
import { openBarePool } from './bare-pool.ts'

export interface FloorSettings {
  /** A superuser's: the look-up takes no role. */
  readonly address: DatabaseAddress
  readonly poolSize: number
}

interface Caller {
  readonly tenantId: string
  readonly accountId: string
}

type Row = Record<string, unknown>
type Send = (text: string, values: readonly unknown[]) => Promise<Row[]>

const settings = JSON.parse(process.argv[2] ?? '') as FloorSettings
const pool = openBarePool(settings.address, settings.poolSize)

/** Runs statements that are all sent at once, as the caller's workspace. */
async function answered<T>(
  request: FastifyRequest,
  mode: 'only' | 'write',
  work: (send: Send, caller: Caller) => Promise<T>,
): Promise<T> {
  const hash = createHash('sha256')
    .update(request.headers.authorization?.slice('Bearer '.length) ?? '')
    .digest()
  return pool.lend(async (client: postgres.Sql) => {
    // `execute` sends at once; the driver would wait until somebody awaits the answer.
    const send: Send = (text, values) => client.unsafe(text, values as never[], { prepare: true }).execute() as never
    const [caller] = await send(
      `select tenant_id as "tenantId", account_id as "accountId" from credential where hash = $1 and revoked_at is null`,
      [hash],
    )
    if (!caller) throw new Error('nobody has this token')
    const { tenantId } = caller as unknown as Caller
    const opening = `begin read ${mode}; set local role svc_tenant; set local app.tenant_id = '${tenantId}'`
    const begun = client.unsafe(opening).simple().execute()
    const working = work(send, caller as unknown as Caller)
    const [, answer] = await Promise.all([begun, working, client.unsafe('commit').simple().execute()])
    return answer
  })
}

/** Every member of an item's answer. Its lists are looked for where the row says that there are any. */
const columns = `i.id, i.container_id, i.bucket_id, i.type, i.title, i.description, i.state, i.rank as position,
  i.parent_id, i.sibling_rank as sibling_position,
  case when i.without_labels then '[]' else (
    select coalesce(jsonb_agg(label_id), '[]') from item_label l where l.tenant_id = i.tenant_id and l.item_id = i.id) end as label_ids,
  case when i.without_members then '[]' else (
    select coalesce(jsonb_agg(account_id), '[]') from item_member m where m.tenant_id = i.tenant_id and m.item_id = i.id) end as member_ids,
  case when i.without_values then '{}' else (
    select coalesce(jsonb_object_agg(f.key, v.value), '{}') from item_field_value v
    join custom_field f on f.tenant_id = v.tenant_id and f.id = v.field_id
    where v.tenant_id = i.tenant_id and v.item_id = i.id) end as custom_fields,
  i.assignee_id, i.start_at, i.due_at, i.start_on, i.due_on, i.time_zone, i.cover, i.completed_at, i.archived_at,
  i.created_at, i.created_by, i.updated_at, i.version`

/** What stands for the title among the fields by which items are found. */
const titleField = '00000000-0000-0000-0000-000000000001'

/** The entry, the event and what is to be indexed of a change. */
async function evidence(send: Send, { tenantId, accountId }: Caller, action: string, item: Row): Promise<void> {
  const data = { ...item, actor: accountId, specversion: '1.0', source: `/workspaces/${tenantId}`, type: action }
  void send(
    `insert into audit_entry (tenant_id, id, action, actor_kind, actor_account_id, via, subject_kind, subject_id)
     values ($1, $2, $3, 'ACCOUNT', $4, 'API', 'item', $5)`,
    [tenantId, randomUUID(), action, accountId, item['id']],
  )
  void send(`insert into search_pending (tenant_id, id, subject, subject_id) values ($1, $2, 'ITEM', $3)`, [
    tenantId,
    randomUUID(),
    item['id'],
  ])
  await send(`insert into outbox_event (tenant_id, id, type, container_id, body) values ($1, $2, $3, $4, $5)`, [
    tenantId,
    randomUUID(),
    `svc.${action}.v1`,
    item['container_id'] ?? null,
    JSON.stringify(data),
  ])
}

/** From the clock, so that a second floor on the same boards gives out others: no floor makes one a millisecond. */
let given = Date.now() % 36 ** 6
/** A rank of the daemon's form, which no rule gives out: six digits, and a second level. No look at the bucket. */
function rankNow(): string {
  given += 1
  return `f${given.toString(36).padStart(6, '0')}a1`
}

const app = fastify()

const bucketsOf = (send: Send, tenantId: string, containerId: string) =>
  send(
    `select b.id, b.container_id, b.name, row_number() over (order by b.rank)::int - 1 as position, b.wip_limit,
            coalesce(t.items > b.wip_limit, false) as over_limit, b.is_done_bucket, b.color_token,
            coalesce(t.items, 0) as item_count, b.created_at, b.updated_at, b.version
     from bucket b left join bucket_tally t on t.tenant_id = b.tenant_id and t.bucket_id = b.id
     where b.tenant_id = $1 and b.container_id = $2 order by b.rank`,
    [tenantId, containerId],
  )

app.get('/api/v1/containers/:containerId/buckets', (request) =>
  answered(request, 'only', async (send, { tenantId }) => {
    const { containerId } = request.params as { containerId: string }
    const data = await bucketsOf(send, tenantId, containerId)
    return { data }
  }),
)

app.get('/api/v1/items', (request) =>
  answered(request, 'only', async (send, { tenantId }) => {
    const { container_id, size } = request.query as Record<string, string>
    const data = await send(
      `select ${columns} from item i where i.tenant_id = $1 and i.container_id = $2 and i.deleted_at is null and i.archived_at is null
       order by i.id limit $3`,
      [tenantId, container_id, Number(size)],
    )
    return { data, next_cursor: data.at(-1)?.['id'] ?? null }
  }),
)

app.get('/api/v1/containers/:containerId/board', (request) =>
  answered(request, 'only', async (send, { tenantId }) => {
    const { containerId } = request.params as { containerId: string }
    const { size } = request.query as { size: string }
    const container = send(`select c.* from container c where c.tenant_id = $1 and c.id = $2`, [tenantId, containerId])
    const buckets = bucketsOf(send, tenantId, containerId)
    const items = await send(
      `select x.* from bucket b cross join lateral (
         select ${columns} from item i where i.tenant_id = $1 and i.container_id = $2 and i.bucket_id = b.id and i.deleted_at is null
           and i.archived_at is null order by i.rank limit $3) x
       where b.tenant_id = $1 and b.container_id = $2`,
      [tenantId, containerId, Number(size)],
    )
    const of = (bucketId: unknown) => items.filter((item) => item['bucket_id'] === bucketId)
    const shown = (await buckets).map((bucket) => ({ ...bucket, items: of(bucket['id']), next_cursor: null }))
    return { container: (await container)[0], buckets: shown, unbucketed: { items: [], next_cursor: null } }
  }),
)

app.post('/api/v1/items', (request, reply) =>
  answered(request, 'write', async (send, caller) => {
    const { container_id, title } = request.body as Record<string, string>
    const { tenantId, accountId } = caller
    const id = randomUUID()
    const made = send(
      `insert into item as i (tenant_id, id, container_id, bucket_id, type, title, rank, created_by)
       select $1, $2, $3, b.id, 'TASK', $4, $6, $5 from bucket b where b.tenant_id = $1 and b.container_id = $3 order by b.rank limit 1
       returning ${columns}`,
      [tenantId, id, container_id, title, accountId, rankNow()],
    )
    void send(`insert into item_field_key (tenant_id, item_id, field_id, key) values ($1, $2, $3, lower($4))`, [
      tenantId,
      id,
      titleField,
      title,
    ])
    void evidence(send, caller, 'work.item.created', { id, container_id, title, state: 'OPEN', type: 'TASK' })
    void send(
      `update bucket_tally set items = items + 1 where tenant_id = $1 and bucket_id = (
         select id from bucket where tenant_id = $1 and container_id = $2 order by rank limit 1)`,
      [tenantId, container_id],
    )
    void send(`update item_tally set items = items + 1 where tenant_id = $1`, [tenantId])
    const [item] = await made
    return reply.code(201).send(item)
  }),
)

app.patch('/api/v1/items/:itemId', (request) =>
  answered(request, 'write', async (send, caller) => {
    const { itemId } = request.params as { itemId: string }
    const { title } = request.body as { title: string }
    const changed = send(
      `update item i set title = $3, updated_at = now(), version = version + 1
       where tenant_id = $1 and id = $2 and deleted_at is null returning ${columns}`,
      [caller.tenantId, itemId, title],
    )
    void send(`update item_field_key set key = lower($4) where tenant_id = $1 and item_id = $2 and field_id = $3`, [
      caller.tenantId,
      itemId,
      titleField,
      title,
    ])
    void evidence(send, caller, 'work.item.changed', { id: itemId, title })
    const [item] = await changed
    return item
  }),
)

app.post('/api/v1/items/:action', (request) =>
  answered(request, 'write', async (send, caller) => {
    const [itemId = ''] = (request.params as { action: string }).action.split(':')
    const { bucket_id } = request.body as { bucket_id: string }
    void send(
      `update bucket_tally set items = items + case bucket_id when $3 then 1 else -1 end
       where tenant_id = $1 and bucket_id in ($3, (select bucket_id from item where tenant_id = $1 and id = $2 and bucket_id <> $3))`,
      [caller.tenantId, itemId, bucket_id],
    )
    const changed = send(
      `update item i set bucket_id = $3, rank = $4, updated_at = now(), version = version + 1
       where tenant_id = $1 and id = $2 and deleted_at is null returning ${columns}`,
      [caller.tenantId, itemId, bucket_id, rankNow()],
    )
    void evidence(send, caller, 'work.item.moved', { id: itemId, bucket_id })
    const [item] = await changed
    return item
  }),
)

app.addContentTypeParser('application/merge-patch+json', { parseAs: 'string' }, (_, body, done) =>
  done(null, JSON.parse(body as string)),
)
await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`listening on http://127.0.0.1:${(app.server.address() as AddressInfo).port}\n`)
