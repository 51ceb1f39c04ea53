/** `/restores` (Keeping, 3): who may ask for which, and everything that is refused. */
import { randomUUID } from 'node:crypto'
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Backup } from '../../src/core/contract/backup/backups.ts'
import type { NewRestore } from '../../src/core/contract/backup/restores.ts'
import { operations as ops } from '../../src/core/contract/operations.ts'
import { seal } from '../../src/core/kernel/sealing/sealing.ts'
import type { Furnished } from '../kit/leaving-workspace.ts'
import { person } from '../kit/people.ts'
import { plantProof } from '../kit/proofs.ts'
import type { TwoWays } from '../kit/two-ways.ts'
import { type RestoreDesk, removeByHand, restoreDesk } from './restore-desk.ts'

let desk: RestoreDesk
let both: TwoWays
let mine: Furnished
let backup: Backup
beforeAll(async () => {
  desk = await restoreDesk()
  both = desk.both
  mine = await desk.workspace()
  await both.sql`insert into tenant_quota (tenant_id, quota, ceiling) values (${mine.id}, 'export_jobs', 0)`
  backup = await desk.backedUp(mine.id)
})
afterAll(() => both.close())

const rewind = (more: object = {}): NewRestore => ({
  into: 'REPLACE',
  tenant_id: mine.id,
  source: { backup_id: backup.id },
  ...more,
})
const itself = (more: object = {}): NewRestore => ({ into: 'ITSELF', source: { backup_id: backup.id }, ...more })
const asNew = (slug: string, more: object = {}): NewRestore => ({
  into: 'NEW',
  source: { backup_id: backup.id },
  new: { slug, display_name: 'A copy', owner_email: 'ada@copy.example' },
  ...more,
})
/** Over HTTP, as an operator. */
async function asked(body: NewRestore): Promise<[number, string, unknown]> {
  const { status, json } = await both.ask(ops.createRestore, { body })
  return [status, json.code, json.errors ?? json.params]
}
const member = (pointer: string, code: string) => [422, 'request.invalid', [{ pointer, code, params: {} }]]

describe('a body', () => {
  test('says one source, and what its way of restoring takes', async () => {
    expect(await asked({ into: 'REPLACE', source: { backup_id: backup.id } })).toEqual(
      member('/tenant_id', 'member.required'),
    )
    expect(await asked({ into: 'REPLACE', tenant_id: mine.id })).toEqual(member('/source', 'member.required'))
    expect(await asked(rewind({ to: '2026-01-01T00:00:00Z' }))).toEqual(member('/to', 'member.unknown'))
    expect(await asked(rewind({ accept_foreign: true }))).toEqual(member('/accept_foreign', 'member.unknown'))
    expect(await asked(rewind({ new: { slug: 'abc', display_name: 'x', owner_email: 'a@b.example' } }))).toEqual(
      member('/new', 'member.unknown'),
    )
    expect(await asked(itself({ tenant_id: mine.id }))).toEqual(member('/tenant_id', 'member.unknown'))
    expect(await asked(itself({ to: '2026-01-01T00:00:00Z' }))).toEqual(member('/to', 'member.unknown'))
    expect(await asked({ into: 'NEW', source: { backup_id: backup.id } })).toEqual(member('/new', 'member.required'))
    expect(await asked(itself({ source: { target_id: desk.targetId } }))).toEqual(
      member('/source/path', 'member.required'),
    )
    expect(await asked(itself({ source: { path: 'x' } }))).toEqual(member('/source/target_id', 'member.required'))
    expect(await asked(itself({ source: { backup_id: backup.id, path: 'x' } }))).toEqual(
      member('/source/backup_id', 'member.unknown'),
    )
    expect(await asked(rewind({ source: { backup_id: randomUUID() } }))).toEqual(
      member('/source/backup_id', 'reference.unknown'),
    )
    expect(await asked(rewind({ source: { target_id: randomUUID(), path: backup.path } }))).toEqual(
      member('/source/target_id', 'reference.unknown'),
    )
    expect(await asked(rewind({ identity: 'AGE-SECRET-KEY-1X' }))).toEqual([
      422,
      'request.invalid',
      [{ pointer: '/identity', code: 'value.format', params: { format: 'age-identity' } }],
    ])
    expect(await asked(asNew('admin'))).toEqual(member('/new/slug', 'slug.reserved'))
  })
})

