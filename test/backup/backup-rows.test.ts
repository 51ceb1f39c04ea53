/** The rows of backups: asked for, seen, kept, removed; by both ways, and by the people of a workspace. */
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateX25519Identity, identityToRecipient } from 'age-encryption'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { backupTenantJob } from '../../src/core/areas/backup/backups/job.ts'
import { removeBackupsJob } from '../../src/core/areas/backup/backups/removal.ts'
import { resumeJobs } from '../../src/core/areas/backup/resume-jobs.ts'
import type { Backup } from '../../src/core/contract/backup/backups.ts'
import { operations as ops } from '../../src/core/contract/operations.ts'
import { person } from '../kit/people.ts'
import { plantProof } from '../kit/proofs.ts'
import { type TwoWays, ways } from '../kit/two-ways.ts'
import { type BackupDesk, backupDesk, refusal } from './backup-desk.ts'

let desk: BackupDesk
let both: TwoWays
let targetId: string
beforeAll(async () => {
  desk = await backupDesk()
  both = desk.both
  targetId = desk.targetId
})
afterAll(() => both.close())

const at = (path: string | null) => desk.at(path)
const workspace = () => desk.workspace()
const ask: BackupDesk['ask'] = (...asked) => desk.ask(...asked)
const backedUp: BackupDesk['backedUp'] = (...asked) => desk.backedUp(...asked)
const show: BackupDesk['show'] = (...asked) => desk.show(...asked)
const verify: BackupDesk['verify'] = (...asked) => desk.verify(...asked)
/** The point whose agreed secret everybody knows: zero. */
const pointOfNobody = 'age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq5cu47z'
const recipient = () => generateX25519Identity().then(identityToRecipient)

