/** Archives are read by every tar and by ourselves, whatever the names, and no byte of a head or length changes unseen. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readTar, type TarEntry, TarFault, tarEnd, tarHead, tarPadding } from '../../../src/core/kernel/values/tar.ts'

interface Wanted {
  readonly name: string
  readonly content: string | undefined
}

const wanted: readonly Wanted[] = [
  { name: 'a', content: undefined },
  { name: 'a/empty', content: '' },
  { name: 'a/full block', content: 'x'.repeat(512) },
  { name: `a/${'l'.repeat(99)}`, content: 'a name of 101 bytes' },
  { name: `a/${'m'.repeat(98)}`, content: 'a name of 100 bytes' },
  { name: 'a/Zürich 東京', content: 'another script' },
  { name: `a/${'東'.repeat(80)}`, content: 'a long one of another script' },
]

function packed(entries: readonly Wanted[]): Buffer {
  const parts = entries.flatMap(({ name, content }) => {
    const size = Buffer.byteLength(content ?? '')
    return [tarHead({ name, isFolder: content === undefined, size }, 1), Buffer.from(content ?? ''), tarPadding(size)]
  })
  return Buffer.concat([...parts, tarEnd])
}

/** In pieces of an odd size, so that nothing fits by chance. */
async function* inPieces(bytes: Buffer, size = 77): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(bytes: Buffer): Promise<Wanted[]> {
  const found: Wanted[] = []
  for await (const entry of readTar(inPieces(bytes))) found.push({ name: entry.name, content: await contentOf(entry) })
  return found
}

async function contentOf({ isFolder, content }: TarEntry): Promise<string | undefined> {
  const parts: Buffer[] = []
  for await (const part of content) parts.push(part)
  return isFolder ? undefined : Buffer.concat(parts).toString('utf8')
}

test('what was written is read', async () => {
  expect(await read(packed(wanted))).toEqual(wanted)
})

test('the tar of the system reads it, too', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-tar-'))
  writeFileSync(join(folder, 'archive.tar'), packed(wanted))
  const env = { ...process.env, LC_ALL: 'C.UTF-8' }
  const ran = (...args: string[]) => spawnSync('tar', args, { cwd: folder, env, encoding: 'utf8' })
  const listed = ran('--quoting-style=literal', '-tf', 'archive.tar')
  expect(listed).toMatchObject({ status: 0, stderr: '' })
  expect(listed.stdout.trim().split('\n')).toEqual(
    wanted.map(({ name, content }) => (content === undefined ? `${name}/` : name)),
  )
  expect(ran('-xOf', 'archive.tar', 'a/Zürich 東京').stdout).toBe('another script')
  rmSync(folder, { recursive: true })
})

test('a size from 8 GiB on is said in full', async () => {
  const size = 8 ** 11 + 5
  const entries = readTar(inPieces(Buffer.concat([tarHead({ name: 'large', isFolder: false, size }, 1), tarEnd])))
  expect((await entries.next()).value).toMatchObject({ name: 'large', size })
})

test('a content that nobody reads is passed over', async () => {
  const names: string[] = []
  for await (const { name } of readTar(inPieces(packed(wanted)))) names.push(name)
  expect(names).toEqual(wanted.map(({ name }) => name))
})

test('an archive that is cut off anywhere is refused', async () => {
  const whole = packed(wanted)
  for (let length = 0; length < whole.length - tarEnd.length; length += 100)
    await expect(read(whole.subarray(0, length)), `${length} bytes`).rejects.toThrow(TarFault)
})

test('a head that was changed is refused, and what stands behind the end', async () => {
  const whole = packed(wanted)
  for (const at of [0, 124, 130, 156, 257]) {
    const changed = Buffer.from(whole)
    changed[at] = (changed[at] ?? 0) ^ 1
    await expect(read(changed), `byte ${at}`).rejects.toThrow(TarFault)
  }
  await expect(read(Buffer.concat([whole, Buffer.from('more')]))).rejects.toThrow('behind its end')
})

test('links and devices are refused', async () => {
  const block = tarHead({ name: 'link', isFolder: false, size: 0 }, 1)
  const sum = Number.parseInt(block.subarray(148, 154).toString(), 8)
  block[156] = '2'.charCodeAt(0)
  block.write((sum + 2).toString(8).padStart(6, '0'), 148)
  await expect(read(Buffer.concat([block, tarEnd]))).rejects.toThrow('of the kind "2"')
})
