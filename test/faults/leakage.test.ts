/**
 * T-38, F-24: 25 secrets and 25 pieces of content go through every kind of call, answered and
 * refused, with a database that goes away and values that do not open. None of them is in the
 * daemon's log at trace, in PostgreSQL's log, in the journal or in any process's arguments or
 * environment; and no secret is in the database.
 */
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresOptions } from '../../src/core/kernel/database/address.ts'
import { findRecord, logOf } from '../../src/core/kernel/database/embedded/places.ts'
import { findSuperuser } from '../../src/core/kernel/database/embedded.ts'
import { type SpawnedDaemon, spawnDaemon } from '../kit/daemon.ts'
import { dump, occurrences } from '../kit/dump.ts'
import { freshSlug } from '../kit/installation.ts'
import { type SmtpRelay, smtpRelay } from '../kit/smtp-relay.ts'

/** Canaries by what they stand for. */
const secrets = new Map<string, string>()
const content = new Map<string, string>()
const secret = (what: string) => keep(secrets, what, `Sx${randomBytes(15).toString('hex')}`)
const words = (what: string) => keep(content, what, `Cx${randomBytes(15).toString('hex')}`)

function keep(canaries: Map<string, string>, what: string, value: string): string {
  canaries.set(what, value)
  return value
}

let folder: string
let relay: SmtpRelay
let daemon: SpawnedDaemon
let sql: postgres.Sql
let serverLog: string
/** Every answer that went back to somebody who may not see what was in the request. */
const refusals: string[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-leakage-'))
  chmodSync(folder, 0o711)
  relay = await smtpRelay()
  daemon = await spawnDaemon({
    SVC_DATA_DIR: folder,
    SVC_PORT: '0',
    SVC_MODE: 'multi',
    SVC_LOG_LEVEL: 'trace',
    SVC_SETUP_TOKEN: secret('set-up token'),
    SVC_SMTP_URL: `smtp://user:${secret('relay password')}@127.0.0.1:${relay.port}?tls=off`,
  })
  expect(daemon.address, daemon.stderr()).not.toBe('')
  sql = postgres({ ...postgresOptions((await findSuperuser(folder))!), max: 2, onnotice: () => undefined })
  serverLog = logOf((await findRecord(folder))!)
})
afterAll(async () => {
  await sql.end()
  daemon.process.kill('SIGTERM')
  await daemon.ended
  await relay.close()
  rmSync(dirname(serverLog), { recursive: true, force: true })
  rmSync(folder, { recursive: true, force: true })
})

interface Sent {
  readonly token?: string
  readonly headers?: Record<string, string>
}

