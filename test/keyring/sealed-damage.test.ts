/**
 * What was done to a sealed value at rest: it is refused for the one operation that needs it,
 * never guessed, and everything else goes on (T-21). And where secrets must never show (T-38).
 */
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openLog } from '../../src/daemon/log.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { dump, occurrences } from '../kit/dump.ts'
import { changeKeyring, newKey } from '../kit/keyrings.ts'
import { isOutside } from '../kit/outside-cluster.ts'
import { type Person, person, setUp } from '../kit/people.ts'
import { plantProof } from '../kit/proofs.ts'

let daemon: TestDaemon
let operator: Person
let logged = ''
beforeAll(async () => {
  const write = (line: string) => {
    logged += line
  }
  const log = openLog('trace', { write })
  daemon = await testDaemon({ log, config: { logLevel: 'trace' } })
  const { tenantId } = await setUp(daemon)
  operator = await person(daemon, tenantId, { operator: true })
  await daemon.db.sql`insert into tenant_quota select id, 'api_requests_per_minute', 0 from tenant`
})
afterAll(() => daemon.close())

const call = async (method: string, path: string, body?: unknown, headers = {}) =>
  daemon.call(method, `/api/v1${path}`, {
    token: operator.token,
    body,
    // A target takes a step-up; anything else that is called here leaves it unspent.
    headers: {
      ...(path === '/backup-targets' ? { 'x-service-step-up': await plantProof(daemon.db.sql, operator) } : {}),
      ...headers,
    },
  })

interface Provisioned {
  readonly again: () => ReturnType<typeof call>
  readonly token: string
  /** Owner of the sealed answer. */
  readonly ownerId: string
}

let slugs = 0
/** A workspace provisioned by Idempotency-Key: its answer, with the token shown once, is sealed. */
async function provision(): Promise<Provisioned> {
  slugs += 1
  const key = randomUUID()
  const body = { slug: `damaged-${slugs}`, display_name: 'D', owner_email: `o@d${slugs}.example` }
  const again = () => call('POST', '/admin/tenants', body, { 'idempotency-key': key })
  const made = await again()
  expect(made.status).toBe(201)
  const [record] = await daemon.db.sql<{ id: string }[]>`select id from idempotency_record where key = ${key}`
  return { again, token: made.json.redemption_token, ownerId: record!.id }
}

describe('T-21: a value that was', () => {
  let hurt: Provisioned
  let whole: Provisioned
  beforeEach(async () => {
    hurt = await provision()
    whole = await provision()
  })

  const sql = () => daemon.db.sql
  const damages: readonly (readonly [string, () => Promise<unknown>])[] = [
    ...(['wrap', 'ciphertext'] as const).flatMap((column) => [
      [
        `flipped in its ${column}`,
        () =>
          sql()`update sealed_value set ${sql()(column)} = set_byte(${sql()(column)}, 15, 255 - get_byte(${sql()(column)}, 15)) where owner_id = ${hurt.ownerId}`,
      ] as const,
      [
        `cut in the tag of its ${column}`,
        () =>
          sql()`update sealed_value set ${sql()(column)} = substr(${sql()(column)}, 1, length(${sql()(column)}) - 4) where owner_id = ${hurt.ownerId}`,
      ] as const,
      [
        `emptied in its ${column}`,
        () => sql()`update sealed_value set ${sql()(column)} = '' where owner_id = ${hurt.ownerId}`,
      ] as const,
    ]),
    [
      "overwritten with another row's",
      () =>
        sql()`update sealed_value s set wrap = o.wrap, ciphertext = o.ciphertext from sealed_value o where s.owner_id = ${hurt.ownerId} and o.owner_id = ${whole.ownerId}`,
    ],
    [
      'moved to another workspace, kind and row, and back under its old name',
      async () => {
        await sql()`
          insert into sealed_value (tenant_id, kind, owner_id, key_id, wrap, ciphertext)
          select tenant_id, 'backup.credentials', owner_id, key_id, wrap, ciphertext from sealed_value where owner_id = ${hurt.ownerId} on conflict do nothing`
        await sql()`update sealed_value set owner_id = ${randomUUID()} where owner_id = ${hurt.ownerId} and kind = 'idempotency.answer'`
        await sql()`delete from sealed_value where owner_id = ${hurt.ownerId} and kind = 'backup.credentials'`
      },
    ],
    [
      'put under a key nobody knows',
      () => sql()`update sealed_value set key_id = 'nobody' where owner_id = ${hurt.ownerId}`,
    ],
    ['removed', () => sql()`delete from sealed_value where owner_id = ${hurt.ownerId}`],
  ]

  test.each(damages)('%s is refused for the operation that needs it, and for no other', async (_, damage) => {
    await damage()
    const refused = await hurt.again()
    expect([refused.status, refused.json.code]).toEqual([503, 'secret.unavailable'])
    expect(refused.text).not.toContain(hurt.token)
    const fine = await whole.again()
    expect([fine.status, fine.json.redemption_token]).toEqual([201, whole.token])
    expect((await call('GET', '/admin/encryption')).status).toBe(200)
    expect((await call('GET', '/admin/overview')).status).toBe(200)
    await sql()`delete from sealed_value where owner_id = ${hurt.ownerId}`
  })

  test('put under a key nobody knows is listed with that key', async () => {
    await sql()`update sealed_value set key_id = 'nobody' where owner_id = ${hurt.ownerId}`
    const { json } = await call('GET', '/admin/encryption')
    expect(json.keys.find((key: { key_id: string }) => key.key_id === 'nobody')).toMatchObject({
      in_ring: false,
      total: 1,
    })
    await sql()`delete from sealed_value where owner_id = ${hurt.ownerId}`
  })

  test('sealed with a key whose bytes were changed in the file stays readable: that file is not taken', async () => {
    const { keyringFile } = daemon.config
    const before = readFileSync(keyringFile, 'utf8')
    changeKeyring(keyringFile, (keyring) => Object.assign(keyring.keys, { [keyring.current]: newKey() }))
    await daemon.reload()
    expect(logged).toContain('the keyring was not read again')
    expect((await whole.again()).json.redemption_token).toBe(whole.token)
    changeKeyring(keyringFile, (keyring) => Object.assign(keyring, JSON.parse(before)))
    await daemon.reload()
  })
})

