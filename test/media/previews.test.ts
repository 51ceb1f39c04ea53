/** Previews of pictures, and what decoding one may not do. Spec: items 4; 10, 7 and 8; docs/decisions/0515. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { crc32, deflateSync } from 'node:zlib'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeMissingPreviews } from '../../src/core/areas/media/previewing.ts'
import { checkMedia } from '../../src/core/areas/recovery/media.ts'
import { code, type Files, openFiles } from './files.ts'

let files: Files
let large: Buffer
beforeAll(async () => {
  files = await openFiles()
  large = await plain(7_000, 7_000)
})
afterAll(() => files.close())

const noise = (width: number, height: number) =>
  sharp({
    create: { width, height, channels: 3, background: '#808080', noise: { type: 'gaussian', mean: 128, sigma: 30 } },
  })
const plain = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#204060' } })
    .jpeg()
    .toBuffer()
const none = { previews: [], width: null, height: null }

/** The process of this one that decodes. */
const childOf = (parent: number, except?: string): string | undefined =>
  readdirSync('/proc').find((name) => {
    if (!/^[0-9]+$/.test(name) || name === except) return false
    try {
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8')
      const status = readFileSync(`/proc/${name}/stat`, 'utf8').split(') ')[1]?.split(' ')
      return command.includes('preview-process') && !command.startsWith('/bin/sh') && status?.[1] === String(parent)
    } catch {
      return false
    }
  })

async function variantOf(media: { readonly id: string }, variant: string) {
  const response = await fetch(`${files.daemon.address}/api/v1/media/${media.id}/content?variant=${variant}`, {
    headers: { authorization: `Bearer ${files.people.MEMBER.token}` },
  })
  return { response, bytes: Buffer.from(await response.arrayBuffer()) }
}

describe('a picture', () => {
  test.each([
    ['png', 1500, 900, [1024, 614]],
    ['jpeg', 900, 1500, [614, 1024]],
    ['webp', 300, 300, [300, 300]],
    ['gif', 100, 40, [100, 40]],
  ] as const)('%s has its size and two previews', async (format, width, height, medium) => {
    const media = await files.file(await noise(width, height).toFormat(format).toBuffer(), { filename: 'a picture' })
    expect(media).toMatchObject({ state: 'READY', width, height, previews: ['SMALL', 'MEDIUM'] })
    const seen = await variantOf(media, 'MEDIUM')
    expect(await sharp(seen.bytes).metadata()).toMatchObject({ format: 'webp', width: medium[0], height: medium[1] })
    const small = await sharp((await variantOf(media, 'SMALL')).bytes).metadata()
    expect(Math.max(small.width, small.height)).toBe(Math.min(256, Math.max(width, height)))
    expect(Object.fromEntries(seen.response.headers)).toMatchObject({
      'content-type': 'image/webp',
      'content-length': String(seen.bytes.byteLength),
      'content-disposition': expect.stringMatching(/^inline; filename="a picture.webp"/),
      'x-content-type-options': 'nosniff',
      etag: `"${media.sha256}-medium"`,
    })
    expect(files.stored()).toEqual(expect.arrayContaining([media.id, `${media.id}.medium`, `${media.id}.small`]))
  })

  test('is shown upright, and its previews do not say where it was taken', async () => {
    const exif = { IFD0: { Copyright: 'me' }, IFD3: { GPSLatitude: '47/1 22/1 0/1' } }
    const photo = await noise(400, 200).jpeg().withMetadata({ orientation: 6 }).withExifMerge(exif).toBuffer()
    expect((await sharp(photo).metadata()).exif).toBeDefined()
    const media = await files.file(photo)
    expect(media).toMatchObject({ width: 200, height: 400 })
    const { bytes } = await variantOf(media, 'SMALL')
    const { width, height, exif: kept, icc, xmp } = await sharp(bytes).metadata()
    expect({ width, height, kept, icc, xmp }).toEqual({ width: 128, height: 256 })
  })

  test('answers ranges and If-None-Match of a preview', async () => {
    const media = await files.file(await noise(64, 64).png().toBuffer())
    const part = await files.content(media, { headers: { range: 'bytes=0-3' } }, '?variant=SMALL')
    expect([part.status, part.text]).toEqual([206, 'RIFF'])
    const known = { 'if-none-match': `"${media.sha256}-small"` }
    expect((await files.content(media, { headers: known }, '?variant=SMALL')).status).toBe(304)
    expect((await files.content(media, { headers: known }, '?variant=MEDIUM')).status).toBe(200)
  })

  test('whose preview the store has lost does not have it, and is as good as before', async () => {
    const media = await files.file(await noise(64, 64).png().toBuffer())
    rmSync(join(files.folder, `${media.id}.small`))
    expect(code(await files.content(media, {}, '?variant=SMALL'))).toEqual([404, 'not_found'])
    expect((await files.content(media, {}, '?variant=MEDIUM')).status).toBe(200)
    expect((await files.content(media)).status).toBe(200)
  })

  test('is linked by its variant, and the link is of no other', async () => {
    const media = await files.file(await noise(64, 64).png().toBuffer())
    const text = await files.file('a text')
    const asked = { media_ids: [media.id, text.id], variant: 'SMALL' }
    const { json } = await files.ask('POST /media:link', asked, { as: files.people.MEMBER })
    expect(json.links.map(({ media_id }: { media_id: string }) => media_id)).toEqual([media.id])
    const [{ url }] = json.links
    const get = (at: string) => files.daemon.call('GET', at)
    expect((await get(url)).headers['content-type']).toBe('image/webp')
    expect(code(await get(url.replace('SMALL', 'MEDIUM')))).toEqual([404, 'not_found'])
    expect(code(await get(url.replace('variant=SMALL&', '')))).toEqual([404, 'not_found'])
  })

  test('takes its previews with it, and they are in no quota', async () => {
    const before = await files.quota()
    const bytes = await noise(64, 64).png().toBuffer()
    const media = await files.file(bytes)
    expect(await files.quota()).toBe(before + bytes.byteLength)
    await files.ask(`DELETE /media/${media.id}`, undefined, { as: files.people.MEMBER })
    await files.daemon.db.sql`update media_removal set due_at = now() - interval '1 day' where media_id = ${media.id}`
    await files.sweep()
    expect(files.stored().filter((name) => name.startsWith(media.id))).toEqual([])
  })

  test('of before an upgrade or a restore gets its previews with a new version; a check counts files alone', async () => {
    const media = await files.file(await noise(64, 64).png().toBuffer())
    const { sql } = files.daemon.db
    await sql`
      update media set width = null, height = null, small_bytes = null, medium_bytes = null, previewed_at = null
      where id = ${media.id}`
    expect(await files.read(media)).toMatchObject(none)
    await makeMissingPreviews.run(files.installation, {})
    expect(await files.read(media)).toEqual({ ...media, version: media.version + 1 })
    expect(await checkMedia(files.installation)).toMatchObject({ state: 'ok' })
  })
})

