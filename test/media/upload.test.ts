/** Uploads: parts, one call at a time, exact sizes, the quota. Spec: items 4, O6 and O7; 10, 9; docs/decisions/0236. */
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmdirSync, truncateSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { partBytes } from '../../src/core/contract/media/operations.ts'
import { someBytes } from '../kit/some-bytes.ts'
import { code, type Files, openFiles, sha256Of } from './files.ts'

let files: Files
beforeAll(async () => {
  files = await openFiles()
})
afterAll(() => files.close())

const range = (first: number, last: number, size: number) => ({
  headers: { 'content-range': `bytes ${first}-${last}/${size}` },
})
const path = ({ id }: { readonly id: string }) => join(files.folder, id)

describe('a file', () => {
  test('is taken whole, hashed, and read as it was sent', async () => {
    const bytes = someBytes(3_000_001)
    const begun = await files.begin(bytes.byteLength, { filename: 'plan.bin', sha256: sha256Of(bytes) })
    expect(begun).toMatchObject({
      filename: 'plan.bin',
      state: 'UPLOADING',
      received_bytes: 0,
      sha256: null,
      version: 1,
    })
    const sent = await files.send(begun, bytes)
    expect([sent.status, sent.json]).toMatchObject([200, { state: 'SCANNING', received_bytes: bytes.byteLength }])
    expect(code(await files.content(begun))).toEqual([409, 'media.not_ready'])
    await files.examine()
    expect(await files.read(begun)).toMatchObject({
      state: 'READY',
      sha256: sha256Of(bytes),
      content_type: 'application/octet-stream',
      kind: 'OTHER',
    })
    expect(readFileSync(path(begun)).equals(bytes)).toBe(true)
  })

  test('comes in parts of 8 MiB, each where the last one ended', async () => {
    const size = 2 * partBytes + 5
    const bytes = someBytes(size)
    const media = await files.begin(size)
    const first = await files.send(media, bytes.subarray(0, partBytes), range(0, partBytes - 1, size))
    expect(first.json).toMatchObject({ state: 'UPLOADING', received_bytes: partBytes })
    const again = await files.send(media, bytes.subarray(0, partBytes), range(0, partBytes - 1, size))
    expect([code(again), again.json.params]).toEqual([[409, 'media.offset'], { expected: partBytes }])
    const early = await files.send(media, bytes.subarray(2 * partBytes), range(2 * partBytes, size - 1, size))
    expect(early.json.params).toEqual({ expected: partBytes })
    const odd = await files.send(media, bytes.subarray(partBytes, partBytes + 9), range(partBytes, partBytes + 8, size))
    expect(code(odd)).toEqual([422, 'media.size_mismatch'])
    const rest = await files.send(media, bytes.subarray(partBytes), range(partBytes, size - 1, size))
    expect(rest.json).toMatchObject({ state: 'SCANNING', received_bytes: size })
    expect(sha256Of(readFileSync(path(media)))).toBe(sha256Of(bytes))
    const late = await files.send(media, bytes)
    expect([code(late), late.json.params]).toEqual([[409, 'media.offset'], { expected: size }])
  })

  test('that one call brought is not read again, and one that came in parts is', async () => {
    const size = partBytes + 5
    const [bytes, others] = [someBytes(size), someBytes(size)]
    const [whole, parted] = [await files.begin(size), await files.begin(size)]
    await files.send(whole, bytes)
    await files.send(parted, bytes.subarray(0, partBytes), range(0, partBytes - 1, size))
    await files.send(parted, bytes.subarray(partBytes), range(partBytes, size - 1, size))
    for (const media of [whole, parted]) writeFileSync(path(media), others)
    await files.examine()
    expect(await files.read(whole)).toMatchObject({ state: 'READY', sha256: sha256Of(bytes) })
    expect(await files.read(parted)).toMatchObject({ state: 'READY', sha256: sha256Of(others) })
  })

  test('that is cut off keeps its whole parts, and goes on there', async () => {
    const size = partBytes + 3 * 1024 * 1024
    const bytes = someBytes(size)
    const media = await files.begin(size)
    await sendAndLeave(headOf(media, [`Content-Length: ${size}`]), bytes.subarray(0, partBytes + 1024 * 1024))
    await expect.poll(async () => (await files.read(media)).received_bytes, { timeout: 5_000 }).toBe(partBytes)
    const rest = await files.send(media, bytes.subarray(partBytes), range(partBytes, size - 1, size))
    expect(rest.json).toMatchObject({ state: 'SCANNING' })
    expect(sha256Of(readFileSync(path(media)))).toBe(sha256Of(bytes))
  })

  test.each([
    ['more', 1],
    ['fewer', -1],
  ])('of %s bytes than announced is refused, and its bytes are not kept', async (_, more) => {
    const media = await files.begin(1000)
    expect(code(await files.send(media, someBytes(1000 + more)))).toEqual([422, 'media.size_mismatch'])
    const chunk = 'x'.repeat(1000 + more)
    const head = headOf(media, ['Transfer-Encoding: chunked', 'Connection: close'])
    const chunked = await files.daemon.raw(`${head}${chunk.length.toString(16)}\r\n${chunk}\r\n0\r\n\r\n`)
    expect(chunked).toMatch(/^HTTP\/1.1 422 [\s\S]*media.size_mismatch/)
    expect(await files.read(media)).toMatchObject({ state: 'UPLOADING', received_bytes: 0 })
    expect((await files.send(media, someBytes(1000))).status).toBe(200)
  })

  test('is refused if its bytes are not those that were announced, and its quota is given back', async () => {
    const before = await files.quota()
    const media = await files.file(Buffer.alloc(500, 1), { sha256: sha256Of(Buffer.alloc(500, 2)) })
    expect(media).toMatchObject({ state: 'REFUSED' })
    expect(code(await files.content(media))).toEqual([409, 'media.not_ready'])
    expect([existsSync(path(media)), await files.quota()]).toEqual([false, before])
  })

  test('goes on from what the store has, if that is less than the row says', async () => {
    const size = 2 * partBytes
    const bytes = someBytes(size)
    const media = await files.begin(size)
    await files.send(media, bytes.subarray(0, partBytes), range(0, partBytes - 1, size))
    truncateSync(`${path(media)}.part`, 1000)
    const lost = await files.send(media, bytes.subarray(partBytes), range(partBytes, size - 1, size))
    expect([code(lost), lost.json.params]).toEqual([[409, 'media.offset'], { expected: 0 }])
    expect((await files.send(media, bytes)).json).toMatchObject({ state: 'SCANNING' })
  })
})

