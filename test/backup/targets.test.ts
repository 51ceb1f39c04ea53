/** Backup targets: whose they are, what is kept of their secrets, where their endpoints may lead (T-17), and that a folder stays a folder. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { literalForms } from '../kernel/egress/literal-forms.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { dump, occurrences } from '../kit/dump.ts'
import { type Person, person, setUp, workspace } from '../kit/people.ts'
import { plantProof } from '../kit/proofs.ts'

let daemon: TestDaemon
let backups: string
let operator: Person
let admin: Person
let stranger: Person
let canary: Server
let port = 0
let hits = 0

const workspaceScopes = ['workspace:read', 'workspace:write', 'workspace:admin'] as const

beforeAll(async () => {
  backups = mkdtempSync(join(tmpdir(), 'svc-backups-'))
  daemon = await testDaemon({ config: { backupDir: backups } })
  const { tenantId } = await setUp(daemon)
  operator = await person(daemon, tenantId, { operator: true, scopes: ['admin:tenants'] })
  admin = await person(daemon, tenantId, { scopes: workspaceScopes, role: 'ADMIN' })
  stranger = await person(daemon, await workspace(daemon, 'other'), { scopes: workspaceScopes })
  await daemon.db.sql`insert into tenant_quota select id, 'api_requests_per_minute', 0 from tenant`
  canary = createServer((socket) => {
    hits += 1
    socket.destroy()
  })
  port = await new Promise<number>((resolve) =>
    canary.listen(0, '127.0.0.1', () => resolve((canary.address() as { port: number }).port)),
  )
})
afterAll(async () => {
  canary.close()
  await daemon.close()
  rmSync(backups, { recursive: true, force: true })
})

const hostKey = `ssh-ed25519 ${Buffer.concat([Buffer.from([0, 0, 0, 11]), Buffer.from('ssh-ed25519'), Buffer.alloc(36)]).toString('base64')}`
const s3 = {
  endpoint: 'https://s3.example.org',
  region: 'eu-1',
  bucket: 'backups',
  access_key_id: 'AKIA',
  secret_access_key: 'canary-secret-key',
}
const sftp = {
  host: 'sftp.example.org',
  username: 'svc',
  host_key: hostKey,
  path: 'backups',
  password: 'canary-password',
}

/** Under a token, and with a step-up where a target is made or removed. */
async function call(who: Person, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const isProven = /^\/backup-targets(\/[^/:]+)?$/.test(path) && method !== 'GET'
  return daemon.call(method, `/api/v1${path}`, {
    token: who.token,
    headers: { ...(isProven ? { 'x-service-step-up': await plantProof(daemon.db.sql, who) } : {}), ...headers },
    ...(body === undefined ? {} : { body }),
  })
}
const add = (who: Person, kind: string, config: unknown, name = 'target') =>
  call(who, 'POST', '/backup-targets', { name, kind, config })

test.each([
  ['an operator', () => operator],
  ['an administrator of a workspace', () => admin],
] as const)('%s makes and removes one with a step-up alone, which serves once', async (_, whoever) => {
  const who = whoever()
  const body = { name: 'proven', kind: 'S3', config: s3 }
  const bare = (method: string, path: string, stepUp?: string) =>
    daemon.call(method, `/api/v1/backup-targets${path}`, {
      token: who.token,
      ...(method === 'POST' ? { body } : {}),
      ...(stepUp === undefined ? {} : { headers: { 'x-service-step-up': stepUp } }),
    })
  const refused = [401, 'auth.step_up_required']
  const codeOf = async (answer: ReturnType<typeof bare>) => [(await answer).status, (await answer).json?.code]
  const forMaking = await plantProof(daemon.db.sql, who, { operation: 'createBackupTarget' })
  expect(await codeOf(bare('POST', ''))).toEqual(refused)
  const made = await bare('POST', '', forMaking)
  expect(made.status).toBe(201)
  expect(await codeOf(bare('POST', '', forMaking))).toEqual(refused)

  const { id } = made.json
  const forAnother = await plantProof(daemon.db.sql, who, { operation: 'deleteBackupTarget', target: who.accountId })
  for (const stepUp of [undefined, forAnother]) expect(await codeOf(bare('DELETE', `/${id}`, stepUp))).toEqual(refused)
  const forThis = await plantProof(daemon.db.sql, who, { operation: 'deleteBackupTarget', target: id })
  expect((await bare('DELETE', `/${id}`, forThis)).status).toBe(204)
})

