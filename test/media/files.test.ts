/** Files: what they are, how they are read, who sees them, and how they go. Spec: items 4, O8 to O12; 10, 7 and 11. */
import { randomUUID } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sweepMedia } from '../../src/core/areas/media/sweep.ts'
import { checkMedia } from '../../src/core/areas/recovery/media.ts'
import type { Media } from '../../src/core/contract/media/operations.ts'
import type { Person } from '../kit/people.ts'
import { someBytes } from '../kit/some-bytes.ts'
import { code, type Files, openFiles, png, sha256Of } from './files.ts'

let files: Files
let member: Person
let commenter: Person
let owner: Person
beforeAll(async () => {
  files = await openFiles()
  ;({ MEMBER: member, COMMENTER: commenter, OWNER: owner } = files.people)
})
afterAll(() => files.close())

const html = '<!doctype html><script>alert(1)</script>'
const svg = '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
const elf = readFileSync(process.execPath).subarray(0, 4096)

describe('a file is what its bytes are', () => {
  test.each([
    ['picture.png', png, 'image/png', 'IMAGE', 'inline'],
    ['photo', Buffer.from('ffd8ffe000104a46494600010100', 'hex'), 'image/jpeg', 'IMAGE', 'inline'],
    ['moving', 'GIF89a\u0001\u0000\u0001\u0000', 'image/gif', 'IMAGE', 'inline'],
    ['small', Buffer.from('RIFF\x1a\0\0\0WEBPVP8L\x0d\0\0\0', 'latin1'), 'image/webp', 'IMAGE', 'inline'],
    ['song', Buffer.from('RIFF\x24\0\0\0WAVEfmt \x10\0\0\0', 'latin1'), 'audio/wav', 'AUDIO', 'inline'],
    ['film', Buffer.from('\0\0\0\x18ftypisom\0\0\0\0isommp42', 'latin1'), 'video/mp4', 'VIDEO', 'inline'],
    ['page.png', html, 'text/html', 'DOCUMENT', 'attachment'],
    ['logo.png', svg, 'image/svg+xml', 'DOCUMENT', 'attachment'],
    ['data.png', '<?xml version="1.0"?><a/>', 'application/xml', 'DOCUMENT', 'attachment'],
    ['notes.txt', 'Grüezi, 1 < 2', 'text/plain', 'TEXT', 'inline'],
    ['paper.png', '%PDF-1.7\n1 0 obj', 'application/pdf', 'DOCUMENT', 'attachment'],
    ['noise.txt', Buffer.from([0, 1, 2, 255, 254]), 'application/octet-stream', 'OTHER', 'attachment'],
    ['latin.txt', Buffer.from('Gr\xfcezi', 'latin1'), 'application/octet-stream', 'OTHER', 'attachment'],
  ])('%s', async (filename, bytes, type, kind, disposition) => {
    const media = await files.file(bytes, { filename })
    expect(media).toMatchObject({ state: 'READY', content_type: type, kind })
    const { status, headers } = await files.content(media)
    expect([status, headers['content-type']?.split(';')[0]]).toEqual([200, type])
    expect(headers['content-disposition']).toMatch(new RegExp(`^${disposition};`))
    expect([headers['x-content-type-options'], headers['content-security-policy']]).toEqual(['nosniff', 'sandbox'])
  })

  test('and a program is refused, whatever its name is', async () => {
    const before = await files.quota()
    const media = await files.file(elf, { filename: 'picture.png' })
    expect(media).toMatchObject({ state: 'REFUSED', content_type: 'application/x-elf' })
    expect(files.stored()).not.toContain(media.id)
    expect(await files.quota()).toBe(before)
  })

  test('and events tell it without its name or hash', async () => {
    const media = await files.file(png, { filename: 'secret plan.png' })
    const rows = await files.daemon.db.sql`
      select type, body from outbox_event where body::jsonb -> 'data' ->> 'id' = ${media.id} order by seq`
    expect(rows.map(({ type }) => type)).toEqual(['svc.work.media.ready.v1'])
    expect(rows[0]?.['body']).not.toMatch(/secret|sha256/)
    expect(JSON.parse(rows[0]?.['body']).data).toMatchObject({ kind: 'IMAGE', state: 'READY', version: media.version })
  })
})

