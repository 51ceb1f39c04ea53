/**
 * The keyring at 1,000,000 sealed values: counting them, against the grouped query alone;
 * resealing, against a batched UPDATE of the same rows to bytes that were made before the
 * clock started; and what another workspace's readers notice of it.
 */
import { randomUUIDv7 } from 'node:crypto'
import { Agent, get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import postgres from 'postgres'
import { performForAnswer } from '../src/core/app/perform.ts'
import { resealUntil } from '../src/core/areas/keyring/reseal.ts'
import { openLedgerCopies } from '../src/core/areas/recovery/ledger/ledger-copies.ts'
import { encryptionOperations } from '../src/core/contract/keyring/operations.ts'
import { postgresOptions } from '../src/core/kernel/database/address.ts'
import { liveKeyring } from '../src/core/kernel/sealing/keyring.ts'
import { addKey } from '../src/core/kernel/sealing/keyring-file.ts'
import { rewrap, seal } from '../src/core/kernel/sealing/sealing.ts'
import { installationOver } from '../src/core/kernel/transaction/installation.ts'
import { type Ground, layGround } from './ground.ts'
import { type Server, startDaemon } from './processes.ts'
import { compare, elapsedMs, median } from './rounds.ts'
import { type Line, ratioLine } from './table.ts'

const values = 1_000_000
const workspaces = 1_000
/** Real values, which can be opened; the others are only counted. */
const resealed = 100_000
const resealedIn = 10
const batchSize = 500
const rounds = 5

export async function encryption(): Promise<Line[]> {
  const ground = await layGround()
  const sql = postgres({ ...postgresOptions(ground.superuser), max: 1, onnotice: () => undefined })
  try {
    const counted = await counting(ground, sql)
    const bed = await makeBed(ground, sql)
    return [counted, await resealing(bed, sql), ...(await reading(bed, sql))]
  } finally {
    await sql.end()
    await ground.remove()
  }
}

/** A million rows of two kinds under three keys, in a thousand workspaces. */
async function counting({ installation, actor }: Ground, sql: postgres.Sql): Promise<Line> {
  await sql`
    insert into sealed_value (tenant_id, kind, owner_id, key_id, wrap, ciphertext)
    select ('00000000-0000-4000-8000-' || lpad((n % ${workspaces})::text, 12, '0'))::uuid,
           case when n % 10 = 0 then 'backup.credentials' else 'idempotency.answer' end, uuidv7(), 'filler-' || n % 3,
           decode(repeat('ab', 61), 'hex'), decode(repeat('cd', 120), 'hex')
    from generate_series(1, ${values}) n`
  await sql`vacuum analyze sealed_value`
  const operation = encryptionOperations.getEncryption
  const compared = await compare(
    () => elapsedMs(() => performForAnswer(installation, operation, actor, {})),
    () => elapsedMs(() => sql`select key_id, kind, count(*) from sealed_value group by key_id, kind`),
    2 * rounds,
  )
  await sql`truncate sealed_value`
  return ratioLine(`GET /admin/encryption at ${values} sealed values`, { ...compared, unit: 'ms' }, 'at most', 1.3)
}

/** Values that can be opened, in their own workspaces, and what moves them between the two keys. */
interface Bed {
  readonly ground: Ground
  /** With both keys. */
  readonly installation: Ground['installation']
  readonly keys: readonly [before: string, after: string]
  /** The batches of the bare way, ready to be sent. */
  readonly batches: readonly Batch[]
}

interface Batch {
  readonly tenantId: string
  readonly owners: string
  readonly wraps: string
}

async function makeBed(ground: Ground, sql: postgres.Sql): Promise<Bed> {
  const path = ground.config.keyringFile
  const { keyring: file, id: after } = await addKey(path)
  const keyring = liveKeyring(file)
  const before = keyring.current
  await sql`insert into keyring_key (key_id, check_value) values (${after}, ${keyring.checkValue(after)})`
  const batches: Batch[] = []
  for (let made = 0; made < resealedIn; made += 1) {
    const tenantId = randomUUIDv7()
    await sql`
      insert into tenant (id, slug, display_name, default_locale, default_time_zone)
      values (${tenantId}, ${`sealed-${made}`}, 'Sealed', 'en', 'UTC')`
    for (let at = 0; at < resealed / resealedIn; at += batchSize) batches.push(await sealBatch(tenantId))
  }
  await sql`vacuum analyze sealed_value`
  return {
    ground,
    installation: installationOver({ ...ground.installation, keyring, openCopies: openLedgerCopies }),
    keys: [before, after],
    batches,
  }

  async function sealBatch(tenantId: string): Promise<Batch> {
    const made = Array.from({ length: batchSize }, () => {
      const place = { tenantId, kind: 'idempotency.answer', ownerId: randomUUIDv7() } as const
      const sealed = seal(keyring, place, '{"token":"svcp_0123456789012345678901234567890123456789012345678"}')
      return { ownerId: place.ownerId, ...sealed, again: rewrap(keyring, place, sealed, before) }
    })
    const owners = `{${made.map(({ ownerId }) => ownerId).join(',')}}`
    await sql`
      insert into sealed_value (tenant_id, kind, owner_id, key_id, wrap, ciphertext)
      select ${tenantId}, 'idempotency.answer', v.owner_id, ${before}, v.wrap, v.ciphertext
      from unnest(${owners}::text::uuid[], ${bytes(made.map(({ wrap }) => wrap))}::text::bytea[],
                  ${bytes(made.map(({ ciphertext }) => ciphertext))}::text::bytea[]) as v (owner_id, wrap, ciphertext)`
    return { tenantId, owners, wraps: bytes(made.map(({ again }) => again)) }
  }
}

const bytes = (list: readonly Buffer[]) => `{${list.map((one) => `"\\\\x${one.toString('hex')}"`).join(',')}}`

/** Our reseal moves the rows to the second key, and the bare way moves them back, so both write the same rows. */
async function resealing(bed: Bed, sql: postgres.Sql): Promise<Line> {
  const compared = await compare(
    async () => {
      await ask(bed, sql)
      return perSecond(() => resealUntil(bed.installation, Number.POSITIVE_INFINITY))
    },
    () => back(bed, sql),
    3,
  )
  return ratioLine(`reseal of ${resealed} values, one at work`, { ...compared, unit: '/s' }, 'at least', 0.55)
}

const perSecond = async (work: () => Promise<unknown>) => resealed / ((await elapsedMs(work)) / 1000)

/** Makes the second key the current one and queues the reseal, which does not run yet unless a daemon does. */
async function ask({ installation, ground, keys: [, after] }: Bed, sql: postgres.Sql): Promise<void> {
  await sql`vacuum sealed_value`
  await sql`update keyring_key set promoted_at = clock_timestamp() where key_id = ${after}`
  await performForAnswer(installation, encryptionOperations.resealEncryption, ground.actor, {})
}

/** The bare batched UPDATE: back under the first key. */
async function back({ keys: [before], batches }: Bed, sql: postgres.Sql): Promise<number> {
  await sql`vacuum sealed_value`
  return perSecond(async () => {
    for (const { tenantId, owners, wraps } of batches)
      await sql`
        update sealed_value s set key_id = ${before}, wrap = v.wrap
        from unnest(${owners}::text::uuid[], ${wraps}::text::bytea[]) as v (owner_id, wrap)
        where s.tenant_id = ${tenantId} and s.kind = 'idempotency.answer' and s.owner_id = v.owner_id`
  })
}

const readers = 8
const betweenReadsMs = 10
/** Shorter than a reseal takes on a fast machine. */
const watchedMs = 800

/** Reads of the first workspace, while the same daemon reseals the values of the others. */
async function reading(bed: Bed, sql: postgres.Sql): Promise<Line[]> {
  const { ground } = bed
  await sql`delete from pgboss.job where name = 'reseal'`
  const daemon = await startDaemon(ground.environment)
  try {
    await readFor(daemon, ground, 1_000)
    const idle: number[] = []
    const busy: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      idle.push(await readFor(daemon, ground, watchedMs))
      await back(bed, sql)
      await ask(bed, sql)
      while (!(await isUnderWay(sql))) await pause(5)
      busy.push(await readFor(daemon, ground, watchedMs))
      if (!(await isUnderWay(sql))) throw new Error('the reseal was over before the reads were: nothing was measured')
      while (await isUnderWay(sql)) await pause(50)
    }
    const what = `another workspace's reads while a daemon reseals, p99 (${readers} readers)`
    return [ratioLine(what, { ours: median(busy), bare: median(idle), unit: 'ms' }, 'at most', 2)]
  } finally {
    await daemon.stop()
  }
}

async function isUnderWay(sql: postgres.Sql): Promise<boolean> {
  const [row] = await sql<{ open: number; begun: number }[]>`
    select count(*) filter (where finished_at is null)::int as open, count(*) filter (where started_at is not null)::int as begun from reseal`
  return row!.open > 0 && row!.begun > 0
}

/** The 99th percentile of reads over so long, in ms. */
async function readFor({ address }: Server, { token, collectionId }: Ground, forMs: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: readers })
  const took: number[] = []
  const until = performance.now() + forMs
  const read = () => elapsedMs(() => request(agent, `${address}/api/v1/containers/${collectionId}/buckets`, token))
  const reader = async () => {
    while (performance.now() < until) {
      took.push(await read())
      await pause(betweenReadsMs)
    }
  }
  await Promise.all(Array.from({ length: readers }, reader))
  agent.destroy()
  took.sort((a, b) => a - b)
  return took[Math.floor(took.length * 0.99)]!
}

function request(agent: Agent, url: string, token: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  get(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
    if (response.statusCode !== 200) reject(new Error(`a read was answered with ${response.statusCode}`))
    response.resume()
    response.on('end', resolve)
  }).on('error', reject)
  return promise
}
