/**
 * The tar format, as much as an archive of our own needs: files and folders, read and written as they pass.
 *
 *    [long name or size: 512 bytes, its records]  512 bytes of head  content  zeros up to 512   …   1,024 zeros
 *
 * Heads are ustar's. A name that does not fit, and a size from 8 GiB on, is in a record before the head (pax), which every
 * tar reads. Nothing else that a tar may hold is read: no links, no devices, no sparse files. One content is read to its
 * end before the next head.
 */

const blockBytes = 512
const ustarName = 100
const ustarSize = 8 ** 11
/** Records are a name and a size; more is no archive of ours. */
const recordsBytes = 64 * 1024

export interface TarHead {
  /** Folders and the file's name, separated by slashes; no slash at the end. */
  readonly name: string
  readonly isFolder: boolean
  /** Bytes of its content; 0 for a folder. */
  readonly size: number
}

export interface TarEntry extends TarHead {
  readonly content: AsyncIterable<Buffer>
}

/** The bytes are no tar of ours, or end before it does. */
export class TarFault extends Error {
  override readonly name = 'TarFault'
}

/** The end of every archive. */
export const tarEnd = Buffer.alloc(2 * blockBytes)

/** The zeros behind a content. */
export const tarPadding = (size: number): Buffer => Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes)

/** What stands before a content. `modifiedSeconds` counts from 1970. */
export function tarHead(head: TarHead, modifiedSeconds: number): Buffer {
  const name = head.isFolder ? `${head.name}/` : head.name
  const bytes = Buffer.from(name)
  const isPlain = bytes.length <= ustarName && bytes.every((byte) => byte < 0x80)
  const plain = { name: bytes.subarray(0, ustarName), size: head.size < ustarSize ? head.size : 0, modifiedSeconds }
  const block = headBlock({ ...plain, kind: head.isFolder ? '5' : '0' })
  if (isPlain && head.size < ustarSize) return block
  const records = Buffer.from(record('path', name) + record('size', String(head.size)))
  const before = headBlock({ name: Buffer.from('pax'), size: records.length, modifiedSeconds, kind: 'x' })
  return Buffer.concat([before, records, tarPadding(records.length), block])
}

interface Block {
  readonly name: Buffer
  readonly size: number
  readonly modifiedSeconds: number
  readonly kind: '0' | '5' | 'x'
}

function headBlock({ name, size, modifiedSeconds, kind }: Block): Buffer {
  const block = Buffer.alloc(blockBytes)
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')
  name.copy(block, 0)
  block.write(`${octal(kind === '5' ? 0o700 : 0o600, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100)
  block.write(`${octal(size, 11)}\0${octal(modifiedSeconds, 11)}\0`, 124)
  block.write(`        ${kind}`, 148)
  block.write('ustar\x0000', 257)
  block.write(`${octal(sumOf(block), 6)}\0 `, 148)
  return block
}

const sumOf = (block: Buffer): number => block.reduce((sum, byte) => sum + byte, 0)

/** `<length> <key>=<value>\n`, whose length counts its own digits. */
function record(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`
  const bytes = Buffer.byteLength(rest)
  const length = bytes + String(bytes + String(bytes).length).length
  return `${length}${rest}`
}

/** Reads an archive to its end, and the source to its own. Throws a TarFault. */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<TarEntry> {
  const bytes = new Bytes(source)
  for (let long: Partial<TarHead> = {}; ; ) {
    const block = await bytes.whole(blockBytes)
    if (block.every((byte) => byte === 0)) break
    const { kind, ...head } = readBlock(block)
    if (kind === 'x') {
      if (head.size > recordsBytes) throw new TarFault('the records of a name are too long')
      long = recordsOf(await bytes.whole(head.size))
      await bytes.whole(tarPadding(head.size).length)
      continue
    }
    const entry = { ...head, ...long }
    long = {}
    const content = bytes.portion(entry.size)
    yield { ...entry, name: entry.name.replace(/\/$/, ''), isFolder: kind === '5', content }
    for await (const _ of content); // what the caller left
    await bytes.whole(tarPadding(entry.size).length)
  }
  await bytes.rest()
}

function readBlock(block: Buffer): { kind: string; name: string; size: number } {
  const said = numberAt(block, 148, 8)
  const blank = Buffer.from(block).fill(' ', 148, 156)
  if (said !== sumOf(blank)) throw new TarFault('a head has another checksum')
  const kind = String.fromCharCode(block[156] ?? 0)
  if (!['0', '5', 'x'].includes(kind)) throw new TarFault(`an entry is of the kind ${JSON.stringify(kind)}`)
  return { kind, name: textAt(block, 0, ustarName), size: numberAt(block, 124, 12) }
}

const textAt = (block: Buffer, at: number, bytes: number): string =>
  block
    .subarray(at, at + bytes)
    .toString('utf8')
    .replace(/\0.*$/s, '')

const numberAt = (block: Buffer, at: number, bytes: number): number => {
  const text = textAt(block, at, bytes).trim()
  if (!/^[0-7]+$/.test(text)) throw new TarFault('a head has no number where one belongs')
  return Number.parseInt(text, 8)
}

function recordsOf(bytes: Buffer): Partial<TarHead> {
  const records = new Map<string, string>()
  for (let at = 0; at < bytes.length; ) {
    const [, length = ''] = /^(\d+) /.exec(bytes.subarray(at, at + 20).toString('latin1')) ?? []
    const text = bytes.subarray(at + length.length + 1, at + Number(length)).toString('utf8')
    if (length === '' || !text.endsWith('\n') || !text.includes('=')) throw new TarFault('a record cannot be read')
    records.set(text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1, -1))
    at += Number(length)
  }
  const [name, size] = [records.get('path'), records.get('size')]
  if (size !== undefined && !/^\d{1,15}$/.test(size)) throw new TarFault('a size cannot be read')
  return { ...(name !== undefined && { name }), ...(size !== undefined && { size: Number(size) }) }
}

/** The bytes of a source, in the portions that are asked for. */
class Bytes {
  readonly #source: AsyncIterator<Buffer>
  #left: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]()
  }

  /** A short portion, in one piece. */
  async whole(size: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for await (const part of this.portion(size)) parts.push(part)
    return Buffer.concat(parts)
  }

  portion(size: number): AsyncIterable<Buffer> {
    let missing = size
    const next = async (): Promise<IteratorResult<Buffer>> => {
      if (missing === 0) return { done: true, value: undefined }
      while (this.#left.length === 0) {
        const { done, value } = await this.#source.next()
        if (done) throw new TarFault('it ends too early')
        this.#left = value
      }
      const part = this.#left.subarray(0, missing)
      this.#left = this.#left.subarray(part.length)
      missing -= part.length
      return { done: false, value: part }
    }
    // Without `return`: who stops reading leaves the rest to the next call, and ends nothing.
    return { [Symbol.asyncIterator]: () => ({ next }) }
  }

  /** Reads the source to its end: only then its own check of the bytes is done. More zeros are allowed there, nothing else. */
  async rest(): Promise<void> {
    const isZero = (bytes: Buffer) => bytes.every((byte) => byte === 0)
    if (!isZero(this.#left)) throw new TarFault('something stands behind its end')
    for (let step = await this.#source.next(); !step.done; step = await this.#source.next())
      if (!isZero(step.value)) throw new TarFault('something stands behind its end')
  }
}
