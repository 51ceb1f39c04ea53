/**
 * T-26: `:replace-legal-holds` from an archive that somebody spoilt. Each is refused whole, in
 * both ways, with its code; no hold is placed and nothing is recorded. What the system was
 * asked to open on the way is seen from outside, by strace, where that may be used.
 */
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { zstdCompressSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { backupOperations } from '../../src/core/contract/backup/operations.ts'
import { tenantOperations } from '../../src/core/contract/tenants/operations.ts'
import { holdLine, type Made, makeArchive } from '../backup/archives.ts'
import { type Furnished, furnished } from '../kit/leaving-workspace.ts'
import { databaseEnv } from '../kit/svc.ts'
import { ways as everyWay, type TwoWays, twoWays, type Way } from '../kit/two-ways.ts'

let ways: TwoWays
let base: string
let targetId: string
let acme: Furnished
beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'svc-spoilt-'))
  ways = await twoWays({ backupDir: join(base, 'backups') })
  acme = await furnished(ways)
  const body = { name: 'disk', kind: 'LOCAL' as const, config: { path: 'target' } }
  targetId = (await ways.call('recovery', backupOperations.createBackupTarget, { body })).id
})
afterAll(async () => {
  await ways.close()
  rmSync(base, { recursive: true, force: true })
})

/** More of them with SVC_FAULTS=full. */
const flips = process.env['SVC_FAULTS'] === 'full' ? 500 : 20

const root = () => join(base, 'backups', 'target')
const recoveryPoint = '2026-03-01T12:00:00.000Z'

/** What a refusal must not leave behind. */
const traces = async () => [
  await ways.sql`select id from legal_hold where tenant_id = ${acme.id} and released_at is null`,
  await ways.sql`select count(*)::int as n from audit_entry where tenant_id = ${acme.id}`,
  await ways.sql`select count(*)::int as n from journal`,
]

/** An archive of the workspace with two holds, spoilt; answers its path. */
type Spoil = (made: Made, holds: string) => string | undefined
const twoHolds = () => holdLine() + holdLine()
const standard: Spoil = (made, holds) => {
  made.add('legal_holds', holds)
  made.finish()
  return undefined
}
const file = (made: Made) => join(made.folder, 'legal_holds.jsonl.zst')

type Case = readonly [string, string, string | undefined, Spoil]
const spoilt: readonly Case[] = [
  [
    'truncated',
    'archive.invalid',
    'checksum',
    (made, holds) => {
      standard(made, holds)
      truncateSync(file(made), 20)
      return undefined
    },
  ],
  [
    'of a wrong checksum',
    'archive.invalid',
    'checksum',
    (made, holds) => {
      made.add('legal_holds', holds)
      made.manifest.files[0].sha256 = '0'.repeat(64)
      made.finish()
      return undefined
    },
  ],
  [
    'of wrong counts',
    'archive.invalid',
    'count',
    (made, holds) => {
      made.add('legal_holds', holds)
      made.manifest.files[0].rows = 3
      made.finish()
      return undefined
    },
  ],
  [
    "another workspace's",
    'archive.invalid',
    'other_workspace',
    (_, holds) => {
      const theirs = makeArchive(root(), randomUUID())
      standard(theirs, holds)
      return theirs.path
    },
  ],
  [
    "at another workspace's path, though it says that it is ours",
    'archive.invalid',
    'other_workspace',
    (made, holds) => {
      const theirs = makeArchive(root(), randomUUID())
      theirs.manifest.tenant.id = made.tenantId
      standard(theirs, holds)
      return theirs.path
    },
  ],
  [
    "at our path, though it says that it is another's",
    'archive.invalid',
    'other_workspace',
    (made, holds) => {
      made.manifest.tenant.id = randomUUID()
      return standard(made, holds)
    },
  ],
  [
    'of a newer format',
    'archive.invalid',
    'newer_format',
    (made, holds) => {
      made.manifest.format_version = 3
      return standard(made, holds)
    },
  ],
  [
    'without its manifest',
    'archive.invalid',
    'incomplete',
    (made, holds) => {
      made.add('legal_holds', holds)
      return undefined
    },
  ],
  [
    'of 1,001 holds',
    'archive.invalid',
    'too_many_holds',
    (made) => standard(made, Array.from({ length: 1001 }, () => holdLine()).join('')),
  ],
  [
    'with the same id twice',
    'archive.invalid',
    'duplicate_id',
    (made) => {
      const id = randomUUID()
      return standard(made, holdLine({ id }) + holdLine({ id, reason: 'another' }))
    },
  ],
  [
    'with a line of 1 GB',
    'archive.invalid',
    'line',
    (made) => {
      made.add('legal_holds', '')
      // One frame after the other: what is unpacked is one line without an end.
      const block = zstdCompressSync(Buffer.alloc(1 << 24, 'x'))
      const packed = Buffer.concat(Array.from({ length: 64 }, () => block))
      made.replace('legal_holds', packed, { rows: 1, bytes: 1 << 30 })
      made.finish()
      return undefined
    },
  ],
  [
    'that unpacks to more than it says',
    'archive.invalid',
    'too_long',
    (made) => {
      made.add('legal_holds', '')
      made.replace('legal_holds', zstdCompressSync(Buffer.alloc(1 << 24, 'x')), { rows: 1, bytes: 1000 })
      made.finish()
      return undefined
    },
  ],
  ...['../../../../etc/passwd', 'accounts.jsonl.zst'].map(
    (name): Case => [
      `whose manifest says that the holds are in ${name}`,
      'archive.invalid',
      'file_name',
      (made, holds) => {
        made.add('legal_holds', holds)
        made.manifest.files[0].name = name
        made.finish()
        return undefined
      },
    ],
  ),
  [
    'above its folder',
    'archive.path_refused',
    undefined,
    (made, holds) => {
      standard(made, holds)
      return `../target/${made.path}`
    },
  ],
  [
    'at an absolute path',
    'archive.path_refused',
    undefined,
    (made, holds) => {
      standard(made, holds)
      return made.folder
    },
  ],
  [
    'whose file is a link',
    'archive.path_refused',
    undefined,
    (made, holds) => {
      const outside = makeArchive(join(base, 'elsewhere'), acme.id, made.jobId)
      standard(outside, holds)
      standard(made, holds)
      unlinkSync(file(made))
      symlinkSync(file(outside), file(made))
      return undefined
    },
  ],
  [
    'that is a link',
    'archive.invalid',
    'incomplete', // a folder that is none
    (made, holds) => {
      const outside = makeArchive(join(base, 'elsewhere'), acme.id, made.jobId)
      standard(outside, holds)
      rmSync(made.folder, { recursive: true })
      symlinkSync(outside.folder, made.folder)
      return undefined
    },
  ],
]