describe('whose a target is', () => {
  test("an operator's is the installation's, anybody else's the workspace's, and neither sees the other's", async () => {
    const ours = (await add(operator, 'LOCAL', { path: 'whose' })).json
    const theirs = (await add(admin, 'S3', s3)).json
    const others = (await add(stranger, 'S3', s3)).json
    const seen = async (who: Person) =>
      (await call(who, 'GET', '/backup-targets')).json.data.map(({ id }: { id: string }) => id)
    expect(await seen(operator)).toEqual([ours.id])
    expect(await seen(admin)).toEqual([theirs.id])
    expect(await seen(stranger)).toEqual([others.id])
    for (const [who, id] of [
      [admin, ours.id],
      [admin, others.id],
      [stranger, theirs.id],
      [operator, theirs.id],
    ] as const) {
      for (const [method, path] of [
        ['DELETE', ''],
        ['POST', ':test'],
        ['GET', '/backups'],
      ] as const) {
        const foreign = await call(who, method, `/backup-targets/${id}${path}`)
        expect([method, path, foreign.status, foreign.json.code]).toEqual([method, path, 404, 'not_found'])
      }
    }
    expect([await seen(operator), await seen(admin), await seen(stranger)]).toEqual([
      [ours.id],
      [theirs.id],
      [others.id],
    ])
    for (const [who, id] of [
      [operator, ours.id],
      [admin, theirs.id],
      [stranger, others.id],
    ] as const)
      expect((await call(who, 'DELETE', `/backup-targets/${id}`)).status).toBe(204)
  })

  test("the installation's disk is not a workspace's to fill", async () => {
    const { status, json } = await add(admin, 'LOCAL', { path: 'mine' })
    expect([status, json]).toMatchObject([403, { code: 'auth.scope_required', params: { scope: 'admin:tenants' } }])
    expect(existsSync(join(backups, 'mine'))).toBe(false)
  })

  test('making and removing one leaves its evidence, where it belongs', async () => {
    const { sql } = daemon.db
    const { id } = (await add(operator, 'S3', s3)).json
    const { id: own } = (await add(admin, 'SFTP', sftp)).json
    await call(operator, 'DELETE', `/backup-targets/${id}`)
    await call(admin, 'DELETE', `/backup-targets/${own}`)
    expect(await sql`select action, params from journal where subject_id = ${id} order by id`).toEqual([
      { action: 'backup_target.created', params: { kind: 'S3' } },
      { action: 'backup_target.removed', params: { kind: 'S3' } },
    ])
    expect(
      (await sql`select action from audit_entry where subject_id = ${own} order by id`).map(({ action }) => action),
    ).toEqual(['backup_target.created', 'backup_target.removed'])
    expect(await sql`select from sealed_value where owner_id in (${id}, ${own})`).toHaveLength(0)
  })
})

describe('secrets', () => {
  test('are sealed, and in no answer, table or entry', async () => {
    const key = '00000000-0000-4000-8000-00000000000a'
    const made = await call(
      operator,
      'POST',
      '/backup-targets',
      { name: 'a', kind: 'S3', config: s3 },
      { 'idempotency-key': key },
    )
    const again = await call(
      operator,
      'POST',
      '/backup-targets',
      { name: 'a', kind: 'S3', config: s3 },
      { 'idempotency-key': key },
    )
    expect([made.status, again.status, again.json.id]).toEqual([201, 201, made.json.id])
    const other = await add(operator, 'SFTP', sftp)
    expect(made.json.config).toEqual({
      endpoint: s3.endpoint,
      region: 'eu-1',
      bucket: 'backups',
      access_key_id: 'AKIA',
    })
    const listed = await call(operator, 'GET', '/backup-targets')
    for (const answer of [made, again, other, listed]) expect(answer.text).not.toContain('canary-')
    const everything = await dump(daemon.db.sql)
    expect(occurrences(everything, s3.secret_access_key)).toEqual([])
    expect(occurrences(everything, sftp.password)).toEqual([])
    expect(occurrences(everything, s3.endpoint).length).toBeGreaterThan(0)
    expect(await daemon.db.sql`select kind from sealed_value where owner_id = ${made.json.id}`).toEqual([
      { kind: 'backup.credentials' },
    ])
    for (const { id } of [made.json, other.json]) await call(operator, 'DELETE', `/backup-targets/${id}`)
  })

  test('a value that was altered is refused and never guessed', async () => {
    const { id } = (await add(operator, 'S3', s3)).json
    await daemon.db
      .sql`update sealed_value set ciphertext = set_byte(ciphertext, 20, 255 - get_byte(ciphertext, 20)) where owner_id = ${id}`
    for (const [method, path] of [
      ['POST', ':test'],
      ['GET', '/backups'],
    ] as const)
      expect((await call(operator, method, `/backup-targets/${id}${path}`)).json.code).toBe('secret.unavailable')
    await call(operator, 'DELETE', `/backup-targets/${id}`)
  })
})