describe('an archive', () => {
  const at = (path: string, targetId = desk.targetId) => rewind({ source: { target_id: targetId, path } })
  const invalid = (reason: string) => [422, 'archive.invalid', { reason }]

  test('whose path is none of ours is refused', async () => {
    for (const path of ['../etc/passwd', `tenants/${mine.id}/../x`, '/etc', `${backup.path}/..`])
      expect(await asked(at(path))).toEqual([422, 'archive.path_refused', {}])
  })

  test('of another workspace rewinds nothing, also where two are swapped', async () => {
    const other = await desk.workspace()
    const theirs = await desk.backedUp(other.id)
    expect(await asked(rewind({ source: { backup_id: theirs.id } }))).toEqual(
      member('/source/backup_id', 'reference.unknown'),
    )
    expect(await asked(at(theirs.path!))).toEqual(invalid('other_workspace'))
    const [here, there] = [desk.at(backup.path), desk.at(theirs.path)]
    renameSync(here, `${here}.aside`)
    cpSync(there, here, { recursive: true })
    expect(await asked(at(backup.path!))).toEqual(invalid('other_workspace'))
    rmSync(here, { recursive: true })
    renameSync(`${here}.aside`, here)
  })

  test('that was changed, or that nobody here signed, is refused or fails, and changes nothing', async () => {
    const manifest = join(desk.at(backup.path), 'manifest.json')
    const text = readFileSync(manifest, 'utf8')
    writeFileSync(manifest, text.replace('"slug"', '"Slug"'))
    expect(await asked(rewind())).toEqual(invalid('manifest'))
    writeFileSync(manifest, text.replace(/"rows": \d+/, '"rows": 7'))
    expect(await asked(rewind())).toEqual(invalid('unsigned'))
    writeFileSync(manifest, text.replace('"format_version": 2', '"format_version": 9'))
    expect(await asked(rewind())).toEqual(invalid('newer_format'))
    writeFileSync(manifest, text)
    const signature = join(desk.at(backup.path), 'manifest.sig')
    renameSync(signature, `${signature}.aside`)
    expect(await asked(rewind())).toEqual(invalid('unsigned'))
    expect(await asked(asNew('unsigned'))).toEqual(invalid('unsigned'))
    renameSync(`${signature}.aside`, signature)
    const file = join(desk.at(backup.path), 'labels.jsonl.zst.age')
    const bytes = readFileSync(file)
    for (const [spoilt, failure] of [
      [Buffer.concat([bytes.subarray(0, -1), Buffer.from([bytes.at(-1)! ^ 1])]), 'archive.checksum'],
      [bytes.subarray(0, -20), 'archive.checksum'],
      [Buffer.concat([bytes, Buffer.alloc(1000)]), 'archive.too_long'],
    ] as const) {
      writeFileSync(file, spoilt)
      expect(await desk.plan(rewind())).toMatchObject({ state: 'FAILED', failure, plan: null })
    }
    writeFileSync(file, bytes)
    expect(await desk.staged()).toEqual([])
  })

  test('at a target that cannot be used says so', async () => {
    const { sql } = both
    const [s3, sftp] = [randomUUID(), randomUUID()]
    await sql`
      insert into backup_target (tenant_id, id, name, kind, config)
      values ('00000000-0000-0000-0000-000000000000', ${s3}, 'lost', 'S3', '{"endpoint":"https://s3.example","bucket":"abc","region":"x","access_key_id":"x"}')`
    expect(await asked(at(backup.path!, s3))).toEqual([503, 'secret.unavailable', {}])
    const folder = desk.at(backup.path)
    renameSync(folder, `${folder}.aside`)
    expect(await asked(rewind())).toEqual(invalid('incomplete'))
    renameSync(`${folder}.aside`, folder)
    const place = {
      tenantId: '00000000-0000-0000-0000-000000000000',
      kind: 'backup.credentials',
      ownerId: sftp,
    } as const
    const { key_id, wrap, ciphertext } = seal(both.installation.keyring, place, '{"password":"x"}')
    await sql`
      insert into backup_target (tenant_id, id, name, kind, config)
      values (${place.tenantId}, ${sftp}, 'away', 'SFTP', '{"host":"127.0.0.1","port":1,"username":"x","path":"x","host_key":"ssh-ed25519 AAAA"}')`
    await sql`
      insert into sealed_value (tenant_id, kind, owner_id, key_id, wrap, ciphertext)
      values (${place.tenantId}, ${place.kind}, ${sftp}, ${key_id}, ${wrap}, ${ciphertext})`
    expect(await asked(at(backup.path!, sftp))).toEqual([503, 'backup.target_failed', { reason: 'refused' }])
    await sql`delete from backup_target where id = ${s3} or name = 'away'`
  })
})

