/**
 * A mixed load on workspaces in use, which the requests visit at random: 1,000 and 10,000 of them against 10. Each has a
 * member with a token, and a board with some items.
 */
import postgres from 'postgres'
import { scopes } from '../src/core/contract/vocabulary.ts'
import { type DatabaseAddress, postgresOptions } from '../src/core/kernel/database/address.ts'
import { mintToken } from '../src/core/kernel/values/token.ts'
import { addWorkspaces } from './filler.ts'
import { type Ground, layGround } from './ground.ts'
import { startDaemon } from './processes.ts'
import { anyOf, type Client, openClient, type Request } from './requests.ts'
import { medians } from './rounds.ts'
import { type Line, ratioLine } from './table.ts'

/** BENCH_GROWTH_WORKSPACES has fewer of them, to try the benchmark itself. */
const counts = (process.env['BENCH_GROWTH_WORKSPACES'] ?? '10,1000,10000').split(',').map(Number)
const itemsEach = 20
/** Enough to keep two processors busy, and no more: a call that waits in a queue says nothing about workspaces. */
const connections = 16
const rounds = 15
const roundMs = 1_000

interface Workspace {
  readonly token: string
  readonly collectionId: string
  readonly buckets: readonly string[]
  readonly items: readonly string[]
}

interface Side {
  readonly superuser: DatabaseAddress
  readonly client: Client
  readonly workspaces: readonly Workspace[]
  remove(): Promise<void>
}

/** Of requests a minute: a ceiling that no workspace reaches costs a payment, which busy workspaces make less often. */
const ceilings = { 'no ceiling': 0, 'a ceiling of requests': 1_000_000 }

export async function workspacesInUse(): Promise<Line[]> {
  const sides: Side[] = []
  try {
    for (const count of counts) sides.push(await openSide(count))
    const lines: Line[] = []
    for (const [what, ceiling] of Object.entries(ceilings)) {
      for (const side of sides) await visitAll(side, ceiling)
      lines.push(...(await compareSides(sides, what)))
    }
    return lines
  } finally {
    for (const side of sides) await side.remove()
  }
}

async function compareSides(sides: readonly Side[], what: string): Promise<Line[]> {
  const round = (side: Side) => () => side.client.rate(() => nextRequest(side), roundMs)
  const [few, ...more] = await medians(sides.map(round), rounds)
  return more.map((ours, at) => {
    const line = `growth: a mixed load on ${counts[at + 1]} workspaces against ${counts[0]}, ${what}`
    process.stderr.write(`${line}: ${(ours / few!).toFixed(2)}\n`)
    return ratioLine(line, { ours, bare: few!, unit: 'req/s' }, 'at least', 0.9)
  })
}

async function openSide(count: number): Promise<Side> {
  const ground = await layGround()
  await addWorkspaces(ground.superuser, count)
  const workspaces = await settle(ground)
  const daemon = await startDaemon(ground.environment)
  const client = openClient(daemon.address, connections)
  return {
    superuser: ground.superuser,
    client,
    workspaces,
    async remove() {
      await client.close()
      await daemon.stop()
      await ground.remove()
    },
  }
}

/** The members of the filler's workspaces join, get tokens, and their boards get items. */
async function settle({ superuser }: Ground): Promise<Workspace[]> {
  const sql = postgres({ ...postgresOptions(superuser), max: 1, onnotice: () => undefined })
  try {
    const found = await sql<(Omit<Workspace, 'token'> & { tenant_id: string; account_id: string })[]>`
      update account a set state = 'ACTIVE' from tenant t where t.id = a.tenant_id and t.slug like 'filler-%'
      returning a.tenant_id, a.id as account_id`
    const minted = found.map((one) => ({ ...one, ...mintToken('personal') }))
    const tokens = minted.map(({ hash, ...rest }) => ({ ...rest, hash: hash.toString('hex') }))
    await sql.begin(async (tx) => {
      await tx`set local session_replication_role = replica`
      await tx`
        insert into credential (tenant_id, id, account_id, kind, hash, last4, name, scopes)
        select tenant_id, uuidv7(), account_id, 'PERSONAL', decode(hash, 'hex'), last4, 'bench', ${scopes.join(' ')}
        from jsonb_to_recordset(${tx.json(tokens)}) as t (tenant_id uuid, account_id uuid, hash text, last4 text)`
      await tx`
        insert into item (tenant_id, id, container_id, bucket_id, type, title, description, rank, created_by,
                          without_labels, without_members, without_values)
        select a.tenant_id, uuidv7(), b.container_id, b.id, 'TASK', 'Item ' || n, repeat('words ', 20), 'b' || lpad(n::text, 2, '0'), a.id,
               true, true, true
        from generate_series(1, ${itemsEach}) n
        join bucket b on b.name_fold = 'bucket ' || n % 3 join account a on a.tenant_id = b.tenant_id and a.email like 'filler-%'
        order by n`
      await tx`insert into bucket_tally (tenant_id, bucket_id, items) select tenant_id, bucket_id, count(*) from item group by 1, 2`
      await tx`insert into item_tally (tenant_id, items) select tenant_id, count(*) from item group by 1`
    })
    await sql`vacuum analyze`
    await sql`checkpoint`
    const boards = await sql<(Omit<Workspace, 'token'> & { tenant_id: string })[]>`
      select tenant_id, container_id as "collectionId", jsonb_agg(distinct bucket_id) as buckets, jsonb_agg(id) as items
      from item group by tenant_id, container_id`
    const tokenOf = new Map(minted.map(({ tenant_id, token }) => [tenant_id, token]))
    return boards.map(({ tenant_id, ...board }) => ({ ...board, token: tokenOf.get(tenant_id)! }))
  } finally {
    await sql.end()
  }
}

/** 70 of 100 read. */
function nextRequest({ workspaces }: Side): Request & { token: string } {
  const { token, collectionId, buckets, items } = anyOf(workspaces)
  const dice = Math.random() * 100
  const itemId = anyOf(items)
  const request = (): Request => {
    if (dice < 30) return { method: 'GET', path: `/containers/${collectionId}/board?size=5` }
    if (dice < 50) return { method: 'GET', path: `/items/${itemId}` }
    if (dice < 70) return { method: 'GET', path: `/items?container_id=${collectionId}&size=20` }
    if (dice < 80) return { method: 'POST', path: '/items', body: { container_id: collectionId, title: 'Loaded' } }
    if (dice < 90) return { method: 'PATCH', path: `/items/${itemId}`, body: { title: `Title ${dice}` } }
    return { method: 'POST', path: `/items/${itemId}:move`, body: { bucket_id: anyOf(buckets) } }
  }
  return { ...request(), token }
}

/** Workspaces in use: the daemon knows their tokens and ceilings. */
async function visitAll({ superuser, client, workspaces }: Side, ceiling: number): Promise<void> {
  const sql = postgres({ ...postgresOptions(superuser), max: 1 })
  await sql`
    insert into tenant_quota (tenant_id, quota, ceiling)
    select id, 'api_requests_per_minute', ${ceiling} from tenant where slug like 'filler-%'
    on conflict (tenant_id, quota) do update set ceiling = excluded.ceiling`
  await sql`vacuum analyze tenant_quota`
  await sql.end()
  const waiting = [...workspaces]
  const lane = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop())
      await client.send({ method: 'GET', path: `/containers/${next.collectionId}/buckets`, token: next.token })
  }
  await Promise.all(Array.from({ length: connections }, lane))
}