describe('the bytes', () => {
  let media: Media
  const bytes = someBytes(200_000)
  beforeAll(async () => {
    media = await files.file(bytes, { filename: 'x' })
  })
  const head = (range: string, more = {}) => files.content(media, { headers: { range, ...more } })

  test.each([
    ['bytes=0-9', 0, 9],
    ['bytes=100000-', 100_000, 199_999],
    ['bytes=-5', 199_995, 199_999],
    ['bytes=199999-300000', 199_999, 199_999],
    ['bytes=-900000', 0, 199_999],
  ])('%s', async (range, from, to) => {
    const { status, headers } = await head(range)
    expect([status, headers['content-range'], headers['content-length']]).toEqual([
      206,
      `bytes ${from}-${to}/200000`,
      String(to - from + 1),
    ])
    const response = await fetch(`${files.daemon.address}/api/v1/media/${media.id}/content`, {
      headers: { authorization: `Bearer ${member.token}`, range },
    })
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes.subarray(from, to + 1))).toBe(true)
  })

  test.each(['bytes=200000-', 'bytes=200000-200001'])('%s is behind the end', async (range) => {
    const answer = await head(range)
    expect([code(answer), answer.headers['content-range']]).toEqual([[416, 'media.range'], 'bytes */200000'])
  })

  test.each(['bytes=0-1,4-5', 'bytes=9-5', 'lines=1-2', 'bytes=a-b', 'bytes=-'])('%s is no range', async (range) => {
    expect((await head(range)).headers['content-length']).toBe('200000')
  })

  test('have their SHA-256 as ETag, for If-None-Match and If-Range', async () => {
    const etag = `"${sha256Of(bytes)}"`
    const answer = await files.content(media, { headers: { 'if-none-match': etag } })
    expect([answer.status, answer.text, answer.headers['etag']]).toEqual([304, '', etag])
    expect((await head('bytes=0-9', { 'if-range': etag })).status).toBe(206)
    expect((await head('bytes=0-9', { 'if-range': '"another"' })).status).toBe(200)
  })

  test('are not sent to HEAD, which tells their length', async () => {
    const answer = await files.daemon.call('HEAD', `/api/v1/media/${media.id}/content`, { token: member.token })
    expect([answer.status, answer.text, answer.headers['content-length']]).toEqual([200, '', '200000'])
  })

  test('are a download where the caller asks for one', async () => {
    const picture = await files.file(png)
    const { headers } = await files.content(picture, {}, '?disposition=ATTACHMENT')
    expect(headers['content-disposition']).toMatch(/^attachment;/)
  })

  test('are 503 where the store has lost them, and other files are served', async () => {
    const lost = await files.file('a text')
    rmSync(`${files.folder}/${lost.id}`)
    const answer = await files.content(lost)
    expect(code(answer)).toEqual([503, 'media.store_failed'])
    // Not those of the file, which a browser would keep or save under its name.
    expect(answer.headers).not.toHaveProperty('content-disposition')
    expect(answer.headers).not.toHaveProperty('etag')
    expect((await files.content(media)).status).toBe(200)
  })
})

test.each([
  '../../x',
  'a/b\\c',
  'x\r\nSet-Cookie: a=b',
  '"; filename=evil.exe',
  '日本語 ü.txt',
  '%2e%2e',
  'x'.repeat(255),
])('a name is a text in a header, never a path or a line: %j', async (filename) => {
  const media = await files.file('a text', { filename })
  expect(media.filename).toBe(filename)
  const { headers } = await files.content(media)
  const disposition = String(headers['content-disposition'])
  expect(headers['set-cookie']).toBeUndefined()
  expect(disposition).toMatch(/^inline; filename="[^"\\/%]*"; filename\*=UTF-8''[A-Za-z0-9%._~!$&+-]*$/)
  expect(decodeURIComponent(disposition.split("''")[1] ?? '')).toBe(filename)
})

describe('a file is seen', () => {
  test('by its uploader, and by nobody else while nothing carries it', async () => {
    const media = await files.file(png)
    for (const as of [owner, commenter]) {
      const read = await files.ask(`GET /media/${media.id}`, undefined, { as })
      expect([code(read), code(await files.content(media, { as }))]).toEqual([
        [404, 'not_found'],
        [404, 'not_found'],
      ])
    }
    const listed = async (as: Person) => {
      const { json } = await files.ask('GET /media?size=200', undefined, { as })
      return (json.data as Media[]).some(({ id }) => id === media.id)
    }
    expect([await listed(member), await listed(commenter), await listed(owner)]).toEqual([true, false, true])
  })

  test('in lists by age and by size, page by page', async () => {
    const who = await files.guest()
    await files.grant(null, who, 'MEMBER')
    const made: Media[] = []
    for (const size of [30, 10, 20, 10]) made.push(await files.file(someBytes(size), {}, who))
    const walk = async (query: string) => {
      const seen: Media[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { json } = await files.ask(`GET /media?size=1${query}${cursor && `&cursor=${cursor}`}`, undefined, {
          as: who,
        })
        seen.push(...(json.data as Media[]))
        cursor = json.next_cursor as string | null
      }
      return seen
    }
    expect((await walk('')).map(({ id }) => id)).toEqual(made.map(({ id }) => id).reverse())
    expect((await walk('&sort=SIZE')).map(({ size_bytes }) => size_bytes)).toEqual([30, 20, 10, 10])
    expect(await walk('&state=UPLOADING')).toEqual([])
    expect((await walk('&is_attached=false&kind=OTHER')).length).toBe(4)
    expect(code(await files.ask('GET /media?cursor=x', undefined, { as: who }))).toEqual([400, 'cursor.invalid'])
  })
})