describe('what is no picture that can be decoded has no previews, and is as good as before', () => {
  /** A PNG whose head says so many points, of one colour. */
  function bomb(edge: number): Buffer {
    const chunk = (type: string, data: Buffer) => {
      const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
      const ends = Buffer.alloc(8)
      ends.writeUInt32BE(data.byteLength)
      ends.writeUInt32BE(crc32(named), 4)
      return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)])
    }
    const head = Buffer.alloc(13)
    head.writeUInt32BE(edge)
    head.writeUInt32BE(edge, 4)
    head.writeUInt8(8, 8)
    const rows = deflateSync(Buffer.alloc((edge + 1) * Math.min(edge, 5_000)))
    const start = Buffer.from('89504e470d0a1a0a', 'hex')
    return Buffer.concat([start, chunk('IHDR', head), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))])
  }
  const photo = () => noise(300, 300).jpeg().toBuffer()

  test('the process decodes four types, and no other that its library knows', async () => {
    const decode = (input: Buffer) =>
      spawnSync(process.execPath, ['src/core/areas/media/preview-process.ts', '256', '1024'], { input }).status
    for (const format of ['png', 'jpeg', 'webp', 'gif'] as const)
      expect([format, decode(await noise(30, 30).toFormat(format).toBuffer())]).toEqual([format, 0])
    for (const format of ['tiff', 'avif'] as const)
      expect([format, decode(await noise(30, 30).toFormat(format).toBuffer())]).toEqual([format, 1])
    expect(decode(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'))).toBe(1)
  })

  test('a process that dies; it has no credentials, and bounds', async () => {
    const { pid } = process
    const media = await files.begin(large.byteLength)
    await files.send(media, large)
    // That of the test before may still be ending.
    const before = childOf(pid)
    const examined = files.examine()
    let seen: string | undefined
    await expect.poll(() => (seen = childOf(pid, before)), { timeout: 5_000, interval: 5 }).toBeDefined()
    const [environment, bounds] = ['environ', 'limits'].map((name) => readFileSync(`/proc/${seen}/${name}`, 'utf8'))
    process.kill(Number(seen), 'SIGKILL')
    await examined
    expect(environment).toMatch(/^UV_THREADPOOL_SIZE=1\0(?:PWD=\/\0)?$/)
    expect(bounds).toMatch(/Max cpu time +10 +10 /)
    expect(bounds).toMatch(/Max data size +1073741824 +1073741824 /)
    expect(bounds).toMatch(/Max file size +0 +0 /)
    expect(await files.read(media)).toMatchObject({ state: 'READY', ...none })
    expect(await files.file(await photo())).toMatchObject({ previews: ['SMALL', 'MEDIUM'] })
  }, 30_000)

  test('a picture of 49 megapixels has previews, one of more than 50 has none', async () => {
    expect(await files.file(large)).toMatchObject({ width: 7_000, height: 7_000, previews: ['SMALL', 'MEDIUM'] })
    expect(await files.file(await plain(7_100, 7_100))).toMatchObject(none)
  }, 30_000)

  test.each([
    ['a bomb of 60,000 by 60,000 points', async () => bomb(60_000)],
    ['a head without a picture', async () => (await noise(300, 300).png().toBuffer()).subarray(0, 60)],
    ['a picture cut off in its head', async () => (await photo()).subarray(0, 300)],
    ['a page that is called a picture', async () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>')],
  ])('%s', async (_, bytes) => {
    const content = await bytes()
    const media = await files.file(content, { filename: 'a.png' })
    expect(media).toMatchObject({ state: 'READY', ...none })
    expect(code(await files.content(media, {}, '?variant=SMALL'))).toEqual([404, 'not_found'])
    expect((await files.content(media)).status).toBe(200)
    expect(files.stored().filter((name) => name.startsWith(media.id))).toEqual([media.id])
  })
})
