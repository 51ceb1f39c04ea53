/** `svc backups`: made, listed, shown, read back and removed, over the API and at the database; and what the doctor says. */
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { plantToken } from '../kit/accounts.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { everyScope, type Home as Owner, setUp } from '../kit/people.ts'
import { databaseEnv, type Home, temporaryHome } from '../kit/svc.ts'

let daemon: TestDaemon
let owner: Owner
let home: Home
let token: string
let passwordFile: string

beforeAll(async () => {
  daemon = await testDaemon()
  owner = await setUp(daemon, 'acme')
  token = (await plantToken({ oracle: daemon.db.sql }, owner, { scopes: everyScope })).token
  home = temporaryHome()
  passwordFile = join(home.folder, 'me.password')
  writeFileSync(passwordFile, owner.password, { mode: 0o600 })
  await database('backup-targets', 'add', 'disk', '--kind', 'local', '--path', 'disk')
})
afterAll(async () => {
  home.remove()
  await daemon.close()
})

const api = (...args: string[]) => home.svc(args, { env: { SVC_API_URL: daemon.address, SVC_TOKEN: token } })
const database = (...args: string[]) =>
  home.svc([...args, '--recovery', '--while-serving'], { env: databaseEnv(daemon.config) })
const shown = async (id: string) => JSON.parse((await api('backups', 'show', id, '--json')).stdout)
const doctor = async () => {
  const { stdout } = await home.svc(['doctor', '--json'], { env: databaseEnv(daemon.config) })
  const { checks } = JSON.parse(stdout) as { checks: { check: string; state: string; says: string }[] }
  return checks.find(({ check }) => check === 'backups')
}

/** Makes one at the database, where the command does the job itself. */
async function made(...more: string[]): Promise<string> {
  const { code, stdout, stderr } = await database('backups', 'create', 'acme', '--target', 'disk', '--wait', ...more)
  expect([code, stderr]).toEqual([0, expect.stringContaining('The backup is complete.')])
  return stdout.trim()
}

test('over the API it is queued, and listed and shown in both ways', async () => {
  const recipient = await identityToRecipient(await generateX25519Identity())
  const asked = await api(
    'backups',
    'create',
    'acme',
    '--target',
    'disk',
    '--recipient',
    recipient,
    '--keep-days',
    '30',
  )
  expect([asked.code, asked.stderr]).toEqual([0, expect.stringContaining('Queued.')])
  const id = asked.stdout.trim()
  for (const way of [api, database]) {
    const list = await way('backups', 'list', '--workspace', 'acme', '--state', 'QUEUED')
    expect(list.stdout).toContain(id)
    const { stdout } = await way('backups', 'show', id)
    expect(stdout).toMatch(/state +QUEUED\n/)
    expect(stdout).toContain(`OUTSIDE ${recipient}`)
  }
  expect((await api('backups', 'remove', id, '--confirm', id, '--password-file', passwordFile)).code).toBe(5)
  await daemon.db.sql`update job set state = 'FAILED', finished_at = now() where kind = 'BACKUP'`
  await daemon.db.sql`update backup set state = 'FAILED' where id = ${id}`
})

test('at the database the command makes it and reads it back; what is damaged ends with 8, and the doctor says it', async () => {
  const first = await made()
  expect(await doctor()).toMatchObject({ state: 'warn', says: expect.stringContaining('the keyring alone') })
  const recipient = await identityToRecipient(await generateX25519Identity())
  const second = await made('--recipient', recipient)
  expect(await doctor()).toMatchObject({ state: 'ok', says: '2 good' })
  const read = await database('backups', 'verify', second, '--wait')
  expect([read.code, read.stderr]).toEqual([0, expect.stringContaining('Every byte is as it was written.')])

  const kept = await api('backups', 'remove', second, '--confirm', second, '--password-file', passwordFile)
  expect([kept.code, kept.stderr]).toEqual([5, expect.stringContaining('NEWEST_GOOD')])
  const removed = await api('backups', 'remove', first, '--confirm', first, '--password-file', passwordFile)
  expect([removed.code, removed.stderr]).toEqual([0, expect.stringContaining('Removed.')])
  expect((await shown(first)).state).toBe('REMOVING')

  const folder = join(daemon.config.backupDir, 'disk', (await shown(second)).path)
  writeFileSync(join(folder, readdirSync(folder).find((name) => name.startsWith('labels'))!), 'spoilt')
  const spoilt = await database('backups', 'verify', second, '--wait')
  expect([spoilt.code, spoilt.stderr]).toEqual([
    8,
    expect.stringMatching(/failed \(archive\.checksum\)[\s\S]*svc backups list/),
  ])
  expect(await doctor()).toMatchObject({ state: 'warn', says: `1 cannot be trusted, the first is ${second}` })
})
