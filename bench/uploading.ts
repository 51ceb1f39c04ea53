/**
 * A file of a gibibyte, from the first byte of its upload until it is READY, against a copy and a hash of the same bytes in a
 * process that does nothing else; and the memory that it costs the daemon. Targets: work on boards, 9.
 */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Media } from '../src/core/contract/media/operations.ts'
import { mediaFolderOf } from '../src/core/kernel/config/media-settings.ts'
import type { Ground } from './ground.ts'
import { startService } from './processes.ts'
import { openClient } from './requests.ts'
import { compare, elapsedMs } from './rounds.ts'
import { ceilingLine, type Line, ratioLine } from './table.ts'

const mebibyte = 1024 * 1024
const size = 1024 * mebibyte
const small = 32 * mebibyte
const rounds = 5
const lookMs = 5
/** Not all zeros: a file system may store those without their bytes. */
const piece = Buffer.from(Array.from({ length: mebibyte }, (_, at) => (at * 31 + (at >> 8)) % 251))

export async function uploading({ environment, config, dataDir, tenantId, token }: Ground): Promise<Line[]> {
  const daemon = await startService({ ...environment, SVC_MEDIA_MAX_BYTES: String(2 * size) })
  const client = openClient(daemon.address, 1)
  const read = async (path: string) => JSON.parse(await client.send({ method: 'GET', path, token })) as Media
  const upload = async (bytes: number) => {
    const body = { filename: 'large.bin', size_bytes: bytes }
    const { id } = JSON.parse(await client.send({ method: 'POST', path: '/media', body, token })) as Media
    const took = await elapsedMs(async () => {
      await put(`${daemon.address}/api/v1/media/${id}/content`, token, bytes)
      while ((await read(`/media/${id}`)).state !== 'READY') await pause(lookMs)
    })
    // Its pages are the next one's, as with the copy: to get new ones from the host takes as long as all the rest.
    await rm(join(mediaFolderOf(config.media, tenantId), id))
    return took
  }
  try {
    await upload(small)
    const before = peakOf(daemon.pid)
    const { ours, bare } = await compare(
      () => upload(size),
      () => copied(join(dataDir, 'bare'), size),
      rounds,
    )
    const rates = { ours: perSecond(ours), bare: perSecond(bare), unit: 'MiB/s' }
    return [
      ratioLine('media: 1 GiB uploaded until it is READY, against a copy and a hash', rates, 'at least', 0.7),
      ceilingLine('media: memory for 1 GiB beyond that for 32 MiB', peakOf(daemon.pid) - before, 'MiB', 32),
    ]
  } finally {
    await client.close()
    await daemon.stop()
  }
}

const perSecond = (ms: number) => (1000 * size) / mebibyte / ms

/** Sends the bytes as they are taken. Throws if they are refused. */
async function put(url: string, token: string, bytes: number): Promise<void> {
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/octet-stream',
    'content-length': bytes,
  }
  const sending = request(url, { method: 'PUT', headers })
  const answered = once(sending, 'response')
  for (let left = bytes; left > 0; left -= piece.byteLength)
    if (!sending.write(piece)) await Promise.race([once(sending, 'drain'), answered])
  sending.end()
  const [response] = await answered
  response.resume()
  if (response.statusCode !== 200) throw new Error(`an upload is answered with ${response.statusCode}`)
}

/** The same bytes to the same disk, and their hash. */
async function copied(path: string, bytes: number): Promise<number> {
  const took = await elapsedMs(async () => {
    const hash = createHash('sha256')
    const file = await open(path, 'w')
    for (let left = bytes; left > 0; left -= piece.byteLength) {
      hash.update(piece)
      await file.write(piece)
    }
    await file.sync()
    await file.close()
    hash.digest()
  })
  await rm(path)
  return took
}

/** The most memory that a process has had, in MiB. */
const peakOf = (pid: number) =>
  Number(/^VmHWM:\s+([0-9]+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