describe('a call that brings bytes', () => {
  test('is the only one of its file: another one is refused until it ends', async () => {
    const media = await files.begin(10)
    const { sql } = files.daemon.db
    await sql`update media set writer = ${randomUUID()}, writer_until = now() + interval '20 seconds' where id = ${media.id}`
    expect(code(await files.send(media, someBytes(10)))).toEqual([409, 'media.busy'])
    await sql`update media set writer_until = now() where id = ${media.id}`
    expect((await files.send(media, someBytes(10))).status).toBe(200)
  })

  test('whose file cannot be finished leaves a rest to send, also where the file is whole parts', async () => {
    const size = 2 * partBytes
    const bytes = someBytes(size)
    const media = await files.begin(size)
    await files.send(media, bytes.subarray(0, partBytes), range(0, partBytes - 1, size))
    mkdirSync(path(media)) // where the file would get its name
    const rest = () => files.send(media, bytes.subarray(partBytes), range(partBytes, size - 1, size))
    expect(code(await rest())).toEqual([503, 'media.store_failed'])
    expect(await files.read(media)).toMatchObject({ state: 'UPLOADING', received_bytes: partBytes })
    rmdirSync(path(media))
    expect((await rest()).json).toMatchObject({ state: 'SCANNING', received_bytes: size })
    expect(readFileSync(path(media)).equals(bytes)).toBe(true)
  })

  test('is one of fifty at once that is served, and the file is one of theirs', async () => {
    const media = await files.begin(100_000)
    const tries = Array.from({ length: 50 }, () => someBytes(100_000))
    const answers = await Promise.all(tries.map((bytes) => files.send(media, bytes)))
    const served = answers.flatMap(({ status }, at) => (status === 200 ? [at] : []))
    expect(served.length).toBe(1)
    expect(readFileSync(path(media)).equals(tries[served[0] ?? 0] ?? Buffer.alloc(0))).toBe(true)
    for (const answer of answers) expect([200, 409]).toContain(answer.status)
  })

  test('is 404 for everybody but the uploader, and 415 for a body that is no file', async () => {
    const media = await files.begin(10)
    expect(code(await files.send(media, someBytes(10), { as: files.people.OWNER }))).toEqual([404, 'not_found'])
    const json = await files.ask(`PUT /media/${media.id}/content`, {}, { as: files.people.MEMBER })
    expect(code(json)).toEqual([415, 'request.media_type'])
    const wrong = await files.send(media, someBytes(10), { headers: { 'content-range': 'bytes 5-1/10' } })
    expect(code(wrong)).toEqual([400, 'request.malformed'])
    expect(code(await files.send(media, someBytes(10), range(0, 9, 11)))).toEqual([422, 'media.size_mismatch'])
  })

  test('is 503 when the store cannot be written, and succeeds when it can', async () => {
    const media = await files.begin(10)
    const { dir } = files.daemon.config.media
    const twin = await files.daemon.twin({ media: { ...files.daemon.config.media, dir: join(dir, 'a file') } })
    try {
      writeFileSync(join(dir, 'a file'), '')
      const answer = await twin.call('PUT', `/api/v1/media/${media.id}/content`, {
        token: files.people.MEMBER.token,
        body: someBytes(10),
        headers: { 'content-type': 'application/octet-stream' },
      })
      expect([code(answer), answer.headers['retry-after']]).toEqual([[503, 'media.store_failed'], '1'])
    } finally {
      await twin.close()
    }
    expect((await files.send(media, someBytes(10))).status).toBe(200)
  })
})

