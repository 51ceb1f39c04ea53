/**
 * Writes a zip into a file, entry by entry, of any size: a header, the bytes as they come, and then the header again with their
 * sums. Entries are deflated or, like files that are packed already, stored. Beyond 4 GiB the 64-bit fields of the format are
 * used (APPNOTE 6.3.10, 4.3 to 4.5); below it has none, which every program reads.
 */
import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { crc32, createDeflateRaw } from 'node:zlib'

interface Entry {
  readonly name: Buffer
  readonly method: number
  readonly crc: number
  readonly stored: number
  readonly size: number
  readonly offset: number
}

/** What a 32-bit field says where the 64-bit one counts. */
const beyond = 0xffffffff
const large = (n: number) => n >= beyond
/** Names are UTF-8. */
const flags = 0x0800
/** 1 January 1980: a package says in about.json when it was made. */
const noDate = 0x0021

export class ZipWriter {
  private readonly file: FileHandle
  private readonly entries: Entry[] = []
  private at = 0

  constructor(file: FileHandle) {
    this.file = file
  }

  /** `isPacked`: its bytes are stored as they are. `size`: known before; without it an entry has less than 4 GiB. */
  async add(
    name: string,
    bytes: AsyncIterable<Uint8Array>,
    { isPacked = false, size: announced = 0 }: { readonly isPacked?: boolean; readonly size?: number } = {},
  ): Promise<void> {
    const offset = this.at
    const nameBytes = Buffer.from(name, 'utf8')
    const isLarge = large(announced)
    const method = isPacked ? 0 : 8
    const blank = { name: nameBytes, method, crc: 0, stored: 0, size: 0, offset }
    this.at += await this.put(localHeader(blank, isLarge), this.at)
    const begin = this.at
    let [crc, size] = [0, 0]
    async function* summed() {
      for await (const chunk of bytes) {
        crc = crc32(chunk, crc)
        size += chunk.byteLength
        yield chunk
      }
    }
    const out = isPacked ? summed() : Readable.from(summed()).pipe(createDeflateRaw())
    for await (const chunk of out as AsyncIterable<Uint8Array>) this.at += await this.put(chunk, this.at)
    const entry = { name: nameBytes, method, crc, stored: this.at - begin, size, offset }
    if (!isLarge && (large(entry.size) || large(entry.stored)))
      throw new Error(`an entry of a zip is larger than was said: ${name}`)
    await this.put(localHeader(entry, isLarge), offset)
    this.entries.push(entry)
  }

  /** Writes the directory. Answers the size of the zip. */
  async end(): Promise<number> {
    const begin = this.at
    for (const entry of this.entries) this.at += await this.put(centralHeader(entry), this.at)
    this.at += await this.put(endOf(this.entries.length, begin, this.at - begin), this.at)
    return this.at
  }

  private async put(bytes: Uint8Array, position: number): Promise<number> {
    for (let done = 0; done < bytes.byteLength; )
      done += (await this.file.write(bytes, done, bytes.byteLength - done, position + done)).bytesWritten
    return bytes.byteLength
  }
}

/** A field of 64-bit numbers. */
function extraOf(numbers: readonly number[]): Buffer {
  if (numbers.length === 0) return Buffer.alloc(0)
  const extra = Buffer.alloc(4 + numbers.length * 8)
  extra.writeUInt16LE(1, 0)
  extra.writeUInt16LE(numbers.length * 8, 2)
  for (const [at, n] of numbers.entries()) extra.writeBigUInt64LE(BigInt(n), 4 + at * 8)
  return extra
}

function localHeader({ name, method, crc, stored, size }: Entry, isLarge: boolean): Buffer {
  const extra = extraOf(isLarge ? [size, stored] : [])
  const head = Buffer.alloc(30)
  head.writeUInt32LE(0x04034b50, 0)
  head.writeUInt16LE(isLarge ? 45 : 20, 4)
  head.writeUInt16LE(flags, 6)
  head.writeUInt16LE(method, 8)
  head.writeUInt16LE(noDate, 12)
  head.writeUInt32LE(crc, 14)
  head.writeUInt32LE(isLarge ? beyond : stored, 18)
  head.writeUInt32LE(isLarge ? beyond : size, 22)
  head.writeUInt16LE(name.length, 26)
  head.writeUInt16LE(extra.length, 28)
  return Buffer.concat([head, name, extra])
}

function centralHeader({ name, method, crc, stored, size, offset }: Entry): Buffer {
  const extra = extraOf([size, stored, offset].filter(large))
  const head = Buffer.alloc(46)
  head.writeUInt32LE(0x02014b50, 0)
  head.writeUInt16LE(45, 4)
  head.writeUInt16LE(extra.length > 0 ? 45 : 20, 6)
  head.writeUInt16LE(flags, 8)
  head.writeUInt16LE(method, 10)
  head.writeUInt16LE(noDate, 14)
  head.writeUInt32LE(crc, 16)
  head.writeUInt32LE(Math.min(stored, beyond), 20)
  head.writeUInt32LE(Math.min(size, beyond), 24)
  head.writeUInt16LE(name.length, 28)
  head.writeUInt16LE(extra.length, 30)
  head.writeUInt32LE(Math.min(offset, beyond), 42)
  return Buffer.concat([head, name, extra])
}

function endOf(count: number, offset: number, size: number): Buffer {
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(Math.min(count, 0xffff), 8)
  end.writeUInt16LE(Math.min(count, 0xffff), 10)
  end.writeUInt32LE(Math.min(size, beyond), 12)
  end.writeUInt32LE(Math.min(offset, beyond), 16)
  if (count < 0xffff && !large(offset) && !large(size)) return end
  const far = Buffer.alloc(56)
  far.writeUInt32LE(0x06064b50, 0)
  far.writeBigUInt64LE(44n, 4)
  far.writeUInt16LE(45, 12)
  far.writeUInt16LE(45, 14)
  far.writeBigUInt64LE(BigInt(count), 24)
  far.writeBigUInt64LE(BigInt(count), 32)
  far.writeBigUInt64LE(BigInt(size), 40)
  far.writeBigUInt64LE(BigInt(offset), 48)
  const locator = Buffer.alloc(20)
  locator.writeUInt32LE(0x07064b50, 0)
  locator.writeBigUInt64LE(BigInt(offset + size), 8)
  locator.writeUInt32LE(1, 16)
  return Buffer.concat([far, locator, end])
}