describe('a restore', () => {
  test('is one of a workspace: a plan gives way, and nothing else does', async () => {
    const first = await both.call('api', ops.createRestore, { body: rewind() })
    expect(first).toMatchObject({ state: 'PLANNING', plan: null, into: 'REPLACE', tenant: { slug: mine.slug } })
    expect(await asked(rewind())).toEqual([409, 'restore.underway', { restore_id: first.id }])
    await desk.run(first)
    const second = await desk.plan(rewind(), 'api')
    expect((await desk.look(first.id)).state).toBe('CANCELLED')
    const hash = second.plan?.hash ?? ''
    const applying = await both.call('api', ops.applyRestore, { restoreId: second.id, body: { plan_hash: hash } })
    expect(applying.state).toBe('APPLYING')
    expect(await asked(rewind())).toEqual([409, 'restore.underway', { restore_id: second.id }])
    const again = await both.ask(ops.applyRestore, { restoreId: second.id, body: { plan_hash: hash } })
    expect([again.status, again.json.code, again.json.params]).toEqual([409, 'restore.state', { state: 'APPLYING' }])
    await desk.run(applying)
    expect((await desk.look(second.id)).state).toBe('DONE')
    const listed = await both.call('api', ops.listRestores, { tenant_id: mine.id, state: 'DONE' })
    expect(listed.data.map(({ id }) => id)).toEqual([second.id])
  })

  test('is applied as it was shown, or not at all', async () => {
    const restore = await desk.plan(rewind())
    const apply = (plan_hash: string) => both.ask(ops.applyRestore, { restoreId: restore.id, body: { plan_hash } })
    const wrong = await apply('0000000000000000')
    expect([wrong.status, wrong.json.code, wrong.json.params]).toEqual([
      409,
      'plan.stale',
      { hash: restore.plan?.hash },
    ])
    const hold = await both.call('recovery', ops.placeHold, {
      body: { tenant_id: mine.id, scope: { kind: 'CONTAINER', id: mine.collectionId }, reason: 'a case' },
    })
    const stale = await apply(restore.plan?.hash ?? '')
    expect(stale.json.code).toBe('plan.stale')
    const now = await desk.look(restore.id)
    expect(now.plan).toMatchObject({ hash: stale.json.params.hash, kept: { holds: 1 } })
    await both.call('recovery', ops.releaseHold, { holdId: hold.id })
    expect((await desk.look(restore.id)).plan?.hash).toBe(restore.plan?.hash)
  })

  test('waits for no workspace that leaves, and counts in export_jobs', async () => {
    const leaving = await desk.workspace()
    const theirs = await desk.backedUp(leaving.id)
    const planned = await desk.rewindTo(theirs)
    await both.call('recovery', ops.deleteTenant, { tenantId: leaving.id, body: { confirmation: leaving.displayName } })
    const body = { into: 'REPLACE' as const, tenant_id: leaving.id, source: { backup_id: theirs.id } }
    expect(await asked(body)).toEqual([409, 'admin.tenant_leaving', {}])
    const applied = await both.ask(ops.applyRestore, {
      restoreId: planned.id,
      body: { plan_hash: planned.plan?.hash ?? '' },
    })
    expect([applied.status, applied.json.code]).toEqual([409, 'admin.tenant_leaving'])
    await both.sql`update tenant_quota set ceiling = 1 where tenant_id = ${mine.id} and quota = 'export_jobs'`
    const queued = await both.call('recovery', ops.createBackup, {
      body: { tenant_id: mine.id, target_id: desk.targetId },
    })
    expect(await asked(rewind())).toEqual([409, 'quota.exceeded', { quota: 'export_jobs', limit: 1, used: 1 }])
    await both.sql`update job set state = 'FAILED', finished_at = now() where id = ${queued.job_id}`
    await both.sql`update tenant_quota set ceiling = 0 where tenant_id = ${mine.id} and quota = 'export_jobs'`
  })

  test('of a workspace that is there, that was purged, or whose slug is in use, makes none', async () => {
    const { sql } = both
    expect(await asked(itself())).toEqual([409, 'restore.workspace_present', {}])
    expect(await asked(asNew(mine.slug))).toEqual([409, 'admin.slug_taken', {}])
    const gone = await vanished()
    await sql`
      insert into purge_certificate (workspace_id, workspace_slug, purged_at, document, key_id, public_key, signature)
      values (${gone.id}, ${gone.slug}, now(), '{}', 'x', '', '')`
    const body = { into: 'ITSELF' as const, source: { target_id: desk.targetId, path: gone.path } }
    expect(await asked(body)).toEqual([409, 'restore.purged', {}])
    await sql`delete from purge_certificate where workspace_id = ${gone.id}`
    const [line] = await both.installation.ledger.append([{ act: 'workspace.purged', tenant_id: gone.id }])
    expect(await asked(body)).toEqual([409, 'restore.purged', {}])
    await both.installation.ledger.settle([line ?? 0], 'void')
    const { json } = await both.ask(ops.createRestore, { body })
    expect(json.state).toBe('PLANNING')
  })
})