/** Makes it, and answers the path to ask for. */
function makeSpoilt(spoil: Spoil): string {
  const made = makeArchive(root(), acme.id)
  return spoil(made, twoHolds()) ?? made.path
}

describe.each(everyWay)('by %s', (way: Way) => {
  const replace = (path: string) =>
    ways.call(way, tenantOperations.replaceLegalHolds, {
      tenantId: acme.id,
      body: { recovery_point: recoveryPoint, archive: { target_id: targetId, path } },
    })

  test.each(spoilt)('an archive %s is refused whole', async (_, code, reason, spoil) => {
    const path = makeSpoilt(spoil)
    const before = await traces()
    const refused = (await replace(path).catch((error: unknown) => error)) as {
      code: string
      params?: { reason?: string }
    }
    expect([refused.code, refused.params?.reason]).toEqual([code, reason])
    expect(await traces()).toEqual(before)
  })
})

test(`${flips} archives with one bit flipped place nothing`, async () => {
  const made = makeArchive(root(), acme.id)
  standard(made, twoHolds())
  const whole = readFileSync(file(made))
  const before = await traces()
  for (let flip = 0; flip < flips; flip += 1) {
    const spoiltBytes = Buffer.from(whole)
    const at = Math.floor((flip * whole.length) / flips)
    spoiltBytes[at] = spoiltBytes[at]! ^ (1 << (flip % 8))
    writeFileSync(file(made), spoiltBytes)
    const body = { recovery_point: recoveryPoint, archive: { target_id: targetId, path: made.path } }
    const replacing = ways.call('recovery', tenantOperations.replaceLegalHolds, { tenantId: acme.id, body })
    await expect(replacing, `byte ${at}`).rejects.toMatchObject({ code: 'archive.invalid' })
  }
  expect(await traces()).toEqual(before)
})

const canTrace = spawnSync('strace', ['-o', '/dev/null', 'true']).status === 0
if (!canTrace)
  process.stderr.write('\nNot shown: what is opened on the way (strace is not there, or may not be used).\n')

/** What a process and its children opened, by the real paths. */
function openedBy(path: string): { opened: string[]; code: number | null } {
  const trace = join(base, 'trace')
  const bin = fileURLToPath(new URL('../../bin/svc', import.meta.url))
  const { status } = spawnSync(
    'strace',
    [
      '-f',
      '-y',
      '-s',
      '4096',
      '-e',
      'trace=open,openat,openat2',
      '-o',
      trace,
      bin,
      'tenants',
      'replace-legal-holds',
      acme.slug,
      '--file',
      '-',
      '--recovery',
      '--while-serving',
    ],
    {
      input: JSON.stringify({ recovery_point: recoveryPoint, archive: { target_id: targetId, path } }),
      env: { ...process.env, ...databaseEnv(ways.daemon.config), SVC_BACKUP_DIR: join(base, 'backups') },
    },
  )
  const opened = [...readFileSync(trace, 'utf8').matchAll(/ = \d+<([^>]*)>/g)].map(([, real]) => real ?? '')
  return { opened: opened.filter((real) => real.startsWith(base)), code: status }
}

test('nothing outside the target is opened, whatever a path or a link says', () => {
  if (!canTrace) return
  mkdirSync(root(), { recursive: true })
  const inside = (real: string) => real === base || real.startsWith(join(base, 'backups'))
  for (const [name, , , spoil] of spoilt.filter(
    ([name, code]) => code === 'archive.path_refused' || name === 'that is a link',
  )) {
    const { opened, code } = openedBy(makeSpoilt(spoil))
    expect([name, code, opened.filter((real) => !inside(real))]).toEqual([name, 2, []])
  }
  // The witness sees: an archive that is read is among what was opened.
  const whole = makeArchive(root(), acme.id)
  standard(whole, twoHolds())
  const { opened, code } = openedBy(whole.path)
  expect([code, opened]).toEqual([0, expect.arrayContaining([file(whole), join(whole.folder, 'manifest.json')])])
}, 120_000)
