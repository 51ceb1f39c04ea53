/** T-26: what an archive may not do to whoever reads it. Every fault is refused whole, under its own reason. */

import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createZstdCompress, zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readLegalHolds } from '../../src/core/areas/backup/archive-holds.ts'
import { openArchive } from '../../src/core/areas/backup/archive-reader.ts'
import type { Store } from '../../src/core/areas/backup/store.ts'
import { openLocal } from '../../src/core/areas/backup/stores/local.ts'
import { createKeyring, type Keyring } from '../../src/core/kernel/sealing/keyring.ts'
import { holdLine, type Made, makeArchive } from './archives.ts'

let base: string
let root: string
let store: Store
let made: Made
let keyring: Keyring
const tenantId = crypto.randomUUID()

beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'svc-archives-'))
  root = join(base, 'backups', 'target')
  store = await openLocal(join(base, 'backups'), 'target')
  keyring = await createKeyring(join(base, 'keyring.json'))
})
afterAll(async () => {
  await store.close()
  rmSync(base, { recursive: true, force: true })
})
beforeEach(() => {
  made = makeArchive(root, tenantId)
})

const read = (path = made.path, of = tenantId) => readLegalHolds(store, path, of, keyring)
const refusal = async (work: Promise<unknown>) => {
  const error = (await work.then(
    () => ({ code: 'let through' }),
    (reason: unknown) => reason,
  )) as { code: string; params?: { reason?: string } }
  return [error.code, error.params?.reason]
}
const reason = async () => {
  made.finish()
  const [code, why] = await refusal(read())
  expect(code).toBe('archive.invalid')
  return why
}

describe('a whole archive', () => {
  test('gives its holds, as the specification has them', async () => {
    const id = crypto.randomUUID()
    const target = crypto.randomUUID()
    made.add(
      'legal_holds',
      holdLine() +
        holdLine({
          id,
          scope_kind: 'ITEM',
          scope_id: target,
          released_at: '2026-11-02T00:00:00Z',
          reason: '../../x\n',
        }),
    )
    made.add('labels', '{"id":1}\n')
    made.finish()
    const holds = await read()
    expect(holds).toHaveLength(2)
    expect(holds[1]).toEqual({
      id,
      scope: { kind: 'ITEM', id: target },
      reason: '../../x\n',
      placed_by: expect.any(String),
      placed_at: '2026-11-01T10:00:00.123456Z',
      released_at: '2026-11-02T00:00:00Z',
    })
  })

  test('without holds gives none, and members that a later release adds are passed over', async () => {
    made.manifest.novelty = { a: 1 }
    made.add('labels', '')
    made.finish()
    expect(await read()).toEqual([])
  })

  test('1,000 holds are read', async () => {
    made.add('legal_holds', Array.from({ length: 1000 }, () => holdLine()).join(''))
    made.finish()
    expect(await read()).toHaveLength(1000)
  })
})

