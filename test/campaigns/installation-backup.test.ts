/**
 * The backup of an embedded installation, drilled: it is made while people write, restored elsewhere, started there, and
 * everything is there. What was cut off or changed is refused, and leaves nothing.
 */
import { type ChildProcess, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { someBytes } from '../kit/some-bytes.ts'
import { type Home, seen, temporaryHome } from '../kit/svc.ts'

const password = 'correct horse battery staple'
const bytes = someBytes(3_000_000)

let home: Home
let up: ChildProcess
let address: string
let token: string
let revoked: string
let revokedId: string
let toRevoke: string
let collection: string
let media: string
let proof: string[]
let archive: string
/** Items whose creation was answered before the backup began. */
const before = new Set<string>()
const written = new Set<string>()

const ended = (child: ChildProcess) =>
  new Promise<number | null>((done) => (child.exitCode === null ? child.once('close', done) : done(child.exitCode)))

const api = (method: string, path: string, body?: unknown, bearer = token) => {
  const isBytes = Buffer.isBuffer(body)
  return fetch(`${address}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${bearer}`,
      ...(body === undefined ? {} : { 'content-type': isBytes ? 'application/octet-stream' : 'application/json' }),
    },
    ...(body === undefined ? {} : { body: isBytes ? (body as Buffer<ArrayBuffer>) : JSON.stringify(body) }),
  })
}
// biome-ignore lint/suspicious/noExplicitAny: answers of any shape
const answer = async (method: string, path: string, body?: unknown): Promise<any> => {
  const answered = await api(method, path, body)
  const text = await answered.text()
  expect(answered.status, `${method} ${path}: ${text}`).toBeLessThan(300)
  return JSON.parse(text)
}

async function done(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { code, stdout, stderr } = await home.svc(args, { env })
  expect([args, code], stderr).toEqual([args, 0])
  return stdout
}