describe.each(ways)('a backup by %s', (way) => {
  test('names a workspace, a target that serves it, and recipients that can be encrypted for', async () => {
    const { id: tenantId } = await workspace()
    const good = await recipient()
    const wrong = `${good.slice(0, -1)}${good.endsWith('q') ? 'p' : 'q'}`
    const body = { target_id: targetId, tenant_id: tenantId }
    const cases: [object, unknown][] = [
      [{ tenant_id: undefined }, ['request.invalid', [{ pointer: '/tenant_id', code: 'member.required', params: {} }]]],
      [
        { target_id: crypto.randomUUID() },
        ['request.invalid', [{ pointer: '/target_id', code: 'reference.unknown', params: {} }]],
      ],
      [{ tenant_id: crypto.randomUUID() }, ['not_found', {}]],
      ...[wrong, pointOfNobody].map((bad): [object, unknown] => [
        { recipients: [good, bad] },
        ['request.invalid', [{ pointer: '/recipients/1', code: 'value.format', params: { format: 'age-recipient' } }]],
      ]),
      [
        { recipients: [good, good] },
        ['request.invalid', [{ pointer: '/recipients', code: 'list.unique', params: {} }]],
      ],
    ]
    for (const [more, expected] of cases)
      expect(await refusal(both.call(way, ops.createBackup, { body: { ...body, ...more } }))).toEqual(expected)
    // Nothing was queued by what was refused.
    expect(await both.sql`select from backup where tenant_id = ${tenantId}`).toHaveLength(0)

    const asked = await both.call(way, ops.createBackup, { body: { ...body, recipients: [good], keep_days: 10 } })
    expect(asked).toMatchObject({
      state: 'QUEUED',
      kept_by: ['HAND'],
      recipients: [{ kind: 'OUTSIDE', id: good }],
      version: 1,
    })
    expect(Date.parse(asked.kept_until!) - Date.parse(asked.created_at)).toBe(10 * 86_400_000)
    expect(await show(asked.id, way)).toEqual(asked)
    const [job] = await both.sql`select kind, params->>'target_id' as target from job where id = ${asked.job_id}`
    expect(job).toEqual({ kind: 'BACKUP', target: targetId })
  })

  test('is in the trail and in the journal, and so is its end', async () => {
    const { id: tenantId } = await workspace()
    const old = await backedUp(tenantId)
    await backedUp(tenantId)
    await both.call(way, ops.removeBackup, { backupId: old.id })
    const trail = await both.sql`
      select action, params->>'target_id' as target from audit_entry where tenant_id = ${tenantId} and subject_id = ${old.id} order by id`
    const journal = await both.sql`
      select action, params->>'target_id' as target from journal where workspace_id = ${tenantId} and subject_id = ${old.id} order by id`
    const expected = ['tenant.backup_requested', 'tenant.backup_removed'].map((action) => ({
      action,
      target: targetId,
    }))
    expect([...trail]).toEqual(expected)
    expect([...journal]).toEqual(expected)
  })

  test('counts in export_jobs, with exports and verifications', async () => {
    const { id: tenantId } = await workspace()
    const backup = await backedUp(tenantId)
    await both.call('recovery', ops.changeTenantQuotas, { tenantId, body: { export_jobs: 2 } })
    await ask(way, tenantId)
    await both.call(way, ops.exportTenant, { tenantId, body: { target_id: targetId } })
    const full = ['quota.exceeded', { quota: 'export_jobs', limit: 2, used: 2 }]
    expect(await refusal(ask(way, tenantId))).toEqual(full)
    expect(await refusal(verify(backup, way))).toEqual(full)
  })

  test('is refused once a purge has begun, and unknown ids are not found', async () => {
    const { id: tenantId } = await workspace()
    await both.sql`update tenant set state = 'PENDING_DELETION', state_before_deletion = 'ACTIVE', deletion_requested_at = now(), purge_after = now(), purge_started_at = now() where id = ${tenantId}`
    expect(await refusal(ask(way, tenantId))).toEqual(['admin.tenant_deletion_underway', {}])
    const backupId = crypto.randomUUID()
    for (const work of [
      () => show(backupId, way),
      () => both.call(way, ops.removeBackup, { backupId }),
      () => both.call(way, ops.verifyBackup, { backupId, body: { depth: 'HASHES' } }),
    ])
      expect(await refusal(work())).toEqual(['not_found', {}])
  })

  test('is listed newest first, by each filter, page by page', async () => {
    const { id: tenantId } = await workspace()
    const first = await backedUp(tenantId)
    const second = await backedUp(tenantId)
    const third = await ask(way, tenantId)
    const list = async (query: object) =>
      (await both.call(way, ops.listBackups, { tenant_id: tenantId, size: 50, ...query })).data.map(({ id }) => id)
    expect(await list({})).toEqual([third.id, second.id, first.id])
    expect(await list({ state: 'COMPLETE' })).toEqual([second.id, first.id])
    expect(await list({ target_id: crypto.randomUUID() })).toEqual([])
    expect(await list({ schedule_id: crypto.randomUUID() })).toEqual([])
    expect(await list({ tenant_id: crypto.randomUUID() })).toEqual([])
    const page = await both.call(way, ops.listBackups, { tenant_id: tenantId, size: 2 })
    expect(page.data.map(({ kept_by }) => kept_by)).toEqual([['HAND'], ['NEWEST_GOOD', 'HAND']])
    const rest = await both.call(way, ops.listBackups, { tenant_id: tenantId, size: 2, cursor: page.next_cursor! })
    expect([rest.data.map(({ id }) => id), rest.next_cursor]).toEqual([[first.id], null])
  })

  test('stays while it is the newest good one, is made, or a hold is in force; else it goes', async () => {
    const { id: tenantId } = await workspace()
    const old = await backedUp(tenantId)
    const remove = (backup: Backup) => both.call(way, ops.removeBackup, { backupId: backup.id })
    expect(await refusal(remove(old))).toEqual(['backup.kept', { reason: 'NEWEST_GOOD' }])
    const newest = await backedUp(tenantId)
    const running = await ask(way, tenantId)
    expect(await refusal(remove(running))).toEqual(['backup.state', { state: 'QUEUED' }])

    const hold = await both.call('recovery', ops.placeHold, {
      body: { tenant_id: tenantId, scope: { kind: 'TENANT' }, reason: 'case' },
    })
    expect(await refusal(remove(old))).toEqual(['backup.kept', { reason: 'HOLD' }])
    expect((await show(old.id, way)).kept_by).toEqual(['HOLD', 'HAND'])
    await both.call('recovery', ops.releaseHold, { holdId: hold.id })

    const removing = await remove(old)
    expect(removing).toMatchObject({ state: 'REMOVING', kept_by: [], version: old.version + 1 })
    expect(await show(old.id, way)).toEqual(removing)
    expect(await remove(old)).toEqual(removing)
    expect(existsSync(at(old.path))).toBe(true)
    // A hold that comes between keeps the archive.
    const between = await both.call('recovery', ops.placeHold, {
      body: { tenant_id: tenantId, scope: { kind: 'TENANT' }, reason: 'case' },
    })
    await removeBackupsJob.run(both.installation, {})
    expect(existsSync(at(old.path))).toBe(true)
    await both.call('recovery', ops.releaseHold, { holdId: between.id })
    await removeBackupsJob.run(both.installation, {})
    expect(existsSync(at(old.path))).toBe(false)
    expect(await refusal(show(old.id, way))).toEqual(['not_found', {}])
    expect((await verify(newest, way)).state).toBe('SUCCEEDED')
  })
})