describe('T-38: a secret that is sealed', () => {
  const canaries = Array.from({ length: 25 }, (_, at) => `canary-${at}-${randomUUID()}`)
  const s3 = (secret: string) => ({
    endpoint: 'https://s3.example.org',
    region: 'eu-1',
    bucket: 'backups',
    access_key_id: 'AKIA',
    secret_access_key: secret,
  })

  /** The ways a call that brings a secret can go: well, refused by the schema, by the guard, by a database that is gone, by a value that does not open. */
  const fates = [
    (secret: string) => call('POST', '/backup-targets', { name: 't', kind: 'S3', config: s3(secret) }),
    (secret: string) =>
      call('POST', '/backup-targets', { name: 7, kind: 'S3', config: { ...s3(secret), stray: secret } }),
    (secret: string) =>
      call('POST', '/backup-targets', {
        name: 't',
        kind: 'S3',
        config: { ...s3(secret), endpoint: 'http://127.0.0.1' },
      }),
    async (secret: string) => {
      const [answer] = await Promise.all([
        call('POST', '/backup-targets', { name: 't', kind: 'S3', config: s3(secret) }),
        daemon.db
          .sql`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = 'svc_daemon'`,
      ])
      return answer
    },
    async (secret: string) => {
      const made = await call('POST', '/backup-targets', { name: 't', kind: 'S3', config: s3(secret) })
      await daemon.db
        .sql`update sealed_value set wrap = set_byte(wrap, 15, 255 - get_byte(wrap, 15)) where owner_id = ${made.json.id}`
      return call('POST', `/backup-targets/${made.json.id}:test`)
    },
  ]

  test('is in no answer, log, table or process, whatever becomes of the call', async () => {
    const said: string[] = []
    for (const [at, secret] of canaries.entries()) {
      await expect.poll(async () => (await call('GET', '/admin/overview')).status, { timeout: 5000 }).toBe(200)
      said.push((await fates[at % fates.length]!(secret)).text)
    }
    said.push((await call('GET', '/backup-targets')).text, (await call('GET', '/admin/journal')).text)
    said.push((await call('GET', '/admin/encryption')).text)
    const contents = await dump(daemon.db.sql)
    const places = { answers: said.join('\n'), log: logged, serverLog: await serverLog(), ...processes() }
    for (const secret of canaries) {
      const found = Object.entries(places)
        .filter(([, text]) => text.includes(secret))
        .map(([name]) => name)
      expect([...found, ...occurrences(contents, secret)], secret).toEqual([])
    }
    expect(logged).toContain('"operation":"createBackupTarget"')
  })

  test('and one that were logged would be found', () => {
    const [canary = ''] = canaries
    expect(occurrences(new Map([['t', [`(1,${Buffer.from(canary).toString('hex')})`]]]), canary)).toEqual(['t'])
  })

  /** PostgreSQL's own log, of the whole test run; empty where the server is not ours, and logs somewhere else. */
  async function serverLog(): Promise<string> {
    if (isOutside) return ''
    const [row] = await daemon.db.sql<{ folder: string }[]>`select current_setting('data_directory') as folder`
    const text = readFileSync(join(row!.folder, '..', 'server.log'), 'utf8')
    expect(text).toContain('terminating connection due to administrator command')
    return text
  }

  const processes = () => ({
    arguments: readFileSync('/proc/self/cmdline', 'utf8'),
    environment: readFileSync('/proc/self/environ', 'utf8'),
  })
})