describe('T-17: no endpoint leads inside, and nothing of one that does is stored', () => {
  const refusedHosts = literalForms.filter((form) => /^https:\/\/[^/?#@\\\s]+:PORT\/$/.test(form))
  const stored = async () =>
    (
      await daemon.db
        .sql`select (select count(*) from backup_target) as targets, (select count(*) from sealed_value) as secrets`
    )[0]

  test('S3: every literal form', async () => {
    const before = await stored()
    for (const form of literalForms) {
      const endpoint = form.replaceAll('PORT', String(port))
      const { status, json } = await add(operator, 'S3', { ...s3, endpoint })
      expect([form, status, ['egress.forbidden', 'request.invalid'].includes(json.code)]).toEqual([form, 422, true])
    }
    expect(refusedHosts.length).toBeGreaterThan(90)
    expect([hits, await stored()]).toEqual([0, before])
  })

  test('SFTP: every host of them', async () => {
    const before = await stored()
    for (const form of refusedHosts) {
      const host = form.slice('https://'.length, -':PORT/'.length)
      const { status, json } = await add(admin, 'SFTP', { ...sftp, host, port })
      expect([form, status, ['egress.forbidden', 'request.invalid'].includes(json.code)]).toEqual([form, 422, true])
    }
    expect([hits, await stored()]).toEqual([0, before])
  })

  test('one that was let in once is vetted again at each use', async () => {
    const { id } = (await add(operator, 'S3', s3)).json
    await daemon.db
      .sql`update backup_target set config = config || ${daemon.db.sql.json({ endpoint: `https://127.0.0.1:${port}` })} where id = ${id}`
    expect((await call(operator, 'POST', `/backup-targets/${id}:test`)).json).toEqual({
      ok: false,
      steps: [{ name: 'connect', ok: false, error: 'refused' }],
    })
    expect((await call(operator, 'GET', `/backup-targets/${id}/backups`)).json).toMatchObject({
      status: 503,
      code: 'backup.target_failed',
      params: { reason: 'refused' },
    })
    expect(hits).toBe(0)
    await call(operator, 'DELETE', `/backup-targets/${id}`)
  })
})

describe('LOCAL', () => {
  const bad = [
    '/etc',
    '../x',
    'a/../b',
    'a//b',
    'a/',
    './a',
    '.',
    '..',
    '.hidden',
    'a/.ssh',
    '~',
    'a\\b',
    'a b',
    'ä',
    'a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q',
    '%2e%2e',
    'x\u0000',
    `${'a'.repeat(101)}`,
  ]

  test.each(bad)('%j is no path below SVC_BACKUP_DIR', async (path) => {
    const { status, json } = await add(operator, 'LOCAL', { path })
    expect([status, json.code, json.errors[0].pointer]).toEqual([422, 'request.invalid', '/config/path'])
  })

  test(':test writes, reads and removes, and leaves nothing', async () => {
    const { id } = (await add(operator, 'LOCAL', { path: 'deep/er' })).json
    expect((await call(operator, 'POST', `/backup-targets/${id}:test`)).json).toMatchObject({
      ok: true,
      steps: [{ name: 'connect' }, { name: 'write' }, { name: 'read' }, { name: 'remove' }],
    })
    expect(readdirSync(join(backups, 'deep/er/probes'))).toEqual([])
    expect(
      (await call(operator, 'GET', '/backup-targets')).json.data.find((one: { id: string }) => one.id === id)
        .last_tested_at,
    ).not.toBeNull()
  })

  test('a link on the way is refused, not followed', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'svc-outside-'))
    symlinkSync(outside, join(backups, 'lead'))
    mkdirSync(join(backups, 'inner'))
    symlinkSync(outside, join(backups, 'inner', 'probes'))
    for (const path of ['lead', 'lead/on', 'inner']) {
      const { id } = (await add(operator, 'LOCAL', { path })).json
      expect((await call(operator, 'POST', `/backup-targets/${id}:test`)).json.ok).toBe(false)
    }
    expect(readdirSync(outside)).toEqual([])
    rmSync(outside, { recursive: true })
  })

  test('what is no archive is not listed', async () => {
    const { id } = (await add(operator, 'LOCAL', { path: 'mess' })).json
    const job = crypto.randomUUID()
    for (const name of [
      `tenants/${admin.tenantId}/20261120T115522Z-${job}-1`,
      `tenants/x`,
      `tenants/${admin.tenantId}/other`,
    ]) {
      mkdirSync(join(backups, 'mess', name), { recursive: true })
      writeFileSync(join(backups, 'mess', name, 'accounts.jsonl.zst'), 'x')
    }
    expect((await call(operator, 'GET', `/backup-targets/${id}/backups`)).json.data).toEqual([
      {
        path: `tenants/${admin.tenantId}/20261120T115522Z-${job}-1`,
        kind: 'TENANT_EXPORT',
        tenant_id: admin.tenantId,
        created_at: '2026-11-20T11:55:22.000Z',
        size_bytes: 1,
        product_version: null,
        complete: false,
      },
    ])
  })
})

