/**
 * The operator's list of refused passwords: a file with one password in each line, read offline.
 *
 *    one per line, UTF-8, compared in lower case; empty lines and lines that begin with `#!` are ignored
 *
 * Only a 48-bit hash of each line is kept, in 8 bytes: a million lines take 8 MB. The chance that
 * an unlisted password is refused is then one in some hundred million. The file is read again when
 * its size, moment or inode has changed.
 *
 * Spec: InstanceSettings (blocklist_file).
 */
import { hash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Config } from '../../kernel/config/config.ts'

/** 64 MiB: about six million lines. */
const largestBlocklistBytes = 67_108_864

export interface Blocklist {
  readonly lines: number
  has(password: string): boolean
}

/** A list that cannot be used. `reason` is for people and contains nothing of the list. */
export class BlocklistUnusable extends Error {
  override readonly name = 'BlocklistUnusable'
  readonly reason: 'missing' | 'unreadable' | 'not_a_file' | 'too_large'
  constructor(reason: BlocklistUnusable['reason']) {
    super(`the blocklist is ${reason.replaceAll('_', ' ')}`)
    this.reason = reason
  }
}

/** Relative paths are resolved against the data folder. */
export const blocklistPath = ({ dataDir }: Pick<Config, 'dataDir'>, path: string) => resolve(dataDir, path)

let kept: { readonly key: string; readonly list: Promise<Blocklist> } | undefined

/** Throws BlocklistUnusable. */
export async function readBlocklist(path: string): Promise<Blocklist> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    throw new BlocklistUnusable(error.code === 'ENOENT' ? 'missing' : 'unreadable')
  })
  try {
    const facts = await file.stat()
    const { size, mtimeMs, ino, dev } = facts
    if (!facts.isFile()) throw new BlocklistUnusable('not_a_file')
    if (size > largestBlocklistBytes) throw new BlocklistUnusable('too_large')
    const key = [path, size, mtimeMs, ino, dev].join(' ')
    if (kept?.key === key) return await kept.list
    const list = readLines(file)
    kept = { key, list }
    list.catch(() => {
      if (kept?.list === list) kept = undefined
    })
    return await list
  } finally {
    await file.close()
  }
}

const hashOf = (text: string) => hash('sha256', text, 'buffer').readUIntBE(0, 6)

async function readLines(file: FileHandle): Promise<Blocklist> {
  let hashes = new Float64Array(1024)
  let lines = 0
  for await (const line of file.readLines({ encoding: 'utf8', autoClose: false })) {
    if (line === '' || line.startsWith('#!')) continue
    if (lines === hashes.length) {
      const larger = new Float64Array(lines * 2)
      larger.set(hashes)
      hashes = larger
    }
    hashes[lines] = hashOf(line.toLowerCase())
    lines += 1
  }
  const sorted = hashes.slice(0, lines).sort()
  return { lines, has: (password) => isIn(sorted, hashOf(password.toLowerCase())) }
}

function isIn(sorted: Float64Array, wanted: number): boolean {
  let from = 0
  let to = sorted.length
  while (from < to) {
    const middle = (from + to) >>> 1
    const found = sorted[middle] ?? 0
    if (found === wanted) return true
    if (found < wanted) from = middle + 1
    else to = middle
  }
  return false
}
