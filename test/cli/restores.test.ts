/** `svc tenants rewind` and `svc restores`: planned, applied and taken back, at the database; and what they say. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { generateIdentity, identityToRecipient } from 'age-encryption'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { plantToken } from '../kit/accounts.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { everyScope, type Home as Owner, person, setUp } from '../kit/people.ts'
import { plantProof } from '../kit/proofs.ts'
import { databaseEnv, type Home, temporaryHome } from '../kit/svc.ts'

let daemon: TestDaemon
let owner: Owner
let home: Home
let token: string

beforeAll(async () => {
  daemon = await testDaemon({ config: { mode: 'single' } })
  owner = await setUp(daemon, 'acme')
  token = (await plantToken({ oracle: daemon.db.sql }, owner, { scopes: everyScope })).token
  home = temporaryHome()
  await svc('backup-targets', 'add', 'disk', '--kind', 'local', '--path', 'disk')
})
afterAll(async () => {
  home.remove()
  await daemon.close()
})

const api = (...args: string[]) => home.svc(args, { env: { SVC_API_URL: daemon.address, SVC_TOKEN: token } })
const svc = (...args: string[]) =>
  home.svc([...args, '--recovery', '--while-serving'], { env: { ...databaseEnv(daemon.config), SVC_MODE: 'single' } })
const moment = () => new Date(Date.now() + 1000).toISOString()

test('a workspace is rewound by its plan, and back', async () => {
  const made = await svc('backups', 'create', 'acme', '--target', 'disk', '--wait')
  expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('The backup is complete.')])
  await daemon.db.sql`update container set name = 'damaged' where tenant_id = ${owner.tenantId}`

  const planned = await svc('tenants', 'rewind', 'acme', '--to', moment(), '--plan')
  expect([planned.code, planned.stderr]).toEqual([0, expect.stringContaining('Nothing was changed.')])
  expect(planned.stdout).toMatch(/containers +0 +2 +0\n/)
  expect(planned.stdout).toMatch(/as it is now +accounts, roles/)
  const [, hash = ''] = /--apply ([0-9a-f]{16})/.exec(planned.stderr) ?? []
  const [before] = await daemon.db.sql`select count(*)::int as count from container where name = 'damaged'`
  expect(before?.['count']).toBe(2)

  const declined = await svc('tenants', 'rewind', 'acme', '--apply', hash, '--confirm', 'another')
  expect([declined.code, declined.stderr]).toEqual([1, expect.stringContaining('Nothing was done.')])
  const stale = await svc('tenants', 'rewind', 'acme', '--apply', '0000000000000000', '--confirm', 'acme')
  expect([stale.code, stale.stderr]).toEqual([5, expect.stringContaining('The plan is outdated')])
  const done = await svc('tenants', 'rewind', 'acme', '--apply', hash, '--confirm', 'acme')
  expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(/state +DONE\n/)])
  const [after] = await daemon.db.sql`select count(*)::int as count from container where name = 'damaged'`
  expect(after?.['count']).toBe(0)

  const listed = await api('restores', 'list', '--workspace', 'acme')
  expect(listed.stdout).toMatch(/REPLACE +acme +DONE/)
  const id = JSON.parse((await api('restores', 'list', '--json')).stdout).data[0].id as string
  expect((await api('restores', 'show', id)).stdout).toMatch(/can be undone until +\d{4}-/)

  const undone = await svc('tenants', 'rewind', 'acme', '--undo', '--confirm', 'acme')
  expect([undone.code, undone.stdout]).toEqual([0, expect.stringMatching(/state +UNDONE\n[\s\S]*edits that stayed +0/)])
  expect((await svc('tenants', 'rewind', 'acme', '--undo', '--confirm', 'acme')).code).toBe(5)
  expect((await svc('tenants', 'rewind', 'acme', '--apply', hash, '--confirm', 'acme')).code).toBe(5)
  expect((await svc('tenants', 'rewind', 'acme')).code).toBe(2)
  expect((await svc('tenants', 'rewind', 'acme', '--to', '2020-01-01T00:00:00Z', '--plan')).code).toBe(2)
})

test('a restore is prepared, shown, applied and undone by its id', async () => {
  const planned = await svc('tenants', 'rewind', 'acme', '--to', moment(), '--plan', '--json')
  const { id, plan } = JSON.parse(planned.stdout) as { id: string; plan: { hash: string } }
  expect((await svc('restores', 'show', id)).stdout).toContain(plan.hash)
  const done = await svc('restores', 'apply', id, '--plan', plan.hash, '--confirm', 'acme')
  expect(done.stdout).toMatch(/state +DONE\n/)
  const undone = await svc('restores', 'undo', id, '--confirm', 'acme')
  expect(undone.stdout).toMatch(/state +UNDONE\n/)

  const there = await svc('restores', 'create', '--backup', await backupId())
  expect([there.code, there.stderr]).toEqual([5, expect.stringContaining('svc tenants rewind SLUG')])
  const single = await svc(
    ...[
      'restores',
      'create',
      '--backup',
      await backupId(),
      '--new',
      'copy',
      '--name',
      'A copy',
      '--owner',
      'ada@copy.example',
    ],
  )
  expect([single.code, single.stderr]).toEqual([5, expect.stringContaining('SVC_MODE=multi')])
  expect((await svc('restores', 'create')).code).toBe(2)
  const operator = await person(daemon, owner.tenantId, { operator: true })
  const headers = { 'x-service-step-up': await plantProof(daemon.db.sql, operator, { operation: 'createRestore' }) }
  const fresh = { slug: 'copy', display_name: 'A copy', owner_email: 'ada@copy.example' }
  const body = { into: 'NEW', source: { backup_id: await backupId() }, new: fresh }
  const { status, json } = await daemon.call('POST', '/api/v1/restores', { token: operator.token, body, headers })
  expect([status, json.code]).toEqual([409, 'admin.multi_mode_required'])
})

test('an archive of an installation that is lost, keyring and all, comes back with the identity of a recipient', async () => {
  const identity = await generateIdentity()
  const recipient = await identityToRecipient(identity)
  const made = await svc('backups', 'create', 'acme', '--target', 'disk', '--recipient', recipient, '--wait', '--json')
  const { path } = JSON.parse(made.stdout) as { path: string }
  const other = await testDaemon({ config: { mode: 'multi' } })
  try {
    cpSync(join(daemon.config.backupDir, 'disk'), join(other.config.backupDir, 'disk'), { recursive: true })
    const env = { ...databaseEnv(other.config), SVC_MODE: 'multi' }
    const there = (...args: string[]) => home.svc([...args, '--recovery', '--while-serving'], { env })
    await there('backup-targets', 'add', 'disk', '--kind', 'local', '--path', 'disk')
    const file = home.secretFile('key.txt', `# of the safe\n${identity}\n`)
    const fresh = ['--new', 'acme-again', '--name', 'Acme', '--owner', 'ada@acme.example']
    const create = (...more: string[]) =>
      there('restores', 'create', '--target', 'disk', '--path', path, ...fresh, ...more)
    const unsigned = await create('--identity-file', file)
    expect([unsigned.code, unsigned.stderr]).toEqual([2, expect.stringContaining('(unsigned)')])
    // Keys are named by the day: the other keyring has one of the same name.
    const keyless = await create('--accept-foreign')
    expect([keyless.code, keyless.stderr]).toEqual([8, expect.stringContaining('--identity-file')])

    const identities = () => other.db.sql`select from sealed_value where kind = 'restore.identity'`
    const stranger = home.secretFile('other.txt', `${await generateIdentity()}\n`)
    expect((await create('--accept-foreign', '--identity-file', stranger)).code).toBe(8)
    expect(await identities()).toHaveLength(0)

    const planned = await create('--accept-foreign', '--identity-file', file)
    expect([planned.code, planned.stderr]).toEqual([0, expect.stringContaining('Nothing was changed.')])
    const [, id = '', hash = ''] = /restores apply (\S+) --plan ([0-9a-f]{16})/.exec(planned.stderr) ?? []
    expect(await identities()).toHaveLength(1)
    const done = await there('restores', 'apply', id, '--plan', hash)
    expect([done.code, done.stdout]).toEqual([0, expect.stringMatching(/state +DONE\n/)])
    const names = ({ db }: TestDaemon) => db.sql`select name from container where name <> 'damaged' order by name`
    expect(await names(other)).toEqual(await names(daemon))
    expect(await identities()).toHaveLength(0)
  } finally {
    await other.close()
  }
})

async function backupId(): Promise<string> {
  const { stdout } = await svc('backups', 'list', '--json')
  return (JSON.parse(stdout) as { data: { id: string }[] }).data[0]?.id ?? ''
}