test('a config is checked against its kind, member by member', async () => {
  const wrong: [string, unknown, string, string][] = [
    ['LOCAL', {}, '/config/path', 'member.required'],
    ['LOCAL', { path: 'a', host: 'x' }, '/config/host', 'member.unknown'],
    ['S3', { ...s3, secret_access_key: undefined }, '/config/secret_access_key', 'member.required'],
    ['S3', { ...s3, endpoint: 'https://s3.example.org/bucket' }, '/config/endpoint', 'value.format'],
    ['S3', { ...s3, endpoint: 'https://u:p@s3.example.org' }, '/config/endpoint', 'value.format'],
    ['S3', { ...s3, prefix: '../x' }, '/config/prefix', 'value.format'],
    ['S3', { ...s3, access_key_id: 'a\r\nb' }, '/config/access_key_id', 'value.format'],
    ['SFTP', { ...sftp, password: undefined }, '/config/password', 'member.one_of'],
    ['SFTP', { ...sftp, private_key: 'x' }, '/config/password', 'member.one_of'],
    ['SFTP', { ...sftp, host_key: 'nonsense' }, '/config/host_key', 'value.format'],
    ['SFTP', { ...sftp, port: 0 }, '/config/port', 'value.minimum'],
    ['SFTP', { ...sftp, path: '../../etc' }, '/config/path', 'value.format'],
  ]
  for (const [kind, config, pointer, code] of wrong) {
    const { status, json } = await add(operator, kind, config)
    expect([pointer, status, json.errors?.[0]]).toMatchObject([pointer, 422, { pointer, code }])
  }
})

test('If-Match holds a removal against the version', async () => {
  const made = await add(operator, 'LOCAL', { path: 'match' })
  expect(made.headers.etag).toBe('"1"')
  const stale = await call(operator, 'DELETE', `/backup-targets/${made.json.id}`, undefined, { 'if-match': '"7"' })
  expect([stale.status, stale.json.code]).toEqual([412, 'precondition.failed'])
  expect(
    (await call(operator, 'DELETE', `/backup-targets/${made.json.id}`, undefined, { 'if-match': '"1"' })).status,
  ).toBe(204)
  expect((await call(operator, 'DELETE', `/backup-targets/${made.json.id}`)).status).toBe(404)
})

test("a job is its workspace's ADMIN's and every operator's to read, and nobody else's", async () => {
  const target = (await add(operator, 'LOCAL', { path: 'jobs' })).json
  const queued = await call(operator, 'POST', `/admin/tenants/${admin.tenantId}:export`, { target_id: target.id })
  expect([queued.status, queued.headers.location]).toEqual([202, `/api/v1/jobs/${queued.json.job_id}`])
  expect(queued.json).toMatchObject({
    kind: 'TENANT_EXPORT',
    state: 'QUEUED',
    progress: { phase: 'WAITING', done: 0, total: null },
  })
  for (const who of [operator, admin])
    expect((await call(who, 'GET', `/jobs/${queued.json.job_id}`)).json).toEqual(queued.json)
  expect((await call(stranger, 'GET', `/jobs/${queued.json.job_id}`)).status).toBe(404)
})