describe('a removal', () => {
  test('stops at a hold that is placed while another archive goes', async () => {
    const { id: tenantId } = await workspace()
    const [first, second] = [await backedUp(tenantId), await backedUp(tenantId)]
    await backedUp(tenantId)
    for (const { id } of [first, second]) await both.call('recovery', ops.removeBackup, { backupId: id })
    await both.sql`
      create function hold_it() returns trigger language plpgsql security definer as $$ begin
        insert into legal_hold (tenant_id, id, scope_kind, reason, placed_by) values (old.tenant_id, new_id(), 'TENANT', 'case', new_id());
        return null;
      end $$`
    await both.sql`create trigger hold_it after delete on backup for each row execute function hold_it()`
    try {
      await removeBackupsJob.run(both.installation, {})
    } finally {
      await both.sql`drop function hold_it() cascade`
    }
    expect([first, second].map(({ path }) => existsSync(at(path)))).toEqual([false, true])
    // The first one could not be stopped any more, and that is said.
    for (const entries of [
      await both.sql`select subject_id as id from audit_entry where tenant_id = ${tenantId} and action = 'tenant.backup_gone_under_hold'`,
      await both.sql`select subject_id as id from journal where workspace_id = ${tenantId} and action = 'tenant.backup_gone_under_hold'`,
    ])
      expect([...entries]).toEqual([{ id: first.id }])
  })

  test('goes on until the target obeys', async () => {
    const { id: tenantId } = await workspace()
    const old = await backedUp(tenantId)
    await backedUp(tenantId)
    await both.call('recovery', ops.removeBackup, { backupId: old.id })
    const folder = at('')
    renameSync(folder, `${folder}-away`)
    writeFileSync(folder, 'no folder')
    try {
      await removeBackupsJob.run(both.installation, {})
      expect((await show(old.id)).state).toBe('REMOVING')
    } finally {
      rmSync(folder)
      renameSync(`${folder}-away`, folder)
    }
    await removeBackupsJob.run(both.installation, {})
    expect(await refusal(show(old.id))).toEqual(['not_found', {}])
    expect(existsSync(at(old.path))).toBe(false)
  })
})

describe('a backup that was wanted for some days', () => {
  const settle = () => both.installation.config.purgeSettleSeconds
  /** Both clocks see it past, twice, and time goes by between; what is marked goes with the next run. */
  const settled = async () => {
    await removeBackupsJob.run(both.installation, {})
    both.clock.pass(settle() + 1)
    both.clock.jump(-(settle() + 1))
    await removeBackupsJob.run(both.installation, {})
    await removeBackupsJob.run(both.installation, {})
  }
  const overdue = (id: string) =>
    both.sql`update backup set kept_until = now() - make_interval(secs => ${settle() + 5}) where id = ${id}`

  test('goes after them, but only once a newer one was read back and found good', async () => {
    const { id: tenantId } = await workspace()
    const old = await backedUp(tenantId, { keep_days: 1 })
    const newer = await backedUp(tenantId)
    await overdue(old.id)
    await settled()
    expect(await show(old.id)).toMatchObject({ state: 'COMPLETE', kept_by: [] })
    await verify(newer)
    const hold = await both.call('recovery', ops.placeHold, {
      body: { tenant_id: tenantId, scope: { kind: 'TENANT' }, reason: 'case' },
    })
    await settled()
    expect(await show(old.id)).toMatchObject({ state: 'COMPLETE', kept_by: ['HOLD'] })
    await both.call('recovery', ops.releaseHold, { holdId: hold.id })
    await settled()
    expect(await refusal(show(old.id))).toEqual(['not_found', {}])
    expect(existsSync(at(old.path))).toBe(false)
    expect(existsSync(at(newer.path))).toBe(true)
  })

  test('stays while the clocks differ, and what was removed goes all the same', async () => {
    const { id: tenantId } = await workspace()
    const [old, removed] = [await backedUp(tenantId, { keep_days: 1 }), await backedUp(tenantId)]
    await verify(await backedUp(tenantId))
    await overdue(old.id)
    await both.call('recovery', ops.removeBackup, { backupId: removed.id })
    both.clock.jump(31 * 86_400)
    try {
      await expect(removeBackupsJob.run(both.installation, {})).rejects.toThrow('clock')
    } finally {
      both.clock.jump(-31 * 86_400)
    }
    expect((await show(old.id)).state).toBe('COMPLETE')
    expect(await refusal(show(removed.id))).toEqual(['not_found', {}])
  })

  test('stays before its time, and one that failed goes by its deadline alone', async () => {
    const { id: tenantId } = await workspace()
    const early = await backedUp(tenantId, { keep_days: 1 })
    await verify(await backedUp(tenantId))
    const failed = await ask('recovery', tenantId, { keep_days: 1 })
    await both.sql`update backup set state = 'FAILED', failure = 'x' where id = ${failed.id}`
    await overdue(failed.id)
    await settled()
    expect((await show(early.id)).state).toBe('COMPLETE')
    expect(await refusal(show(failed.id))).toEqual(['not_found', {}])
  })
})