describe('the quota media_bytes', () => {
  test('is taken exactly when an upload begins, by however many at once', async () => {
    const { sql } = files.daemon.db
    const used = await files.quota()
    await sql`insert into tenant_quota values (${files.tenantId}, 'media_bytes', ${used + 1000})`
    try {
      const answers = await Promise.all(
        Array.from({ length: 12 }, () =>
          files.ask('POST /media', { filename: 'x', size_bytes: 100 }, { as: files.people.COMMENTER }),
        ),
      )
      expect(answers.filter(({ status }) => status === 201).length).toBe(10)
      const refused = answers.find(({ status }) => status !== 201)
      expect([refused?.status, refused?.json.params]).toEqual([
        409,
        { quota: 'media_bytes', limit: used + 1000, used: used + 1000 },
      ])
      expect(await files.quota()).toBe(used + 1000)
    } finally {
      await sql`delete from tenant_quota where quota = 'media_bytes'`
    }
  })

  test('is not taken for a file that is too large', async () => {
    const used = await files.quota()
    const { maxBytes } = files.daemon.config.media
    const answer = await files.ask('POST /media', { filename: 'x', size_bytes: maxBytes + 1 })
    expect([code(answer), answer.json.params]).toEqual([[413, 'media.too_large'], { limit_bytes: maxBytes }])
    expect(await files.quota()).toBe(used)
  })

  test('is the sum of the sizes of the files that have bytes', async () => {
    const [row] = await files.daemon.db.sql`
      select sum(size_bytes) as bytes from media where tenant_id = ${files.tenantId} and state <> 'REFUSED'`
    expect(await files.quota()).toBe(Number(row?.['bytes']))
  })
})

const headOf = ({ id }: { readonly id: string }, lines: readonly string[]) =>
  [
    `PUT /api/v1/media/${id}/content HTTP/1.1`,
    'Host: 127.0.0.1',
    `Authorization: Bearer ${files.people.MEMBER.token}`,
    'Content-Type: application/octet-stream',
    ...lines,
    '\r\n',
  ].join('\r\n')

/** Sends the bytes and leaves in the middle. */
async function sendAndLeave(head: string, bytes: Buffer): Promise<void> {
  const socket = connect(files.daemon.port, '127.0.0.1')
  socket.on('error', () => {})
  await new Promise<void>((resolve) => socket.write(head, () => resolve()))
  await new Promise<void>((resolve) => socket.write(bytes, () => resolve()))
  await new Promise((resolve) => setTimeout(resolve, 300))
  socket.destroy()
}