describe('paths', () => {
  const id = crypto.randomUUID()
  const spelled = [
    '',
    '.',
    '..',
    '/',
    '/etc/passwd',
    '../..',
    `tenants/${tenantId}/..`,
    `tenants/${tenantId}`,
    `tenants/../tenants/${tenantId}/20261120T115522Z-${id}-1`,
    `/tenants/${tenantId}/20261120T115522Z-${id}-1`,
    `tenants/${tenantId}/20261120T115522Z-${id}-1/`,
    `tenants//${tenantId}/20261120T115522Z-${id}-1`,
    `tenants/${tenantId}/20261120T115522Z-${id}-1/../x`,
    `tenants/${tenantId}/20261120T115522Z-${id}-1\0`,
    `tenants/${tenantId}/20261120T115522Z-${id}-1\n`,
    `tenants/${tenantId}/20261120T115522Z-${id}-0`,
    `tenants/${tenantId}/20261320T115522Z-${id}-1`,
    `tenants/${tenantId.toUpperCase()}/20261120T115522Z-${id}-1`,
    `tenants\\${tenantId}\\20261120T115522Z-${id}-1`,
    'file:///etc/passwd',
    'https://example.org/a',
    `s3://tenants/${tenantId}`,
    '%2e%2e/x',
    'x'.repeat(10_000),
  ]
  test.each(spelled)('%j is refused', async (path) => {
    expect(await refusal(read(path))).toEqual(['archive.path_refused', undefined])
  })

  test('no link is followed, wherever it stands and wherever it leads', async () => {
    const outside = makeArchive(join(base, 'elsewhere'), tenantId)
    outside.add('legal_holds', holdLine())
    outside.finish()
    // The archive itself, its manifest, one of its files.
    const linked = makeArchive(root, tenantId, outside.jobId)
    rmSync(linked.folder, { recursive: true })
    symlinkSync(outside.folder, linked.folder)
    expect((await refusal(read(linked.path)))[0]).toMatch(/^archive\./)
    unlinkSync(linked.folder)
    mkdirSync(linked.folder)
    symlinkSync(join(outside.folder, 'manifest.json'), join(linked.folder, 'manifest.json'))
    expect(await refusal(read(linked.path))).toEqual(['archive.path_refused', undefined])
    unlinkSync(join(linked.folder, 'manifest.json'))
    writeFileSync(join(linked.folder, 'manifest.json'), readFileSync(join(outside.folder, 'manifest.json')))
    symlinkSync(join(outside.folder, 'legal_holds.jsonl.zst'), join(linked.folder, 'legal_holds.jsonl.zst'))
    expect(await refusal(read(linked.path))).toEqual(['archive.path_refused', undefined])
    // The same files without links are read: it was the links that were refused.
    unlinkSync(join(linked.folder, 'legal_holds.jsonl.zst'))
    writeFileSync(
      join(linked.folder, 'legal_holds.jsonl.zst'),
      readFileSync(join(outside.folder, 'legal_holds.jsonl.zst')),
    )
    expect(await read(linked.path)).toHaveLength(1)
  })

  test('a pipe in the place of a file does not hold the reader up', async () => {
    made.add('legal_holds', holdLine())
    made.finish()
    unlinkSync(join(made.folder, 'legal_holds.jsonl.zst'))
    execFileSync('mkfifo', [join(made.folder, 'legal_holds.jsonl.zst')])
    expect(await refusal(read())).toEqual(['archive.path_refused', undefined])
  })
})

describe('faults', () => {
  beforeEach(() => made.add('legal_holds', holdLine() + holdLine()))
  const file = () => made.manifest.files[0]
  const at = () => join(made.folder, 'legal_holds.jsonl.zst')

  test('no manifest', async () => {
    expect(await refusal(read())).toEqual(['archive.invalid', 'incomplete'])
  })
  test('a manifest that is none', async () => {
    for (const text of [
      '',
      '{',
      'null',
      '[]',
      '{}',
      '"x"',
      JSON.stringify({ ...made.manifest, files: 'x' }),
      '[['.repeat(100_000),
      `{"format":"${'x'.repeat(2 << 20)}"}`,
    ]) {
      writeFileSync(join(made.folder, 'manifest.json'), text)
      expect([text.slice(0, 20), ...(await refusal(read()))]).toEqual([
        text.slice(0, 20),
        'archive.invalid',
        'manifest',
      ])
    }
  })
  test('a newer format', async () => {
    made.manifest = { format: 'svc-archive', format_version: 3, anything: 'else' }
    expect(await reason()).toBe('newer_format')
  })
  test("another workspace's, by its path, its manifest and its job", async () => {
    made.finish()
    expect(await refusal(read(made.path, crypto.randomUUID()))).toEqual(['archive.invalid', 'other_workspace'])
    made.manifest.tenant.id = crypto.randomUUID()
    expect(await reason()).toBe('other_workspace')
    made.manifest.tenant.id = tenantId
    made.manifest.job_id = crypto.randomUUID()
    expect(await reason()).toBe('other_workspace')
  })
  test('a file name that leads elsewhere', async () => {
    for (const name of ['../legal_holds.jsonl.zst', '/etc/passwd', 'a/b', 'manifest.json', 'labels.jsonl.zst']) {
      file().name = name
      expect(await reason()).toBe('file_name')
    }
  })
  test('an entity that is named twice, or wrongly', async () => {
    made.manifest.files.push({ ...file() })
    expect(await reason()).toBe('manifest')
    made.manifest.files.pop()
    file().entity = '../x'
    expect(await reason()).toBe('manifest')
  })
  test('a file that is missing', async () => {
    unlinkSync(at())
    expect(await reason()).toBe('file_missing')
  })
  test('a file cut short, at any byte', async () => {
    const whole = readFileSync(at())
    for (let length = 0; length < whole.length; length += 7) {
      truncateSync(at(), length)
      expect(await reason()).toMatch(/^(truncated|checksum)$/)
      writeFileSync(at(), whole)
    }
  })
  test('a bit flipped, at any byte', async () => {
    const whole = readFileSync(at())
    for (let byte = 0; byte < whole.length; byte += 5) {
      const spoilt = Buffer.from(whole)
      spoilt[byte] = (spoilt[byte] ?? 0) ^ 4
      writeFileSync(at(), spoilt)
      expect(['checksum', 'truncated', 'line', 'too_long', 'count']).toContain(await reason())
    }
  })
  test('a wrong checksum, of either', async () => {
    const { sha256, compressed_sha256 } = file()
    file().sha256 = '0'.repeat(64)
    expect(await reason()).toBe('checksum')
    file().sha256 = sha256
    file().compressed_sha256 = '0'.repeat(64)
    expect(await reason()).toBe('checksum')
    file().compressed_sha256 = compressed_sha256
    made.finish()
    expect(await read()).toHaveLength(2)
  })
  test('wrong counts', async () => {
    for (const [member, by, expected] of [
      ['rows', 1, 'count'],
      ['rows', -1, 'count'],
      ['bytes', 1, 'truncated'],
      ['bytes', -1, 'too_long'],
      ['compressed_bytes', 1, 'truncated'],
      ['compressed_bytes', -1, 'too_long'],
    ] as const) {
      file()[member] += by
      expect([member, by, await reason()]).toEqual([member, by, expected])
      file()[member] -= by
    }
  })
  test('a file that goes on behind its end', async () => {
    writeFileSync(at(), Buffer.concat([readFileSync(at()), zstdCompressSync(holdLine())]))
    expect(await reason()).toBe('too_long')
  })
})

