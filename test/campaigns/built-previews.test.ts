/** A daemon as it is installed makes previews: their process is a file of `dist`. Spec: items 4; docs/decisions/0515. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Media } from '../../src/core/contract/media/operations.ts'
import { urlOf } from '../kit/daemon.ts'
import { type Files, openFiles } from '../media/files.ts'

const bin = fileURLToPath(new URL('../../bin/svc', import.meta.url))

let files: Files
let daemon: ChildProcess
let address = ''
beforeAll(async () => {
  files = await openFiles()
  const { config, db } = files.daemon
  daemon = spawn(bin, ['daemon'], {
    env: {
      ...process.env,
      HOME: config.dataDir,
      SVC_DATABASE_URL: urlOf(db.daemon),
      SVC_DATABASE_OWNER_URL: urlOf(db.owner),
      SVC_KEYRING_FILE: config.keyringFile,
      SVC_DATA_DIR: config.dataDir,
      SVC_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: daemon.stdout! })) {
    address = /^listening on (.+)$/.exec(line)?.[1] ?? ''
    if (address !== '') break
  }
  expect(address).not.toBe('')
})
afterAll(async () => {
  const ended = once(daemon, 'close')
  daemon.kill()
  await ended
  await files.close()
})

test('a picture that is uploaded to it has previews', { timeout: 60_000 }, async () => {
  const bytes = await sharp({ create: { width: 900, height: 600, channels: 3, background: '#123456' } })
    .png()
    .toBuffer()
  const headers = { authorization: `Bearer ${files.people.MEMBER.token}` }
  const media: Media = await files.begin(bytes.byteLength, { filename: 'plan.png' })
  await fetch(`${address}/api/v1/media/${media.id}/content`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/octet-stream' },
    body: new Uint8Array(bytes),
  })
  await expect.poll(async () => (await files.read(media)).previews, { timeout: 30_000 }).toEqual(['SMALL', 'MEDIUM'])
  const preview = await fetch(`${address}/api/v1/media/${media.id}/content?variant=SMALL`, { headers })
  expect([preview.status, preview.headers.get('content-type')]).toEqual([200, 'image/webp'])
  expect(await sharp(await preview.arrayBuffer()).metadata()).toMatchObject({ width: 256, height: 171 })
})