// biome-ignore lint/suspicious/noExplicitAny: answers of many operations
async function call(method: string, path: string, body?: unknown, { token, headers }: Sent = {}): Promise<any> {
  const answer = await fetch(`${daemon.address}${path}`, {
    method,
    headers: {
      ...(body === undefined
        ? {}
        : { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' }),
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) refusals.push(`${method} ${path.slice(0, 40)} ${text}`)
  return { status: answer.status, json: text === '' ? undefined : JSON.parse(text) }
}

/** Sets the installation up and lets everything be said once, as it should be said. */
async function sayEverything() {
  const password = secret("owner's password")
  const email = `${words("owner's address").toLowerCase()}@example.org`
  keep(content, "owner's address", email)
  const setUp = await call('POST', '/api/v1/auth/installation:set-up', {
    set_up_token: secrets.get('set-up token'),
    workspace: { slug: 'first', display_name: words('name of the first workspace') },
    owner: { email, display_name: words("owner's name"), password },
  })
  expect(setUp.status).toBe(201)
  const { session, tenant } = setUp.json
  keep(secrets, 'first session', session.access_token)
  keep(secrets, 'first refresh token', session.refresh_token)
  const signedIn = await call('POST', '/api/v1/auth/sessions', { workspace: 'first', email, password })
  keep(secrets, 'second session', signedIn.json.access_token)
  const refreshed = await call('POST', '/api/v1/auth/sessions:refresh', { refresh_token: signedIn.json.refresh_token })
  keep(secrets, 'refresh token, spent', signedIn.json.refresh_token)
  keep(secrets, 'refreshed session', refreshed.json.access_token)
  keep(secrets, 'refreshed refresh token', refreshed.json.refresh_token)

  const proofFor = async (token: string, name: string) => {
    const proof = await call('POST', '/api/v1/auth/step-up', { password }, { token })
    return { token, headers: { 'x-service-step-up': keep(secrets, `proof: ${name}`, proof.json.step_up_token) } }
  }
  const mint = async (name: string, scopes: string[]) => {
    const made = await call(
      'POST',
      '/api/v1/auth/tokens',
      { name: words(`token's name: ${name}`), scopes },
      await proofFor(session.access_token, `token ${name}`),
    )
    expect(made.status).toBe(201)
    return keep(secrets, `token: ${name}`, made.json.token)
  }
  const token = await mint('operator', ['admin:tenants', 'workspace:read', 'workspace:write', 'workspace:admin'])
  await mint('reader', ['workspace:read'])
  return { token, tenantId: tenant.id as string, password, email, proofFor }
}

type Said = Awaited<ReturnType<typeof sayEverything>>

async function administer({ token, proofFor }: Said) {
  const slug = freshSlug('leak')
  const made = await call(
    'POST',
    '/api/v1/admin/tenants',
    {
      slug,
      display_name: words('name of a workspace'),
      owner_email: keep(content, 'address of its owner', `${randomBytes(9).toString('hex')}@example.org`),
      owner_display_name: words('name of its owner'),
    },
    { token, headers: { 'idempotency-key': crypto.randomUUID() } },
  )
  expect(made.status).toBe(201)
  keep(secrets, 'invitation', made.json.redemption_token)
  const tenantId = made.json.tenant.id as string
  await call('POST', '/api/v1/auth/invitations:redeem', {
    token: made.json.redemption_token,
    display_name: words('name of who redeems'),
    password: secret('password of who redeems'),
  })
  const opened = await call(
    'POST',
    `/api/v1/admin/tenants/${tenantId}:open-password`,
    { requester: words('requester'), reason: words('reason of an opening') },
    await proofFor(token, 'opening'),
  )
  expect(opened.status).toBe(200)
  const scopes = ['TENANT', 'TENANT', 'TENANT']
  for (const [at, kind] of scopes.entries()) {
    const body = { tenant_id: tenantId, scope: { kind }, reason: words(`reason of hold ${at}`) }
    expect((await call('POST', '/api/v1/retention/holds', body, { token })).status).toBe(201)
  }
  const hold = {
    id: crypto.randomUUID(),
    scope: { kind: 'TENANT' },
    reason: words('reason of a hold put back'),
    placed_by: crypto.randomUUID(),
    placed_at: '2026-01-01T00:00:00Z',
  }
  await call(
    'POST',
    `/api/v1/admin/tenants/${tenantId}:replace-legal-holds`,
    { recovery_point: '2026-02-01T00:00:00Z', holds: [hold] },
    { token },
  )
  await call(
    'POST',
    `/api/v1/admin/tenants/${tenantId}:delete`,
    { confirmation: words('a wrong confirmation') },
    await proofFor(token, 'deletion'),
  )
  return tenantId
}

const hostKey = `ssh-ed25519 ${Buffer.concat([Buffer.from([0, 0, 0, 11]), Buffer.from('ssh-ed25519'), Buffer.alloc(36)]).toString('base64')}`

/** Targets with secrets in them; answers the ids. */
async function addTargets({ token, proofFor }: Said): Promise<string[]> {
  const s3 = { endpoint: 'https://s3.example.org', region: 'eu-1', bucket: 'backups', access_key_id: 'AKIA' }
  const sftp = { host: 'sftp.example.org', username: 'svc', host_key: hostKey, path: 'backups' }
  const ids: string[] = []
  for (const [kind, config] of [
    ['S3', { ...s3, secret_access_key: secret('S3 key') }],
    ['S3', { ...s3, secret_access_key: secret('another S3 key') }],
    ['SFTP', { ...sftp, password: secret('SFTP password') }],
    ['SFTP', { ...sftp, private_key: secret('SFTP private key') }],
  ] as const) {
    const made = await call(
      'POST',
      '/api/v1/backup-targets',
      { name: words(`name of target ${ids.length}`), kind, config },
      await proofFor(token, `target ${ids.length}`),
    )
    expect(made.status).toBe(201)
    ids.push(made.json.id)
    await call('POST', `/api/v1/backup-targets/${made.json.id}:test`, undefined, { token })
    await call('GET', `/api/v1/backup-targets/${made.json.id}/backups`, undefined, { token })
  }
  return ids
}

/** Everything that goes wrong: each request has canaries in the place that is refused. */
async function failEverywhere({ token, email, tenantId, proofFor }: Said, targets: readonly string[]) {
  const [wrong, bodyText] = [secret('a wrong password'), words('text in a body that is refused')]
  await call('POST', '/api/v1/auth/sessions', { workspace: 'first', email, password: wrong })
  await call('POST', '/api/v1/auth/sessions', { workspace: 'first', email, password: wrong, unknown_member: bodyText })
  await call('POST', '/api/v1/auth/sessions', `{"workspace":"first","password":"${secret('password in broken JSON')}`)
  await call('POST', '/api/v1/auth/sessions', { workspace: words('an unknown workspace'), email, password: wrong })
  await call('POST', '/api/v1/auth/sessions:refresh', { refresh_token: secret('a refresh token that is none') })
  await call('POST', '/api/v1/auth/invitations:redeem', {
    token: secret('an invitation that is none'),
    password: secret('password for it'),
  })
  await call('POST', '/api/v1/auth/step-up', { password: secret('a wrong password to prove') }, { token })
  await call('GET', '/api/v1/admin/tenants', undefined, { token: `svcp_${secret('a token that is none')}` })
  await call('GET', '/api/v1/admin/tenants', undefined, { headers: { authorization: secret('a header that is none') } })
  await call('GET', `/api/v1/admin/tenants?slug=${words('text in a query')}`, undefined, { token })
  await call('GET', `/api/v1/admin/tenants?cursor=${words('a cursor that is none')}`, undefined, { token })
  await call('GET', `/api/v1/jobs/${words('text in a path')}`, undefined, { token })
  await call('GET', `/${words('text in a path that nobody serves')}`)
  await call(
    'POST',
    '/api/v1/admin/tenants',
    { slug: 'first', display_name: words('name of a workspace whose slug is taken'), owner_email: email },
    { token, headers: { 'idempotency-key': crypto.randomUUID() } },
  )
  await call(
    'POST',
    '/api/v1/admin/tenants',
    { slug: 'x'.repeat(41), display_name: `${bodyText}\0` },
    { token, headers: { 'idempotency-key': words('an idempotency key that is none') } },
  )
  await call('PATCH', `/api/v1/admin/tenants/${tenantId}/quotas`, { items: words('a quota that is none') }, { token })
  await call(
    'POST',
    '/api/v1/backup-targets',
    {
      name: 'x',
      kind: 'S3',
      config: {
        endpoint: `https://u:${secret('password in an endpoint')}@s3.example.org`,
        region: 'r',
        bucket: 'backups',
        access_key_id: 'AKIA',
        secret_access_key: secret('S3 key of a target that is refused'),
      },
    },
    await proofFor(token, 'a target: S3 key of a target that is refused'),
  )
  await call(
    'POST',
    '/api/v1/backup-targets',
    {
      name: 'x',
      kind: 'SFTP',
      config: {
        host: '169.254.169.254',
        username: 'u',
        host_key: hostKey,
        path: 'backups',
        password: secret('SFTP password of a target that is refused'),
      },
    },
    await proofFor(token, 'a target: SFTP password of a target that is refused'),
  )

  // A sealed value that does not open, one under a key that the ring does not have, and one that is gone.
  await sql`update sealed_value set ciphertext = set_byte(ciphertext, 20, 255 - get_byte(ciphertext, 20)) where owner_id = ${targets[0]!}`
  await sql`delete from sealed_value where owner_id = ${targets[1]!}`
  for (const id of targets) await call('POST', `/api/v1/backup-targets/${id}:test`, undefined, { token })

  // A database that goes away under statements that carry canaries, one that refuses, and one that fails.
  const rounds = Array.from({ length: 20 }, async (_, at) => {
    const kill = sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'svc %'`
    const body = {
      tenant_id: tenantId,
      scope: { kind: 'TENANT' },
      reason: at === 0 ? words('reason while the database goes away') : bodyText,
    }
    await Promise.all([kill, call('POST', '/api/v1/retention/holds', body, { token }).catch(() => undefined)])
  })
  await Promise.all(rounds)
  await sql`alter table legal_hold add constraint refuses check (reason not like 'Cx%') not valid`
  await sql`alter table backup_target add constraint refuses check (name not like 'Cx%') not valid`
  const held = await call(
    'POST',
    '/api/v1/retention/holds',
    { tenant_id: tenantId, scope: { kind: 'TENANT' }, reason: words('reason that the table refuses') },
    { token },
  )
  const target = await call(
    'POST',
    '/api/v1/backup-targets',
    {
      name: words('name that the table refuses'),
      kind: 'S3',
      config: {
        endpoint: 'https://s3.example.org',
        region: 'r',
        bucket: 'backups',
        access_key_id: 'AKIA',
        secret_access_key: secret('S3 key while the table refuses'),
      },
    },
    await proofFor(token, 'a target: S3 key while the table refuses'),
  )
  expect([held.status, target.status]).toEqual([500, 500])
  await sql`alter table legal_hold drop constraint refuses`
  await sql`alter table backup_target drop constraint refuses`
}

const found = (canaries: ReadonlyMap<string, string>, text: string) =>
  [...canaries].filter(([, value]) => text.includes(value)).map(([what]) => what)

describe('what went through', () => {
  let said: Said
  beforeAll(async () => {
    said = await sayEverything()
    await administer(said)
    const targets = await addTargets(said)
    // Before the database goes away: until the mails have gone, the log may still have something to say of them.
    const waiting = () =>
      sql`select from pgboss.job where name in ('tell_administrators', 'send_mail') and state <> 'completed'`
    while ((await waiting()).count > 0) await new Promise((resolve) => setTimeout(resolve, 50))
    await failEverywhere(said, targets)
  }, 120_000)

  test('is at least 25 secrets and 25 pieces of content', () => {
    expect(secrets.size).toBeGreaterThanOrEqual(25)
    expect(content.size).toBeGreaterThanOrEqual(25)
    expect(new Set([...secrets.values(), ...content.values()]).size).toBe(secrets.size + content.size)
  })

  test("is not in the daemon's log, which is written at trace", async () => {
    await expect.poll(() => daemon.stderr()).toContain('"status":500')
    expect(found(secrets, daemon.stderr())).toEqual([])
    expect(found(content, daemon.stderr())).toEqual([])
    expect(found(secrets, daemon.stdout())).toEqual([])
  })

  test("is not in PostgreSQL's log, which has the failures", () => {
    const log = readFileSync(serverLog, 'utf8')
    expect(log).toMatch(/violates check constraint "refuses"/)
    expect(log).toMatch(/terminating connection due to administrator command/)
    expect(found(secrets, log)).toEqual([])
    expect(found(content, log)).toEqual([])
  })

  test('is not in a refusal', () => {
    expect(refusals.length).toBeGreaterThan(20)
    for (const refusal of refusals) expect([refusal, found(secrets, refusal)]).toEqual([refusal, []])
    // Nothing that was sent is sent back, neither in params nor in pointers.
    for (const refusal of refusals)
      expect([refusal, found(content, refusal.slice(refusal.indexOf('{')))]).toEqual([refusal, []])
  })

  test('is not in the journal', async () => {
    const [{ text } = { text: '' }] = await sql<
      { text: string }[]
    >`select string_agg(j::text, ' ') as text from journal j`
    expect(text).toContain('tenant.password_opened')
    expect(found(secrets, text)).toEqual([])
    expect(found(content, text)).toEqual([])
  })

  test('is in the database in clear where it is content, and nowhere where it is a secret', async () => {
    const everything = await dump(sql)
    expect([...secrets].filter(([, value]) => occurrences(everything, value).length > 0).map(([what]) => what)).toEqual(
      [],
    )
    expect(occurrences(everything, content.get('reason of an opening')!)).not.toEqual([])
    // No queue's payload names anybody.
    const queue = [...everything]
      .filter(([name]) => name.startsWith('pgboss.'))
      .flatMap(([, rows]) => rows)
      .join('\n')
    expect(found(content, queue)).toEqual([])
  })

  test("is in nobody's arguments, and in the environment of no child", () => {
    const own = String(daemon.process.pid)
    const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    const textOf = (pid: string, file: string) => {
      try {
        return readFileSync(`/proc/${pid}/${file}`, 'utf8')
      } catch {
        return '' // it has ended, or is somebody else's
      }
    }
    expect(textOf(own, 'environ')).toContain(secrets.get('relay password'))
    const inArguments = processes.flatMap((pid) =>
      found(secrets, textOf(pid, 'cmdline')).concat(found(content, textOf(pid, 'cmdline'))),
    )
    expect(inArguments).toEqual([])
    const inEnvironments = processes
      .filter((pid) => pid !== own)
      .flatMap((pid) => found(secrets, textOf(pid, 'environ')))
    expect(inEnvironments).toEqual([])
  })
})
