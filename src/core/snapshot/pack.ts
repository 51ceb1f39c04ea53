/** Writes the entries of a backup into a stream, no faster than it takes them. */
import { once } from 'node:events'
import { open, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { ifThere } from '../kernel/values/if-there.ts'
import { tarEnd, tarHead, tarPadding } from '../kernel/values/tar.ts'
import { type End, endName, openTally } from './archive.ts'

const partBytes = 256 * 1024

export interface Chosen {
  /** Whether an entry is taken; of a folder, whether it is entered at all. */
  takes?(name: string, isFolder: boolean): boolean
  /** Whether a folder is taken without its content. */
  empties?(name: string): boolean
}

export type Pack = ReturnType<typeof openPack>

export function openPack(out: Writable, madeAtSeconds: number) {
  const tally = openTally()

  const write = async (bytes: Buffer) => {
    if (out.destroyed) throw out.errored ?? new Error('the archive was closed')
    if (!out.write(bytes)) await once(out, 'drain') // rejects with the stream's error
  }
  const head = async (name: string, isFolder: boolean, size: number) => {
    tally.head({ name, isFolder, size })
    await write(tarHead({ name, isFolder, size }, madeAtSeconds))
  }
  const part = async (bytes: Buffer) => {
    tally.content(bytes)
    await write(bytes)
  }

  async function text(name: string, content: string | Buffer): Promise<void> {
    const bytes = Buffer.from(content)
    await head(name, false, bytes.length)
    await part(bytes)
    await write(tarPadding(bytes.length))
  }

  /**
   * A file with the bytes that it has now, or its first `size`. What is appended meanwhile is left out, and zeros stand for
   * what is cut off meanwhile: the log of the database mends both. False if the file is gone.
   */
  async function file(name: string, path: string, size?: number): Promise<boolean> {
    const handle = await ifThere(open(path, 'r'))
    if (!handle) return false
    try {
      const wanted = size ?? (await handle.stat()).size
      await head(name, false, wanted)
      let missing = wanted
      const reading = { end: wanted - 1, highWaterMark: partBytes, autoClose: false }
      const bytes = wanted === 0 ? [] : handle.createReadStream(reading)
      for await (const read of bytes as AsyncIterable<Buffer>) {
        missing -= read.length
        await part(read)
      }
      for (; missing > 0; missing -= Math.min(missing, partBytes))
        await part(Buffer.alloc(Math.min(missing, partBytes)))
      await write(tarPadding(wanted))
      return true
    } finally {
      await handle.close()
    }
  }

  /** A folder with all folders and files in it; no links. Nothing where it is missing. */
  async function folder(name: string, path: string, chosen: Chosen = {}): Promise<void> {
    const entries = await ifThere(opendir(path))
    if (!entries) return
    await head(name, true, 0)
    if (chosen.empties?.(name)) return entries.close()
    for await (const entry of entries) {
      const [inside, where] = [`${name}/${entry.name}`, join(path, entry.name)]
      if (chosen.takes?.(inside, entry.isDirectory()) === false) continue
      if (entry.isDirectory()) await folder(inside, where, chosen)
      else if (entry.isFile()) await file(inside, where)
    }
  }

  /** Writes the end, and ends the stream. */
  async function close(asOf: string): Promise<End> {
    const end = { as_of: asOf, ...tally.counted() }
    await text(endName, JSON.stringify(end))
    await write(tarEnd)
    out.end()
    return end
  }

  return { text, file, folder, close }
}