describe('a deleted file', () => {
  test('gives its quota back at once, and its bytes go later', async () => {
    const media = await files.file(someBytes(1000))
    const before = await files.quota()
    const remove = (as: Person) => files.ask(`DELETE /media/${media.id}`, undefined, { as })
    expect(code(await remove(commenter))).toEqual([404, 'not_found'])
    expect((await remove(member)).status).toBe(204)
    expect(code(await files.content(media))).toEqual([404, 'not_found'])
    expect([await files.quota(), files.stored().includes(media.id)]).toEqual([before - 1000, true])
    await files.sweep()
    expect(files.stored()).toContain(media.id)
    await files.daemon.db
      .sql`update media_removal set due_at = now() - interval '1 minute' where media_id = ${media.id}`
    await files.sweep()
    expect(files.stored()).not.toContain(media.id)
    expect(await files.daemon.db.sql`select 1 from media_removal where media_id = ${media.id}`).toEqual([])
  })

  test('may be any of the workspace for an ADMIN', async () => {
    const media = await files.file(png)
    expect((await files.ask(`DELETE /media/${media.id}`, undefined, { as: files.people.ADMIN })).status).toBe(204)
  })
})

test('a refused file keeps its bytes while a legal hold is in force, and loses them behind it', async () => {
  const { sql } = files.daemon.db
  const [hold] = await sql<{ id: string }[]>`
    insert into legal_hold (tenant_id, id, scope_kind, reason, placed_by)
    values (${files.tenantId}, ${randomUUID()}, 'TENANT', 'court', ${owner.accountId}) returning id`
  const before = await files.quota()
  const refused = await files.file(elf)
  expect([refused.state, await files.quota()]).toEqual(['REFUSED', before])
  await files.sweep()
  expect(files.stored()).toContain(refused.id)
  await sql`update legal_hold set released_at = now(), released_by = ${owner.accountId} where id = ${hold?.id ?? null}`
  await files.sweep()
  expect(files.stored()).not.toContain(refused.id)
})

test('a recovery compares the rows with the store, and names what is not there as it should be', async () => {
  const media = await files.file(someBytes(50))
  await files.begin(10)
  expect((await checkMedia(files.installation)).says).not.toContain(media.id)
  const path = join(files.folder, media.id)
  writeFileSync(path, someBytes(49))
  const { state, says } = await checkMedia(files.installation)
  expect([state, says.includes(media.id)]).toEqual(['finding', true])
  writeFileSync(path, someBytes(50))
})

describe('the sweep', () => {
  const { sql } = { sql: (...args: Parameters<Files['daemon']['db']['sql']>) => files.daemon.db.sql(...args) }
  const age = (media: Media, hours: number) =>
    sql`update media set loose_since = now() - make_interval(hours => ${hours}) where id = ${media.id}`

  test('removes what was begun, or what nothing carries, a day later and not before', async () => {
    const before = await files.quota()
    const begun = await files.begin(100)
    const ready = await files.file(someBytes(100))
    for (const media of [begun, ready]) await age(media, 23)
    await files.sweep()
    expect([(await files.read(begun)).state, (await files.read(ready)).state]).toEqual(['UPLOADING', 'READY'])
    for (const media of [begun, ready]) await age(media, 25)
    await files.sweep()
    for (const media of [begun, ready])
      expect(code(await files.ask(`GET /media/${media.id}`, undefined, { as: member }))).toEqual([404, 'not_found'])
    expect(await files.quota()).toBe(before)
    const told = await sql`
      select type from outbox_event where body::jsonb -> 'data' ->> 'id' = ${ready.id} order by seq`
    expect(told.map(({ type }) => type)).toEqual(['svc.work.media.ready.v1', 'svc.work.media.removed.v1'])
  })

  test('removes nothing at its first look, while the clocks differ, and in a workspace that is suspended', async () => {
    const media = await files.file(png)
    await age(media, 25)
    const { installation, tenantId } = files
    const { clock, config } = installation
    const [now, settling] = [clock.now, config.purgeSettleSeconds]
    const run = () => sweepMedia.run(installation, {})
    const isThere = async () => (await sql`select from media where id = ${media.id}`).length === 1
    Object.assign(config, { purgeSettleSeconds: 0 })
    try {
      await run()
      expect(await isThere()).toBe(true)
      for (const days of [31, -31]) {
        Object.assign(clock, { now: () => Date.now() + days * 86_400_000 })
        await expect(run()).rejects.toThrow('differ')
      }
      Object.assign(clock, { now })
      await sql`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${tenantId}`
      await run()
      await run()
      expect(await isThere()).toBe(true)
      await sql`update tenant set state = 'ACTIVE', suspended_at = null where id = ${tenantId}`
      await run()
    } finally {
      Object.assign(clock, { now })
      Object.assign(config, { purgeSettleSeconds: settling })
    }
    expect(code(await files.ask(`GET /media/${media.id}`, undefined, { as: member }))).toEqual([404, 'not_found'])
  })
})

test('an id of another workspace is as one that does not exist', async () => {
  for (const id of [randomUUID(), files.tenantId])
    expect(code(await files.ask(`GET /media/${id}`, undefined, { as: owner }))).toEqual([404, 'not_found'])
})
