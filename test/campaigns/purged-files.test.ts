/**
 * The purge of a workspace with many items, comments and files, whose bytes are in a folder and in a bucket of a real S3 server:
 * nothing of it is left in any table, in the queue or in the store, and its certificate counts what there was. 300 items here,
 * 10,000 with SVC_FAULTS=full. Spec: items 8 and 9. Without OpenStack Swift the test says that the bucket is not shown.
 */
import { existsSync, readdirSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { mediaStore } from '../../src/core/areas/media/store.ts'
import { pursuePurge } from '../../src/core/areas/tenants/purge/purge.ts'
import { purgeOperations } from '../../src/core/contract/retention/operations.ts'
import { mediaFolderOf } from '../../src/core/kernel/config/media-settings.ts'
import { type Furnished, furnished, overdue, placesNaming, rowsOf } from '../kit/leaving-workspace.ts'
import { someBytes } from '../kit/some-bytes.ts'
import { hasSwift } from '../kit/swift.ts'
import { type TwoWays, twoWays } from '../kit/two-ways.ts'
import { configOfBucket, openBucket } from '../media/bucket.ts'

const count = process.env['SVC_FAULTS'] === 'full' ? 10_000 : 300
/** Every tenth item has a picture, with its previews. */
const files = count / 10

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

/** Items with a comment each, and the rows of their files; answers the ids of these. */
async function fill({ sql }: TwoWays, { id, collectionId, ownerId }: Furnished): Promise<readonly string[]> {
  await sql`
    with made as (
      insert into item (tenant_id, id, container_id, type, title, rank, created_by)
      select ${id}, gen_random_uuid(), ${collectionId}, 'TASK', 'Item ' || n, 'a' || lpad(n::text, 6, '0'), ${ownerId}
      from generate_series(1, ${count}::int) n returning id)
    insert into comment (tenant_id, id, item_id, body, created_by) select ${id}, gen_random_uuid(), made.id, 'Said', ${ownerId} from made`
  const rows = await sql<{ id: string }[]>`
    with made as (
      insert into media (tenant_id, id, filename, size_bytes, received_bytes, state, kind, content_type, sha256, small_bytes, medium_bytes, created_by)
      select ${id}, gen_random_uuid(), 'a picture', 100, 100, 'READY', 'IMAGE', 'image/png', repeat('0', 64), 10, 10, ${ownerId}
      from generate_series(1, ${files}::int) returning id),
    numbered as (select id, row_number() over () as n from made),
    carried as (
      insert into media_reference (tenant_id, item_id, media_id, added_by)
      select ${id}, i.id, m.id, ${ownerId} from numbered m
      join (select id, row_number() over () as n from item where tenant_id = ${id} and title like 'Item %') i on i.n = m.n)
    select id from made`
  return rows.map((row) => row.id)
}

async function store({ installation }: TwoWays, tenantId: string, ids: readonly string[]): Promise<void> {
  const put = async (mediaId: string, more: object, size: number) => {
    const writing = await mediaStore(installation).write({ tenantId, mediaId, ...more }, { offset: 0, sizeBytes: size })
    await writing.write(someBytes(size))
    await writing.finish()
    await writing.close()
  }
  for (const id of ids) {
    await put(id, {}, 100)
    await Promise.all([put(id, { variant: 'SMALL' }, 10), put(id, { variant: 'MEDIUM' }, 10)])
  }
}

async function purged(ways: TwoWays, stored: (tenantId: string) => Promise<readonly string[]>): Promise<void> {
  const gone = await furnished(ways)
  const ids = await fill(ways, gone)
  await store(ways, gone.id, ids)
  expect(await stored(gone.id)).toHaveLength(3 * files)
  await overdue(ways, gone)
  const had = await rowsOf(ways.sql, gone.id)
  const began = performance.now()
  let outcome = await pursuePurge(ways.installation, gone.id)
  for (; outcome !== 'purged'; outcome = await pursuePurge(ways.installation, gone.id)) ways.clock.pass(3600)
  process.stderr.write(
    `purge of ${count} items, ${had['comment']} comments, ${files} files: ${Math.round(performance.now() - began)} ms\n`,
  )
  const { document } = await ways.call('api', purgeOperations.getPurgeCertificate, { tenantId: gone.id })
  const removed = new Map<string, number>(
    JSON.parse(document).removed.map(({ place, count }: { place: string; count: number }) => [place, count]),
  )
  for (const table of ['item', 'comment', 'media', 'media_reference']) expect(removed.get(table)).toBe(had[table])
  expect(had).toMatchObject({ item: count + 2, comment: count + 2, media: files + 1 })
  expect(Object.entries(await rowsOf(ways.sql, gone.id)).filter(([, rows]) => rows > 0)).toEqual([])
  expect(await placesNaming(ways.sql, gone.ownerId)).toEqual([])
  expect(await stored(gone.id)).toEqual([])
  expect(await ways.call('api', purgeOperations.verifyPurgeCertificate, { tenantId: gone.id })).toMatchObject({
    ok: true,
  })
}

test('in a folder', { timeout: 600_000 }, async () => {
  const ways = await twoWays()
  closing.push(() => ways.close())
  await purged(ways, async (tenantId) => {
    const folder = mediaFolderOf(ways.installation.config.media, tenantId)
    return existsSync(folder) ? readdirSync(folder) : []
  })
})

test.runIf(hasSwift)('in a bucket', { timeout: 1_200_000 }, async () => {
  const bucket = await openBucket()
  closing.push(() => bucket.stop())
  const ways = await twoWays(configOfBucket(bucket))
  closing.push(() => ways.close())
  await purged(ways, (tenantId) => bucket.objects(tenantId))
})

test('what is not installed is said', () => {
  if (!hasSwift) process.stderr.write('\nNot shown: OpenStack Swift is not installed.\n')
  expect(files).toBeGreaterThan(0)
})