describe('holds', () => {
  test('1,001 are too many, and a thousand and one lines behind a smaller count too', async () => {
    made.add('legal_holds', Array.from({ length: 1001 }, () => holdLine()).join(''))
    expect(await reason()).toBe('too_many_holds')
    made.manifest.files[0].rows = 1000
    expect(await reason()).toBe('count')
  })
  test('an id twice, with other content and with the same', async () => {
    const id = crypto.randomUUID()
    const same = holdLine({ id })
    for (const text of [same + holdLine({ id, reason: 'another' }), same + same]) {
      made = makeArchive(root, tenantId)
      made.add('legal_holds', text)
      expect(await reason()).toBe('duplicate_id')
    }
  })
  test('what is no hold', async () => {
    for (const line of [
      holdLine({ id: 'x' }),
      holdLine({ scope_kind: 'GALAXY' }),
      holdLine({ scope_kind: 'TENANT', scope_id: crypto.randomUUID() }),
      holdLine({ scope_kind: 'ITEM' }),
      holdLine({ placed_at: 'yesterday' }),
      holdLine({ reason: 7 }),
      '{}\n',
    ]) {
      made = makeArchive(root, tenantId)
      made.add('legal_holds', line)
      expect([line, await reason()]).toEqual([line, 'hold'])
    }
    for (const line of ['null\n', '[]\n', '7\n', '\n', '{"id":\n', '{}{}\n']) {
      made = makeArchive(root, tenantId)
      made.add('legal_holds', line)
      expect([line, await reason()]).toEqual([line, 'line'])
    }
  })
  test('a fault in another file is a fault of the archive', async () => {
    made.add('legal_holds', holdLine())
    made.add('labels', '{"id":1}\n')
    made.manifest.files[1].sha256 = '0'.repeat(64)
    expect(await reason()).toBe('checksum')
  })
})

test('a line of 1 GB is refused without being held, and a bomb ends where the manifest says', async () => {
  made.add('legal_holds', holdLine())
  const path = join(made.folder, 'legal_holds.jsonl.zst')
  const packer = createZstdCompress()
  const packed: Buffer[] = []
  const done = (async () => {
    for await (const chunk of packer) packed.push(chunk as Buffer)
  })()
  const block = Buffer.alloc(1 << 20, 'x')
  for (let written = 0; written < 1024; written += 1)
    if (!packer.write(block)) await new Promise((resolve) => packer.once('drain', resolve))
  packer.end()
  await done
  writeFileSync(path, Buffer.concat(packed))
  const file = made.manifest.files[0]
  Object.assign(file, { bytes: 1 << 30, compressed_bytes: Buffer.concat(packed).length })
  global.gc?.()
  const before = process.memoryUsage().rss
  let most = before
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 5)
  expect(await reason()).toBe('line')
  Object.assign(file, { bytes: 1000 })
  expect(await reason()).toBe('too_long')
  clearInterval(watch)
  expect(most - before).toBeLessThan(128 * 1024 * 1024)
})

test('an archive that is moved while it is read is refused or read whole', async () => {
  made.add('legal_holds', holdLine())
  made.finish()
  const archive = await openArchive(store, made.path, tenantId, keyring)
  renameSync(made.folder, `${made.folder.slice(0, -1)}2`)
  expect(await refusal(archive.verify())).toEqual(['archive.invalid', 'file_missing'])
})