async function serve(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<void> {
  up = home.start(['up', ...args], { env })
  const [listening] = await Promise.all([
    seen(up, 'stdout', /^listening on .+$/m),
    seen(up, 'stderr', 'Ctrl-C stops it'),
  ])
  address = /^listening on (.+)$/m.exec(listening)![1]!
}

async function stop(): Promise<void> {
  up.kill('SIGTERM')
  await ended(up)
}

async function newToken(name: string): Promise<{ id: string; token: string }> {
  const scopes = ['--scope', 'workspace:read', '--scope', 'workspace:write']
  return JSON.parse(await done(['tokens', 'create', '--name', name, ...scopes, '--json']))
}

/** A data folder for a restore, in a folder that the database's user can enter. */
function elsewhere(name: string): { folder: string; env: NodeJS.ProcessEnv } {
  const folder = join(home.folder, name)
  return { folder, env: { SVC_DATA_DIR: folder } }
}

beforeAll(async () => {
  home = temporaryHome({ SVC_PORT: '0' })
  // Under root the database's server runs as another user, who has to get into the folder.
  spawnSync('chmod', ['711', join(home.folder, '..'), home.folder])
  const file = home.secretFile('owner.password', `${password}\n`)
  proof = ['--password-file', file]
  await serve([
    ...['--workspace', 'acme', '--workspace-name', 'Acme Ltd', '--owner-name', 'Ada'],
    ...['--owner-email', 'ada@acme.example', '--password-file', file],
  ])
  await done(['backup-targets', 'add', 'disk', '--kind', 'local', '--path', 'disk', ...proof])
  token = (await newToken('stays')).token
  ;({ token: revoked, id: revokedId } = await newToken('is revoked before'))
  toRevoke = (await newToken('is revoked after')).id
  await done(['tokens', 'revoke', revokedId])
  await done(['holds', 'place', 'acme', '--reason', 'case 4711'])
  collection = (await answer('GET', '/containers')).data.find(({ kind }: { kind: string }) => kind === 'COLLECTION').id
  media = (await answer('POST', '/media', { filename: 'noise.bin', size_bytes: bytes.length })).id
  await answer('PUT', `/media/${media}/content`, bytes)
  await done(['tenants', 'export', 'acme', '--target', 'disk', '--wait'])
}, 120_000)

afterAll(async () => {
  await stop()
  home.remove()
})

describe('made while people write', () => {
  test('a file of mode 600 with all parts, which says that it holds the keyring', async () => {
    let isOver = false
    const write = async (): Promise<void> => {
      for (let count = 0; !isOver; count += 1) {
        const { id } = await answer('POST', '/items', { container_id: collection, title: `item ${count}` })
        written.add(id)
      }
    }
    const writers = Promise.all([write(), write()])
    while (written.size < 40) await new Promise((later) => setTimeout(later, 10))
    for (const id of written) before.add(id)
    archive = join(home.folder, 'svc.backup.tar.gz')
    const made = await home.svc(['backup', 'create', archive])
    isOver = true
    await writers
    expect(made).toMatchObject({ code: 0, stdout: '' })
    expect(made.stderr).toContain('It holds the keyring')
    expect(statSync(archive).mode & 0o777).toBe(0o600)
    expect(written.size).toBeGreaterThan(before.size)

    const names = spawnSync('tar', ['-tzf', archive], { encoding: 'utf8' }).stdout.trim().split('\n')
    for (const name of ['cluster/backup_label', 'cluster/global/pg_control', 'keyring.json', 'ledger.jsonl'])
      expect(names).toContain(name)
    for (const part of [/^media\/tenants\/.+\//, /^backups\/disk\/tenants\/.+/, /^backups\/disk\/obligations\//])
      expect(
        names.some((name) => part.test(name)),
        String(part),
      ).toBe(true)
    expect(names.filter((name) => /postmaster|witness|spool|\.turn|\.hold/.test(name))).toEqual([])
    expect(readdirSync(home.folder).filter((name) => name.includes('partial'))).toEqual([])
  }, 120_000)

  test('no file is replaced, and no archive goes into what is backed up', async () => {
    const again = await home.svc(['backup', 'create', archive])
    expect(again).toMatchObject({ code: 5, stderr: expect.stringContaining('exists already') })
    const inside = await home.svc(['backup', 'create', '.svc/media/mine'])
    expect(inside).toMatchObject({ code: 2, stderr: expect.stringContaining('is backed up itself') })
    expect(readdirSync(home.folder).filter((name) => name.includes('partial'))).toEqual([])
  })
})

test('through pipes, of an installation with a bucket: both commands say what the archive lacks', async () => {
  const bucket = {
    SVC_MEDIA_STORE: 's3',
    SVC_MEDIA_S3_ENDPOINT: 'https://s3.example.test',
    SVC_MEDIA_S3_BUCKET: 'people-files',
    SVC_MEDIA_S3_ACCESS_KEY_ID: 'AKIATEST',
    SVC_MEDIA_S3_SECRET_ACCESS_KEY: 'not-to-be-seen',
  }
  const { folder, env } = elsewhere('piped')
  const says = 'It does not hold the files in the bucket people-files of https://s3.example.test.'
  const made = home.start(['backup', 'create', '-'], { env: bucket })
  const told = seen(made, 'stderr', 'Copy the bucket after this backup')
  const restored = home.start(['backup', 'restore', '-'], { env })
  const restoreTold = seen(restored, 'stderr', /bucket, or a copy of it/)
  made.stdout!.pipe(restored.stdin!)
  const codes = Promise.all([ended(made), ended(restored)])
  for (const text of await Promise.all([told, restoreTold])) {
    expect(text).toContain(says)
    expect(text).not.toMatch(/AKIATEST|not-to-be-seen/)
  }
  expect(await codes).toEqual([0, 0])
  expect(existsSync(join(folder, 'keyring.json'))).toBe(true)
}, 60_000)

/**
 * The archive with a bit of its middle changed. One of seventy such bits changes nothing, because a repetition that begins
 * elsewhere among the cluster's zeros gives the same bytes: that archive is whole, and the next byte is taken.
 */
function withChangedByte(whole: Buffer): Buffer {
  for (let at = Math.floor(whole.length / 2); at < whole.length; at += 1) {
    const changed = Buffer.from(whole)
    changed[at] = whole[at]! ^ 1
    try {
      gunzipSync(changed)
    } catch {
      return changed
    }
  }
  throw new Error('no bit of the second half changes anything')
}

describe('refused, with nothing left behind', () => {
  async function refused(name: string, content: Buffer, says: string): Promise<void> {
    const { folder, env } = elsewhere(`refused-${name}`)
    const file = join(home.folder, `${name}.tar.gz`)
    writeFileSync(file, content)
    const { code, stdout, stderr } = await home.svc(['backup', 'restore', file], { env })
    expect([name, code, stdout]).toEqual([name, 5, ''])
    expect(stderr.trim().split('\n'), name).toEqual([expect.stringContaining(says)])
    expect(existsSync(folder), name).toBe(false)
    rmSync(file)
  }

  test('an archive that is cut off', async () => {
    const whole = readFileSync(archive)
    for (const share of [0.2, 0.999])
      await refused(`cut-${share}`, whole.subarray(0, Math.floor(whole.length * share)), 'The archive is damaged')
    const tar = gunzipSync(whole)
    await refused('cut-and-packed', gzipSync(tar.subarray(0, tar.length - 3 * 512)), 'The archive is damaged')
  }, 60_000)

  test('an archive of which a byte was changed, also where it was packed again', async () => {
    const whole = readFileSync(archive)
    await refused('changed', withChangedByte(whole), 'The archive is damaged')
    const tar = gunzipSync(whole)
    const inMedia = tar.indexOf(bytes.subarray(1000, 1100))
    expect(inMedia).toBeGreaterThan(0)
    tar[inMedia] = (tar[inMedia] ?? 0) ^ 1
    await refused('packed-again', gzipSync(tar, { level: 1 }), 'its content is not what was written')
  }, 60_000)

  test('something else', async () => {
    await refused('text', Buffer.from('not an archive at all'), 'not an archive of `svc backup create`')
    await refused('packed-text', gzipSync(Buffer.alloc(5000, 'x')), 'not an archive of `svc backup create`')
    await refused('nothing', Buffer.alloc(0), 'it ends too early')
  })

  test('a folder that is not empty, which stays as it is', async () => {
    const { folder, env } = elsewhere('used')
    mkdirSync(folder)
    writeFileSync(join(folder, 'mine'), 'mine')
    const { code, stderr } = await home.svc(['backup', 'restore', archive], { env })
    expect([code, stderr]).toEqual([5, expect.stringContaining('is not empty')])
    expect(readdirSync(folder)).toEqual(['mine'])
    const live = await home.svc(['backup', 'restore', archive])
    expect(live).toMatchObject({ code: 5, stderr: expect.stringContaining('.svc is not empty') })
  })
})

describe('restored elsewhere', () => {
  const { env } = { env: {} as NodeJS.ProcessEnv }
  beforeAll(async () => {
    // Behind the backup: an obligation that the archive cannot know.
    await done(['tokens', 'revoke', toRevoke])
    await stop()
    Object.assign(env, elsewhere('restored').env)
  })

  test('into another folder, with the moment that it is of', async () => {
    const { code, stdout, stderr } = await home.svc(['backup', 'restore', archive, '--json'], { env })
    expect([code, stderr]).toEqual([0, ''])
    expect(JSON.parse(stdout)).toMatchObject({ format: 1, as_of: expect.stringMatching(/^\d{4}-.+Z$/) })
    const folder = String(env['SVC_DATA_DIR'])
    for (const name of ['keyring.json', 'ledger.jsonl', 'postgres.json'])
      expect([name, statSync(join(folder, name)).mode & 0o777]).toEqual([name, 0o600])
    expect(readdirSync(folder, { recursive: true }).filter((name) => /partial|restoring/.test(String(name)))).toEqual(
      [],
    )
  }, 60_000)

  test('it serves, is no rewound installation, and everything is there', async () => {
    await serve([], env)
    const doctor = await home.svc(['doctor', '--json'], { env: { ...env, SVC_PORT: new URL(address).port } })
    const { checks } = JSON.parse(doctor.stdout)
    // The profile is for the port of the old place, and the test's target is on the disk of the ledger.
    const faults = checks.filter(({ state }: { state: string }) => state !== 'ok')
    expect(faults.map(({ check }: { check: string }) => check)).toEqual(['ledger copies', 'access'])
    const status = JSON.parse(await done(['recovery', 'status', '--json'], env))
    expect(status).toMatchObject({ gated_at: null, ledger: { fault: null } })

    const found = new Set<string>()
    for (let path = `/items?container_id=${collection}&size=100`, more = ''; ; path = `${path}${more}`) {
      const page = await answer('GET', path)
      for (const { id } of page.data) found.add(id)
      if (!page.next_cursor) break
      path = `/items?container_id=${collection}&size=100`
      more = `&cursor=${encodeURIComponent(page.next_cursor)}`
    }
    expect([...before].filter((id) => !found.has(id))).toEqual([])
    expect([...found].filter((id) => !written.has(id)).length).toBeLessThan(3) // the answer of one that was created was not read yet

    const content = await api('GET', `/media/${media}/content`)
    expect(Buffer.from(await content.arrayBuffer()).equals(bytes)).toBe(true)
    expect((await api('GET', '/containers', undefined, revoked)).status).toBe(401)
    await done(['tenants', 'list', '--recovery'], env)
    const holds = JSON.parse(await done(['holds', 'list', 'acme', '--json', '--recovery', '--while-serving'], env))
    expect(holds.data).toMatchObject([{ reason: 'case 4711', released_at: null }])
    const backups = JSON.parse(await done(['backup-targets', 'backups', 'disk', '--json', '--recovery'], env))
    expect(backups.data).toMatchObject([{ complete: true }])
    await answer('POST', '/items', { container_id: collection, title: 'and on it goes' })
    await done(['tenants', 'export', 'acme', '--target', 'disk', '--wait', '--recovery', '--while-serving'], env)
    await stop()
  }, 120_000)

  test('what must not be undone is done again from the ledger of the old place', async () => {
    const point = JSON.parse(await done(['recovery', 'status', '--json'], env)).epoch as string
    expect(point).toBeTruthy()
    const old = ['--ledger', join(home.folder, '.svc/ledger.jsonl')]
    await done(['recovery', 'begin', '--recovery-point', new Date(statSync(archive).mtimeMs).toISOString()], env)
    const plan = await done(['recovery', 'reconcile', ...old, '--apply', '--json'], env)
    expect(plan).toContain(toRevoke)
  }, 60_000)
})
