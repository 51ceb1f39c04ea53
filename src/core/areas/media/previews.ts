/**
 * Small forms of a picture, as WebP: SMALL has at most 256 pixels an edge, MEDIUM 1024.
 *
 *    bytes of the store ──▶ a process of its own (preview-process.ts) ──▶ two previews ──▶ the store, beside the file
 *                                └─ broken, too large, too slow, killed: no previews, and the file is as good as before
 *
 * The process has an empty environment, 512 MiB, 10 s of a processor and one picture, and can write no file.
 * Spec: items 4; 10, 8; docs/decisions/0515.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { z } from 'zod'
import type { MediaVariant } from '../../contract/media/operations.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { packageRoot } from '../../kernel/values/package-root.ts'
import { type FileKey, mediaStore } from './store.ts'

/** The types that have previews, by their bytes. */
const pictureTypes: readonly string[] = ['image/png', 'image/jpeg', 'image/webp', 'image/gif']

/** A picture and its previews; all null where there are none. */
export interface Previews {
  readonly width: number | null
  readonly height: number | null
  readonly small_bytes: number | null
  readonly medium_bytes: number | null
}

export const noPreviews: Previews = { width: null, height: null, small_bytes: null, medium_bytes: null }

const edges = { SMALL: 256, MEDIUM: 1024 } as const satisfies Partial<Record<MediaVariant, number>>
/** A longer file has no previews: the process holds it whole. */
const longestBytes = 64 * 1024 * 1024
const mostMs = 10_000
/** More than two previews of pure noise. */
const longestAnswer = 8 * 1024 * 1024
/**
 * 512 MiB beside the 512 that Node sets aside for code, 10 s of a processor, no file longer than 0 bytes, no image of a crash;
 * behind everything that answers callers.
 */
const limits = 'ulimit -d 1048576; ulimit -t 10; ulimit -f 0; ulimit -c 0; exec nice -n 10 "$0" "$@"'
const script = import.meta.filename.endsWith('.ts')
  ? join(import.meta.dirname, 'preview-process.ts')
  : join(packageRoot, 'dist/core/areas/media/preview-process.js')

const Told = z.object({ width: z.int().min(1), height: z.int().min(1), bytes: z.tuple([z.int(), z.int()]) })

/** Makes the previews of a file of the store, if it is a picture, and puts them there. Refuses media.store_failed. */
export async function makePreviews(
  installation: Installation,
  { sizeBytes, ...key }: FileKey & { readonly sizeBytes: number },
  contentType: string,
): Promise<Previews> {
  if (!pictureTypes.includes(contentType) || sizeBytes > longestBytes) return noPreviews
  const store = mediaStore(installation)
  const made = await decoded(await store.read(key))
  if (!made) return noPreviews
  const { width, height, small, medium } = made
  for (const [variant, bytes] of [
    ['SMALL', small],
    ['MEDIUM', medium],
  ] as const) {
    const writing = await store.write({ ...key, variant }, { offset: 0, sizeBytes: bytes.byteLength })
    try {
      await writing.write(bytes)
      await writing.finish()
    } finally {
      await writing.close()
    }
  }
  return { width, height, small_bytes: small.byteLength, medium_bytes: medium.byteLength }
}

interface Decoded {
  readonly width: number
  readonly height: number
  readonly small: Buffer
  readonly medium: Buffer
}

/** Undefined for what is no picture that can be decoded within the limits. Throws what the source throws. */
async function decoded(source: Readable): Promise<Decoded | undefined> {
  const flags = ['--max-old-space-size=128', script, ...Object.values(edges).map(String)]
  const child = spawn('/bin/sh', ['-c', limits, process.execPath, ...flags], {
    cwd: '/',
    env: { UV_THREADPOOL_SIZE: '1' },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const ended = once(child, 'close').catch(() => [])
  let timer: NodeJS.Timeout | undefined
  try {
    const answer = read(child.stdout)
    answer.catch(() => child.kill('SIGKILL'))
    await feed(source, child.stdin)
    timer = setTimeout(() => child.kill('SIGKILL'), mostMs)
    const [code] = await ended
    return code === 0 ? parse(await answer) : undefined
  } finally {
    clearTimeout(timer)
    source.destroy()
    child.kill('SIGKILL')
  }
}

/** All of it, or as much as the process takes. */
async function feed(source: Readable, stdin: Writable): Promise<void> {
  let isClosed = false
  const close = () => {
    isClosed = true
  }
  const closed = once(stdin, 'close').then(close, close)
  for await (const chunk of source) {
    if (isClosed) break
    if (!stdin.write(chunk)) await Promise.race([once(stdin, 'drain').catch(() => {}), closed])
  }
  stdin.end()
}

async function read(stdout: Readable): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stdout) {
    bytes += chunk.byteLength
    if (bytes > longestAnswer) throw new Error('the answer is too long')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** What the process told may be anything: a decoder that was taken over wrote it. */
function parse(answer: Buffer): Decoded | undefined {
  const behind = answer.indexOf('\n') + 1
  const line = Told.safeParse(jsonOf(answer.subarray(0, behind)))
  if (!line.success) return undefined
  const { width, height, bytes } = line.data
  const middle = behind + bytes[0]
  const [small, medium] = [answer.subarray(behind, middle), answer.subarray(middle)]
  const isExact = bytes[0] > 0 && small.byteLength === bytes[0] && bytes[1] > 0 && medium.byteLength === bytes[1]
  return isExact && isWebp(small) && isWebp(medium) ? { width, height, small, medium } : undefined
}

function jsonOf(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString())
  } catch {
    return undefined
  }
}

const isWebp = (bytes: Buffer): boolean =>
  bytes.toString('latin1', 0, 4) === 'RIFF' && bytes.toString('latin1', 8, 12) === 'WEBP'