describe('what came between', () => {
  const call = async (operation: typeof ops.applyRestore | typeof ops.undoRestore, restoreId: string, body: object) => {
    const { status, json } = await both.ask(operation, { restoreId, body } as never)
    return [status, json.code, json.params]
  }
  const nothing = '00000000-0000-4000-8000-000000000000'

  test('refuses a plan that was good', async () => {
    const { sql } = both
    expect(await asked({ into: 'REPLACE', tenant_id: nothing, source: { backup_id: backup.id } })).toEqual(
      member('/source/backup_id', 'reference.unknown'),
    )
    const gone = await vanished()
    const there = { target_id: desk.targetId, path: gone.path }
    expect(await asked({ into: 'REPLACE', tenant_id: gone.id, source: there })).toEqual([404, 'not_found', {}])
    const planned = await desk.plan({ into: 'ITSELF', source: there })
    const apply = async (restoreId: string) =>
      call(ops.applyRestore, restoreId, { plan_hash: (await desk.look(restoreId)).plan?.hash ?? '' })
    const tenant = (id: string, slug: string) => sql`
      insert into tenant (id, slug, display_name, default_locale, default_time_zone) values (${id}, ${slug}, 'x', 'en', 'UTC')`
    await tenant(gone.id, 'there-again')
    expect(await apply(planned.id)).toEqual([409, 'restore.workspace_present', {}])
    await sql`delete from tenant where id = ${gone.id}`
    await tenant(nothing, gone.slug)
    expect(await apply(planned.id)).toEqual([409, 'admin.slug_taken', {}])
    await sql`delete from tenant where id = ${nothing}`
    await sql`
      insert into purge_certificate (workspace_id, workspace_slug, purged_at, document, key_id, public_key, signature)
      values (${gone.id}, ${gone.slug}, now(), '{}', 'x', '', '')`
    expect(await apply(planned.id)).toEqual([409, 'restore.purged', {}])
    await sql`delete from purge_certificate where workspace_id = ${gone.id}`
  })

  test('refuses to apply and to undo while the workspace is busy with another, or leaves', async () => {
    const { sql } = both
    const other = await desk.workspace()
    const theirs = await desk.backedUp(other.id)
    await sql`insert into tenant_quota (tenant_id, quota, ceiling) values (${other.id}, 'export_jobs', 1)`
    const full = [409, 'quota.exceeded', { quota: 'export_jobs', limit: 1, used: 1 }]
    const queue = () => sql`
      insert into job (tenant_id, id, kind) values (${other.id}, ${nothing}, 'BACKUP')`
    const planned = await desk.rewindTo(theirs)
    await queue()
    expect(await call(ops.applyRestore, planned.id, { plan_hash: planned.plan?.hash })).toEqual(full)
    await sql`delete from job where id = ${nothing}`
    expect(await call(ops.undoRestore, planned.id, {})).toEqual([409, 'restore.state', { state: 'PLANNED' }])
    const done = await desk.apply(planned)
    await queue()
    expect(await call(ops.undoRestore, done.id, {})).toEqual(full)
    await sql`delete from job where id = ${nothing}`
    const next = await both.call('recovery', ops.createRestore, {
      body: { into: 'REPLACE', tenant_id: other.id, source: { backup_id: theirs.id } },
    })
    expect(await call(ops.undoRestore, done.id, {})).toEqual([409, 'restore.underway', { restore_id: next.id }])
    await desk.run(next)
    await both.call('recovery', ops.deleteTenant, { tenantId: other.id, body: { confirmation: other.displayName } })
    expect(await call(ops.undoRestore, done.id, {})).toEqual([409, 'admin.tenant_leaving', {}])
  })
})

