/** Files from a terminal: up in parts, down to a file or to standard output. Spec: items 4. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { partBytes } from '../../src/core/contract/media/operations.ts'
import { someBytes } from '../kit/some-bytes.ts'
import { type Home, temporaryHome } from '../kit/svc.ts'
import { type Files, openFiles, sha256Of } from '../media/files.ts'

let files: Files
let home: Home
beforeAll(async () => {
  files = await openFiles()
  home = temporaryHome({ SVC_API_URL: files.daemon.address, SVC_TOKEN: files.people.MEMBER.token })
})
afterAll(async () => {
  await files.close()
  home.remove()
})

const place = (name: string) => join(home.folder, name)

test('a file of several parts is put, attached, listed, and got again as it was', async () => {
  const bytes = someBytes(2 * partBytes + 77)
  writeFileSync(place('plan.bin'), bytes)
  const item = await files.item()
  const put = await home.svc(['media', 'put', 'plan.bin', '--item', item.id, '--name', 'the plan', '--json'])
  expect([put.code, put.stderr]).toEqual([0, ''])
  const media = JSON.parse(put.stdout)
  expect(media).toMatchObject({ filename: 'the plan', state: 'SCANNING', received_bytes: bytes.byteLength })
  await files.examine()
  expect(await files.read(media)).toMatchObject({ state: 'READY', sha256: sha256Of(bytes) })
  const { data } = (await files.ask(`GET /items/${item.id}/attachments`)).json
  expect(data.map((one: { media: { id: string } }) => one.media.id)).toEqual([media.id])

  const got = await home.svc(['media', 'get', media.id, '--to', 'copy.bin'])
  expect([got.code, got.stdout]).toEqual([0, expect.stringMatching(/^file +the plan\n/)])
  expect(sha256Of(readFileSync(place('copy.bin')))).toBe(sha256Of(bytes))
  const again = await home.svc(['media', 'get', media.id, '--to', 'copy.bin'])
  expect([again.code, again.stderr]).toEqual([5, expect.stringContaining('copy.bin exists already.')])
  const listed = await home.svc(['media', 'list', '--largest', '--max', '1'])
  expect(listed.stdout).toMatch(/the plan +16\.0 MiB +application\/octet-stream +READY/)
})

test('a file goes to standard output as it is', async () => {
  const media = await files.file('Minutes of May\n', { filename: '\u001b[31m/../../etc' })
  expect(await home.svc(['media', 'get', media.id])).toMatchObject({ code: 0, stdout: 'Minutes of May\n', stderr: '' })
  const listed = await home.svc(['media', 'list', '--loose'])
  expect(listed.stdout).toContain('\\u001b[31m/../../etc')
})

test('a preview is got in place of the picture, and what has none says so', async () => {
  const picture = await sharp({ create: { width: 400, height: 200, channels: 3, background: '#123456' } })
    .png()
    .toBuffer()
  const media = await files.file(picture, { filename: 'plan.png' })
  const got = await home.svc(['media', 'get', media.id, '--variant', 'SMALL', '--to', 'small.webp'])
  expect([got.code, got.stdout]).toEqual([0, expect.stringMatching(/^picture +400 × 200 pixels$/m)])
  expect(await sharp(readFileSync(place('small.webp'))).metadata()).toMatchObject({
    format: 'webp',
    width: 256,
    height: 128,
  })
  const text = await files.file('a text')
  const none = await home.svc(['media', 'get', text.id, '--variant', 'SMALL', '--to', 'none.webp'])
  expect([none.code, none.stderr]).toEqual([3, expect.stringContaining('only pictures that are READY have')])
  expect(existsSync(place('none.webp'))).toBe(false)
})

test('what cannot be done is said, and leaves no file', async () => {
  const media = await files.begin(5)
  const early = await home.svc(['media', 'get', media.id, '--to', 'early'])
  expect([early.code, existsSync(place('early'))]).toEqual([5, false])
  expect((await home.svc(['media', 'get', crypto.randomUUID(), '--to', 'none'])).code).toBe(3)
  expect((await home.svc(['media', 'get', media.id, '--json'])).code).toBe(2)
  for (const name of ['missing', '.']) expect((await home.svc(['media', 'put', name])).code).toBe(2)
})
