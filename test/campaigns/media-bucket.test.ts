/**
 * Files in a bucket of a real S3 server (OpenStack Swift as Debian packages it): the same promises as in a folder. Where it is
 * not installed the test says so and shows nothing. Spec: items 4, Store; docs/decisions/0350.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exportTenantJob } from '../../src/core/areas/backup/export-job.ts'
import { mediaStore } from '../../src/core/areas/media/store.ts'
import { checkMedia } from '../../src/core/areas/recovery/media.ts'
import { pursuePurge } from '../../src/core/areas/tenants/purge/purge.ts'
import { partBytes } from '../../src/core/contract/media/operations.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { purgeOperations } from '../../src/core/contract/retention/operations.ts'
import type { Release } from '../../src/core/kernel/egress/guard.ts'
import { readRelease } from '../../src/core/kernel/egress/guard.ts'
import { fileOf } from '../backup/workspace-files.ts'
import { furnished, overdue } from '../kit/leaving-workspace.ts'
import { someBytes } from '../kit/some-bytes.ts'
import { hasSwift } from '../kit/swift.ts'
import { type TwoWays, twoWays } from '../kit/two-ways.ts'
import { type Bucket, configOfBucket, openBucket } from '../media/bucket.ts'
import { code, type Files, openFiles, png, sha256Of } from '../media/files.ts'

const range = (first: number, last: number, size: number) => ({
  headers: { 'content-range': `bytes ${first}-${last}/${size}` },
})
let bucket: Bucket
beforeAll(async () => {
  if (hasSwift) bucket = await openBucket()
}, 60_000)
afterAll(() => bucket?.stop())

describe.runIf(hasSwift)('a bucket', () => {
  let files: Files
  beforeAll(async () => {
    files = await openFiles(configOfBucket(bucket))
  }, 60_000)
  afterAll(() => files.close())

  test('has a small file as one object, which is read as it was sent', async () => {
    const media = await files.file(png)
    expect(media).toMatchObject({ state: 'READY', content_type: 'image/png', sha256: sha256Of(png) })
    expect(await bucket.objects(files.tenantId)).toContain(media.id)
    expect((await files.content(media)).status).toBe(200)
    const part = await files.content(media, { headers: { range: 'bytes=1-3' } })
    expect([part.status, part.text, part.headers['content-range']]).toEqual([206, 'PNG', `bytes 1-3/${png.byteLength}`])
  })

  test('takes a large file in parts over several calls, and asks the service what it has', async () => {
    const size = 3 * partBytes + 12_345
    const bytes = someBytes(size)
    const media = await files.begin(size, { sha256: sha256Of(bytes) })
    await files.send(media, bytes.subarray(0, 2 * partBytes), range(0, 2 * partBytes - 1, size))
    expect([await bucket.uploads(), (await bucket.objects(files.tenantId)).includes(media.id)]).toEqual([1, false])
    const rest = await files.send(media, bytes.subarray(2 * partBytes), range(2 * partBytes, size - 1, size))
    expect([rest.status, rest.json.state]).toEqual([200, 'SCANNING'])
    expect(await bucket.uploads()).toBe(0)
    expect(sha256Of(await bucket.object(files.tenantId, media.id))).toBe(sha256Of(bytes))
    await files.examine()
    expect(await files.read(media)).toMatchObject({ state: 'READY', sha256: sha256Of(bytes) })
    const across = await files.content(media, { headers: { range: `bytes=${partBytes - 2}-${2 * partBytes + 1}` } })
    expect(across.headers['content-length']).toBe(String(partBytes + 4))
  })

  test('keeps the whole parts of a call that was cut off', async () => {
    const size = 2 * partBytes + 5
    const bytes = someBytes(size)
    const media = await files.begin(size)
    const head = [
      `PUT /api/v1/media/${media.id}/content HTTP/1.1`,
      'Host: 127.0.0.1',
      `Authorization: Bearer ${files.people.MEMBER.token}`,
      'Content-Type: application/octet-stream',
      `Content-Length: ${size}`,
      '\r\n',
    ].join('\r\n')
    const socket = connect(files.daemon.port, '127.0.0.1')
    socket.on('error', () => {})
    await new Promise<void>((resolve) => socket.write(head, () => resolve()))
    await new Promise<void>((resolve) => socket.write(bytes.subarray(0, partBytes + 1000), () => resolve()))
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    socket.destroy()
    const received = async () => (await files.read(media)).received_bytes
    await expect.poll(received, { timeout: 10_000 }).toBe(partBytes)
    const rest = await files.send(media, bytes.subarray(partBytes), range(partBytes, size - 1, size))
    expect(rest.json).toMatchObject({ state: 'SCANNING' })
    expect(sha256Of(await bucket.object(files.tenantId, media.id))).toBe(sha256Of(bytes))
  })

  test('begins a file again where the service lost what the row knows', async () => {
    const size = partBytes + 5
    const bytes = someBytes(size)
    const media = await files.begin(size)
    await files.send(media, bytes.subarray(0, partBytes), range(0, partBytes - 1, size))
    await mediaStore(files.installation).remove({ tenantId: files.tenantId, mediaId: media.id })
    const lost = await files.send(media, bytes.subarray(partBytes), range(partBytes, size - 1, size))
    expect([code(lost), lost.json.params]).toEqual([[409, 'media.offset'], { expected: 0 }])
    expect((await files.send(media, bytes)).json).toMatchObject({ state: 'SCANNING' })
  })

  test('loses what is refused at once, and what is deleted after its time', async () => {
    const elf = await files.file(Buffer.concat([Buffer.from('7f454c46020101', 'hex'), Buffer.alloc(200)]))
    expect([elf.state, (await bucket.objects(files.tenantId)).includes(elf.id)]).toEqual(['REFUSED', false])
    const media = await files.file('a text')
    await files.ask(`DELETE /media/${media.id}`, undefined, { as: files.people.MEMBER })
    await files.sweep()
    expect(await bucket.objects(files.tenantId)).toContain(media.id)
    await files.daemon.db
      .sql`update media_removal set due_at = now() - interval '1 minute' where media_id = ${media.id}`
    await files.sweep()
    expect(await bucket.objects(files.tenantId)).not.toContain(media.id)
  })

  test('that does not answer is 503, and the file is sent again when it does', async () => {
    const wrong = { ...files.daemon.config.media, bucket: { ...bucket.settings, secretAccessKey: 'wrong' } }
    const twin = await files.daemon.twin({ media: wrong })
    try {
      const media = await files.begin(10)
      const sent = await twin.call('PUT', `/api/v1/media/${media.id}/content`, {
        token: files.people.MEMBER.token,
        body: someBytes(10),
        headers: { 'content-type': 'application/octet-stream' },
      })
      expect(code(sent)).toEqual([503, 'media.store_failed'])
      const there = await files.file('readable')
      const read = await twin.call('GET', `/api/v1/media/${there.id}/content`, { token: files.people.MEMBER.token })
      expect(code(read)).toEqual([503, 'media.store_failed'])
      expect((await files.send(media, someBytes(10))).status).toBe(200)
    } finally {
      await twin.close()
    }
  })

  test('is not spoken to where the guard has not released its address', async () => {
    const twin = await files.daemon.twin({ egress: readRelease('') as Release })
    try {
      const media = await files.file('guarded')
      const read = await twin.call('GET', `/api/v1/media/${media.id}/content`, { token: files.people.MEMBER.token })
      expect(code(read)).toEqual([503, 'media.store_failed'])
    } finally {
      await twin.close()
    }
  })
})

describe.runIf(hasSwift)('of a workspace', () => {
  let ways: TwoWays
  beforeAll(async () => {
    ways = await twoWays(configOfBucket(bucket))
  }, 60_000)
  afterAll(() => ways.close())

  test('an archive has the bytes from the bucket, and a recovery compares the rows with it', async () => {
    const workspace = { tenant: { id: ways.home.tenantId }, owner: { account_id: ways.operator.accountId } }
    const one = { installation: ways.installation, oracle: ways.sql }
    const large = someBytes(partBytes + 3)
    const [small, big] = [await fileOf(one, workspace, png), await fileOf(one, workspace, large)]
    const body = { name: 'here', kind: 'LOCAL', config: { path: 'archives' } } as const
    const { id: targetId } = await ways.call('recovery', operations.createBackupTarget, { body })
    const { job_id: jobId } = await ways.call('recovery', operations.exportTenant, {
      tenantId: workspace.tenant.id,
      body: { target_id: targetId },
    })
    await exportTenantJob.run(ways.installation, { tenantId: workspace.tenant.id, jobId })
    expect(await ways.call('recovery', operations.getJob, { jobId })).toMatchObject({ state: 'SUCCEEDED' })
    const sent = join(ways.daemon.config.backupDir, 'archives', 'tenants', workspace.tenant.id, 'media')
    expect(sha256Of(readFileSync(join(sent, sha256Of(large))))).toBe(sha256Of(large))
    expect(readdirSync(sent).sort()).toEqual([sha256Of(png), sha256Of(large)].sort())

    expect(await checkMedia(ways.installation)).toMatchObject({ state: 'ok', says: 'the store has all 2 file(s)' })
    await mediaStore(ways.installation).remove({ tenantId: workspace.tenant.id, mediaId: small })
    expect(await checkMedia(ways.installation)).toMatchObject({ state: 'finding' })
    await ways.sql`delete from media where id in ${ways.sql([small, big])}`
    const stray = await checkMedia(ways.installation)
    expect(stray).toMatchObject({ state: 'note', says: `the store has 1 file(s) that no row knows: ${big}` })
  }, 60_000)

  test('the purge empties the bucket of it, unfinished uploads too; the verification looks there, and finds what comes back', async () => {
    const [gone, neighbour] = [await furnished(ways), await furnished(ways)]
    const store = mediaStore(ways.installation)
    const put = async (tenantId: string, mediaId: string, bytes: Buffer, ends = true) => {
      const writing = await store.write({ tenantId, mediaId }, { offset: 0, sizeBytes: bytes.byteLength })
      await writing.write(bytes)
      await (ends ? writing.finish() : writing.sync())
      await writing.close()
    }
    for (let at = 0; at < 12; at += 1) await put(gone.id, crypto.randomUUID(), someBytes(100 + at))
    await put(gone.id, crypto.randomUUID(), someBytes(partBytes + 1))
    await put(gone.id, crypto.randomUUID(), someBytes(partBytes + 1), false)
    await put(neighbour.id, 'kept', someBytes(10))
    expect([(await bucket.objects(gone.id)).length, await bucket.uploads()]).toEqual([13, 1])

    await overdue(ways, gone)
    await pursuePurge(ways.installation, gone.id)
    ways.clock.pass(3600)
    let outcome = await pursuePurge(ways.installation, gone.id)
    while (outcome === 'more') outcome = await pursuePurge(ways.installation, gone.id)

    expect(outcome).toBe('purged')
    expect([await bucket.objects(gone.id), await bucket.uploads()]).toEqual([[], 0])
    expect(await bucket.objects(neighbour.id)).toEqual(['kept'])
    const verify = () => ways.call('api', purgeOperations.verifyPurgeCertificate, { tenantId: gone.id })
    expect(await verify()).toMatchObject({ ok: true })
    expect((await verify()).scanned).toContainEqual({ place: 'media_bucket', left: 0 })
    await put(gone.id, 'back', someBytes(10))
    const found = await ways.call('recovery', purgeOperations.verifyPurgeCertificate, { tenantId: gone.id })
    expect(found.findings).toEqual([{ code: 'data.left', params: { place: 'media_bucket', left: 1 } }])
  }, 60_000)
})

test('what is not installed is said', () => {
  if (!hasSwift)
    process.stderr.write(
      '\nNot shown: OpenStack Swift is not installed (apt-get install swift-proxy swift-account swift-container swift-object memcached).\n',
    )
  expect(png.subarray(1, 4).toString()).toBe('PNG')
})