/** A workspace that somebody removed from the database by hand, with an archive of it. */
async function vanished(): Promise<Furnished & { path: string }> {
  const made = await desk.workspace()
  const { path } = await desk.backedUp(made.id)
  await removeByHand(both.sql, made.id)
  return { ...made, path: path ?? '' }
}

describe('the people of a workspace', () => {
  test('rewind their own as its OWNER, with a proof, and see no other', async () => {
    const { daemon, sql } = both
    const scopes = ['workspace:read', 'workspace:write', 'workspace:admin'] as const
    const owner = await person(daemon, mine.id, { role: 'OWNER', scopes })
    const admin = await person(daemon, mine.id, { role: 'ADMIN', scopes })
    const other = await desk.workspace()
    const theirs = await desk.plan({
      into: 'REPLACE',
      tenant_id: other.id,
      source: { backup_id: (await desk.backedUp(other.id)).id },
    })
    const call = async (who: { token: string }, method: 'GET' | 'POST', path: string, body?: object, headers = {}) => {
      const { status, json } = await daemon.call(method, `/api/v1${path}`, {
        token: who.token,
        ...(body ? { body } : {}),
        headers,
      })
      return { status, json }
    }
    const body = { into: 'REPLACE', source: { backup_id: backup.id } }
    expect((await call(admin, 'POST', '/restores', body)).json.code).toBe('auth.role_required')
    expect((await call(owner, 'POST', '/restores', { ...body, into: 'ITSELF' })).json.code).toBe(
      'admin.operator_required',
    )
    expect((await call(owner, 'POST', '/restores', { ...body, tenant_id: other.id })).json.errors).toEqual([
      { pointer: '/tenant_id', code: 'reference.unknown', params: {} },
    ])
    const asked = await call(owner, 'POST', '/restores', body)
    expect([asked.status, asked.json.state]).toEqual([202, 'PLANNING'])
    await desk.run(asked.json)
    const shown = await call(admin, 'GET', `/restores/${asked.json.id}`)
    expect(shown.json).toMatchObject({ state: 'PLANNED', created_by: owner.accountId })
    expect((await call(owner, 'GET', `/restores/${theirs.id}`)).status).toBe(404)
    expect((await call(owner, 'GET', '/restores')).json.data.map((one: { id: string }) => one.id)).not.toContain(
      theirs.id,
    )
    const apply = { plan_hash: shown.json.plan.hash }
    expect((await call(owner, 'POST', `/restores/${asked.json.id}:apply`, apply)).json.code).toBe(
      'auth.step_up_required',
    )
    const proof = await plantProof(sql, owner, { operation: 'applyRestore', target: asked.json.id })
    const applied = await call(owner, 'POST', `/restores/${asked.json.id}:apply`, apply, { 'x-service-step-up': proof })
    expect([applied.status, applied.json.state]).toEqual([202, 'APPLYING'])
    await desk.run(applied.json)
    expect((await call(admin, 'GET', `/restores/${asked.json.id}`)).json.state).toBe('DONE')
  })
})