describe('the people of a workspace', () => {
  test('see and name their own alone, at their own targets and the installation’s', async () => {
    const [mine, theirs] = [await workspace(), await workspace()]
    const foreign = await backedUp(theirs.id)
    const admin = await person(both.daemon, mine.id, { role: 'ADMIN', scopes: ['workspace:admin'] })
    const call = (method: string, path: string, more: object = {}) =>
      both.daemon.call(method as 'GET', `/api/v1${path}`, { token: admin.token, ...more })
    const made = await call('POST', '/backups', { body: { target_id: targetId } })
    expect([made.status, made.json.tenant_id]).toEqual([202, mine.id])
    expect(made.headers['location']).toBe(`/api/v1/backups/${made.json.id}`)
    const [own] = await both.sql<{ id: string }[]>`select id from backup_target where tenant_id = ${mine.id}`
    expect((await call('POST', '/backups', { body: { target_id: own!.id, tenant_id: mine.id } })).status).toBe(202)

    const elsewhere = await call('POST', '/backups', { body: { target_id: targetId, tenant_id: theirs.id } })
    expect([elsewhere.status, elsewhere.json.errors]).toEqual([
      422,
      [{ pointer: '/tenant_id', code: 'reference.unknown', params: {} }],
    ])
    const [others] = await both.sql<{ id: string }[]>`select id from backup_target where tenant_id = ${theirs.id}`
    expect((await call('POST', '/backups', { body: { target_id: others!.id } })).status).toBe(422)
    expect((await call('GET', '/backups')).json.data.map(({ tenant_id }: Backup) => tenant_id)).toEqual([
      mine.id,
      mine.id,
    ])
    expect((await call('GET', `/backups?tenant_id=${theirs.id}`)).json.data).toEqual([])
    expect((await call('GET', `/backups/${foreign.id}`)).status).toBe(404)
    expect((await call('POST', `/backups/${foreign.id}:verify`, { body: { depth: 'HASHES' } })).status).toBe(404)
    const proof = await plantProof(both.daemon.db.sql, admin, { operation: 'removeBackup', target: foreign.id })
    expect((await call('DELETE', `/backups/${foreign.id}`, { headers: { 'x-service-step-up': proof } })).status).toBe(
      404,
    )
    const journalled =
      await both.sql`select from journal where action = 'tenant.backup_requested' and workspace_id = ${mine.id}`
    expect(journalled).toHaveLength(2)
  })

  test('remove their own with a step-up, and not without', async () => {
    const mine = await workspace()
    const old = await backedUp(mine.id)
    await backedUp(mine.id)
    const admin = await person(both.daemon, mine.id, { role: 'ADMIN', scopes: ['workspace:admin'] })
    const remove = (headers: Record<string, string>) =>
      both.daemon.call('DELETE', `/api/v1/backups/${old.id}`, { token: admin.token, headers })
    expect(await remove({})).toMatchObject({ status: 401, json: { code: 'auth.step_up_required' } })
    const prove = () => plantProof(both.daemon.db.sql, admin, { operation: 'removeBackup', target: old.id })
    expect((await remove({ 'x-service-step-up': await prove(), 'if-match': '"99"' })).status).toBe(412)
    const done = await remove({ 'x-service-step-up': await prove(), 'if-match': `"${old.version}"` })
    expect([done.status, done.json.state]).toEqual([202, 'REMOVING'])
  })
})

describe('a worker that dies', () => {
  test('is given up after three attempts, in the job and in the row', async () => {
    const { id: tenantId } = await workspace()
    const asked = await ask('recovery', tenantId)
    await both.sql`update job set state = 'RUNNING', attempt = 3, started_at = now(), beat_at = now() - interval '2 minutes' where id = ${asked.job_id}`
    await both.sql`update backup set state = 'RUNNING' where id = ${asked.id}`
    await resumeJobs.run(both.installation, {})
    expect(await show(asked.id)).toMatchObject({ state: 'FAILED', failure: 'worker.lost' })
  })

  test('a target that fails is said in both, and leaves nothing that looks whole', async () => {
    const { id: tenantId } = await workspace()
    const asked = await ask('recovery', tenantId)
    mkdirSync(join(at('tenants')), { recursive: true })
    writeFileSync(at(`tenants/${tenantId}`), 'in the way')
    await backupTenantJob.run(both.installation, { tenantId, jobId: asked.job_id }).catch(() => {})
    const failed = await show(asked.id)
    expect(failed).toMatchObject({ state: 'FAILED', path: null })
    expect(failed.failure).toMatch(/^target\./)
    rmSync(at(`tenants/${tenantId}`))
  })
})
