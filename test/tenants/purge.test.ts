/** The purge: when it begins, what it removes, and what stands in its way. Spec: Workspace states, row 5; T-22, T-23, T-45. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { purgeDue, purgeTenant } from '../../src/core/areas/tenants/jobs.ts'
import { purgeOperations, retentionOperations } from '../../src/core/contract/retention/operations.ts'
import { tenantOperations } from '../../src/core/contract/tenants/operations.ts'
import { mailFolderOf } from '../../src/core/kernel/config/mail-settings.ts'
import { mediaFolderOf } from '../../src/core/kernel/config/media-settings.ts'
import { readRemovalOrder } from '../../src/core/kernel/database/removal-order.ts'
import {
  fingerprintOf,
  furnished,
  moveDeadline,
  overdue,
  placesNaming,
  pursued,
  rowsOf,
} from '../kit/leaving-workspace.ts'
import { person } from '../kit/people.ts'
import { type TwoWays, twoWays } from '../kit/two-ways.ts'

let ways: TwoWays
beforeAll(async () => {
  ways = await twoWays()
})
afterAll(() => ways.close())

const hour = 3600
/** What still names a purged workspace: the archives that it has left at targets go some days later. */
const remembering = ['departed_archive', 'journal', 'purge_certificate']
const pursue = (id: string) => pursued(ways.installation, id)

const hold = (id: string) =>
  ways.call('api', retentionOperations.placeHold, {
    body: { tenant_id: id, scope: { kind: 'TENANT' }, reason: 'court' },
  })

/** From pending deletion to purged, as the jobs do it. */
async function purge(id: string): Promise<void> {
  expect(await pursue(id)).toBe('settling')
  ways.clock.pass(hour)
  expect(await pursue(id)).toBe('purged')
}

describe('what a purge leaves', () => {
  test('nothing in any table, queue or folder; the journal, the certificate and the blocked slug alone name the workspace', async () => {
    const neighbour = await furnished(ways)
    const leaving = await furnished(ways)
    const before = await fingerprintOf(ways.sql, neighbour.id)
    await ways.sql`update operator set added_by = ${leaving.ownerId} where account_id = ${ways.operator.accountId}`
    const media = mediaFolderOf(ways.daemon.config.media, leaving.id)
    mkdirSync(media, { recursive: true })
    writeFileSync(join(media, 'picture'), 'bytes')
    const mails = mailFolderOf(ways.daemon.config.mail, leaving.id)
    mkdirSync(mails, { recursive: true })
    writeFileSync(join(mails, 'notice.account.eml'), 'To: Ada')
    const had = await rowsOf(ways.sql, leaving.id)
    expect(
      Object.entries(had).filter(([, count]) => count === 0),
      'the fixture fills every table',
    ).toEqual([])
    await overdue(ways, leaving)
    expect(await placesNaming(ways.sql, leaving.id)).toContain('job_common')

    await purge(leaving.id)

    expect(Object.values(await rowsOf(ways.sql, leaving.id)).every((count) => count === 0)).toBe(true)
    expect(await placesNaming(ways.sql, leaving.id)).toEqual(remembering)
    expect(await placesNaming(ways.sql, leaving.ownerId)).toEqual([])
    expect(await placesNaming(ways.sql, leaving.slug)).toEqual(['blocked_slug', ...remembering])
    expect(await placesNaming(ways.sql, leaving.displayName)).toEqual([])
    expect([existsSync(media), existsSync(mails)]).toEqual([false, false])
    expect(await fingerprintOf(ways.sql, neighbour.id)).toBe(before)
    const entries = await ways.sql<
      { action: string; params: { counts?: object } }[]
    >`select action, params from journal where workspace_id = ${leaving.id} order by id`
    expect(entries.map(({ action }) => action).filter((action) => action.includes('purge'))).toEqual([
      'tenant.purge_started',
      'tenant.purged',
    ])
    expect(entries.find(({ action }) => action === 'tenant.purged')?.params.counts).toMatchObject({
      account: 1,
      container: 2,
      label: 4,
      legal_hold: 1,
    })
    await expect(
      ways.call('api', tenantOperations.provisionTenant, {
        body: { slug: leaving.slug, display_name: 'Again', owner_email: 'a@b.example' },
      }),
    ).rejects.toThrow('admin.slug_taken')
  })

  test('more rows than one batch holds, children before their parents', async () => {
    const leaving = await furnished(ways)
    await ways.sql`
      insert into container (tenant_id, id, kind, parent_id, name, rank)
      select ${leaving.id}, gen_random_uuid(), 'COLLECTION', ${leaving.collectionId}, 'c' || n, 'b' from generate_series(1, 3000) n`
    await ways.sql`
      insert into audit_entry (tenant_id, id, action, actor_kind, via) select ${leaving.id}, gen_random_uuid(), 'filler', 'SYSTEM', 'JOB' from generate_series(1, 20000)`
    await overdue(ways, leaving)
    await purge(leaving.id)
    const { document } = await ways.call('api', purgeOperations.getPurgeCertificate, { tenantId: leaving.id })
    expect(JSON.parse(document).removed.find(({ place }: { place: string }) => place === 'container').count).toBe(3002)
  })

  test('what is written into a table that was empty already goes as well, before it is said to be over', async () => {
    const leaving = await furnished(ways)
    await overdue(ways, leaving)
    const order = await ways.installation.transaction({ kind: 'SYSTEM', job: 'test' }, { readOnly: true }, ({ tx }) =>
      readRemovalOrder(tx),
    )
    expect(order.indexOf('audit_entry')).toBeLessThan(order.indexOf('account'))
    await ways.sql.unsafe(`
      create function late_entry() returns trigger language plpgsql security definer as $$ begin
        insert into audit_entry (tenant_id, id, action, actor_kind, via) values (old.tenant_id, gen_random_uuid(), 'late', 'SYSTEM', 'JOB');
        return old;
      end $$;
      create trigger late_entry after delete on account for each row execute function late_entry()`)

    await purge(leaving.id)

    await ways.sql`drop function late_entry cascade`
    expect(Object.values(await rowsOf(ways.sql, leaving.id)).every((count) => count === 0)).toBe(true)
    expect(await placesNaming(ways.sql, leaving.id)).toEqual(remembering)
  })

  test('the seeded job and the sweep do the same as a call', async () => {
    const leaving = await furnished(ways)
    await overdue(ways, leaving)
    const [seeded] = await ways.sql<{ data: object; ahead: number }[]>`
      select data, extract(day from start_after - now())::int as ahead from pgboss.job where name = 'purge_tenant' and data ->> 'tenantId' = ${leaving.id}`
    expect(seeded).toEqual({ data: { tenantId: leaving.id }, ahead: 29 })
    await purgeTenant.run(ways.installation, { tenantId: leaving.id })
    ways.clock.pass(hour)
    await purgeDue.run(ways.installation, undefined)
    expect(await ways.sql`select 1 from tenant where id = ${leaving.id}`).toHaveLength(0)
    await purgeTenant.run(ways.installation, { tenantId: leaving.id })
  })
})

describe('when a purge begins', () => {
  test('not before its deadline, and not at the first sight of it', async () => {
    const leaving = await furnished(ways)
    await overdue(ways, leaving)
    await moveDeadline(ways.sql, leaving.id, 60)
    expect(await pursue(leaving.id)).toBe('not_due')
    ways.clock.pass(2 * hour)
    expect(await pursue(leaving.id)).toBe('not_due')
    await moveDeadline(ways.sql, leaving.id, -1)
    expect(await pursue(leaving.id)).toBe('settling')
    ways.clock.pass(hour - 1)
    expect(await pursue(leaving.id)).toBe('settling')
    ways.clock.pass(1)
    expect(await pursue(leaving.id)).toBe('purged')
  })

  test('a jump of the process clock alone begins nothing, however long it lasts', async () => {
    const leaving = await furnished(ways)
    await overdue(ways, leaving)
    await moveDeadline(ways.sql, leaving.id, 20 * 86_400)
    ways.clock.jump(31 * 86_400)
    for (let look = 0; look < 4; look += 1) {
      expect(await pursue(leaving.id)).toBe('not_due')
      ways.clock.pass(hour)
    }
    ways.clock.jump(-31 * 86_400)
  })

  test('a jump of the database clock alone begins nothing either', async () => {
    const leaving = await furnished(ways)
    await overdue(ways, leaving)
    ways.clock.jump(-31 * 86_400) // seen from the process, the database is 31 days ahead
    for (let look = 0; look < 4; look += 1) {
      expect(await pursue(leaving.id)).toBe('not_due')
      ways.clock.pass(hour)
    }
    ways.clock.jump(31 * 86_400)
  })

  test('a jump of both for a minute begins nothing, though both look right an hour later', async () => {
    const leaving = await furnished(ways)
    await overdue(ways, leaving)
    ways.clock.jump(31 * 86_400)
    expect(await pursue(leaving.id)).toBe('settling')
    ways.clock.jump(-31 * 86_400)
    await moveDeadline(ways.sql, leaving.id, 31 * 86_400 - 60)
    ways.clock.pass(60)
    expect(await pursue(leaving.id)).toBe('not_due')
    ways.clock.pass(hour)
    await moveDeadline(ways.sql, leaving.id, -1)
    ways.clock.jump(31 * 86_400)
    expect(await pursue(leaving.id), 'a second jump is a first sight again').toBe('settling')
    ways.clock.jump(-31 * 86_400)
  })

  test('one look that does not see it past begins the wait anew, whatever the deadline is', async () => {
    const leaving = await furnished(ways)
    await overdue(ways, leaving)
    for (let round = 0; round < 3; round += 1) {
      expect(await pursue(leaving.id)).toBe('settling')
      ways.clock.pass(hour / 2)
      ways.clock.jump(-31 * 86_400)
      expect(await pursue(leaving.id)).toBe('not_due')
      ways.clock.jump(31 * 86_400)
      ways.clock.pass(hour / 2)
    }
    expect(await pursue(leaving.id)).toBe('settling')
    const { id } = await hold(leaving.id)
    expect(await pursue(leaving.id)).toBe('held')
    await ways.call('api', retentionOperations.releaseHold, { holdId: id })
    ways.clock.pass(hour)
    expect(await pursue(leaving.id), 'a release does not purge').toBe('settling')
  })

  test('a strobing clock never settles', async () => {
    const leaving = await furnished(ways)
    await overdue(ways, leaving)
    for (let look = 0; look < 20; look += 1) {
      await moveDeadline(ways.sql, leaving.id, look % 2 === 0 ? -2 : 60)
      expect(await pursue(leaving.id)).toBe(look % 2 === 0 ? 'settling' : 'not_due')
      ways.clock.pass(hour)
    }
  })

  test('a deletion that was cancelled and asked for again waits anew', async () => {
    const leaving = await furnished(ways)
    await overdue(ways, leaving)
    expect(await pursue(leaving.id)).toBe('settling')
    await ways.call('api', tenantOperations.cancelTenantDeletion, { tenantId: leaving.id })
    await overdue(ways, leaving)
    ways.clock.pass(hour)
    expect(await pursue(leaving.id)).toBe('settling')
  })

  test('on an active workspace, or one that nobody knows, nothing happens', async () => {
    expect(await pursue(ways.home.tenantId)).toBe('not_due')
    expect(await pursue('0190c9d2-7a3b-7cde-8f01-23456789abcd')).toBe('not_due')
  })
})

describe('what stands in its way', () => {
  test('a hold in force keeps it from beginning, past the deadline too; released, the wait begins anew', async () => {
    const leaving = await furnished(ways)
    await overdue(ways, leaving)
    const { id } = await hold(leaving.id)
    expect(await pursue(leaving.id)).toBe('held')
    ways.clock.pass(2 * hour)
    expect(await pursue(leaving.id)).toBe('held')
    await ways.call('api', retentionOperations.releaseHold, { holdId: id })
    await purge(leaving.id)
  })

  test('a hold placed between two looks keeps it from beginning', async () => {
    const leaving = await furnished(ways)
    await overdue(ways, leaving)
    expect(await pursue(leaving.id)).toBe('settling')
    ways.clock.pass(hour)
    await hold(leaving.id)
    expect(await pursue(leaving.id)).toBe('held')
  })

  test('a hold that came and went since the last look of this process begins the wait anew', async () => {
    const leaving = await furnished(ways)
    await overdue(ways, leaving)
    expect(await pursue(leaving.id)).toBe('settling')
    ways.clock.pass(hour / 2)
    const { id } = await hold(leaving.id)
    // Another daemon looks meanwhile, and finds it held.
    await ways.call('api', retentionOperations.releaseHold, { holdId: id })
    ways.clock.pass(hour / 2)
    await purge(leaving.id)
  })

  test('a hold that a recovery puts back stops a purge that is under way; released, it goes on', async () => {
    const leaving = await furnished(ways)
    await overdue(ways, leaving)
    await ways.sql`update tenant set purge_started_at = now() where id = ${leaving.id}`
    await ways.sql`insert into purge_progress (workspace_id) values (${leaving.id})`
    await expect(hold(leaving.id)).rejects.toThrow('admin.tenant_deletion_underway')
    const replaced = '0190c9d2-7a3b-7cde-8f01-23456789abce'
    const record = {
      id: replaced,
      scope: { kind: 'TENANT' as const },
      reason: 'r',
      placed_by: leaving.ownerId,
      placed_at: '2026-01-01T00:00:00Z',
    }
    await ways.call('api', tenantOperations.replaceLegalHolds, {
      tenantId: leaving.id,
      body: { recovery_point: '2026-01-02T00:00:00Z', holds: [record] },
    })
    const before = await rowsOf(ways.sql, leaving.id)
    expect(await pursue(leaving.id)).toBe('held')
    expect(await rowsOf(ways.sql, leaving.id)).toEqual(before)
    await ways.call('api', retentionOperations.releaseHold, { holdId: replaced })
    expect(await pursue(leaving.id)).toBe('purged')
  })

  test('the last operators: the register never becomes empty, and operators who go with it are journalled', async () => {
    const leaving = await furnished(ways)
    const theirs = await person(ways.daemon, leaving.id, { operator: true })
    await overdue(ways, leaving)
    expect(await pursue(leaving.id)).toBe('settling')
    ways.clock.pass(hour)
    const kept = await ways.sql`delete from operator where account_id <> ${theirs.accountId} returning *`
    expect(await pursue(leaving.id)).toBe('last_operators')
    for (const row of kept) await ways.sql`insert into operator ${ways.sql(row)}`
    expect(await pursue(leaving.id)).toBe('purged')
    expect(
      await ways.sql`select subject_id from journal where action = 'operator.removed' and workspace_id = ${leaving.id}`,
    ).toEqual([{ subject_id: theirs.accountId }])
  })

  test('another process that is at it', async () => {
    const leaving = await furnished(ways)
    await overdue(ways, leaving)
    expect(await pursue(leaving.id)).toBe('settling')
    ways.clock.pass(hour)
    await ways.sql`update tenant set purge_started_at = now() where id = ${leaving.id}`
    await ways.sql`insert into purge_progress (workspace_id) values (${leaving.id})`
    await ways.sql.begin(async (tx) => {
      await tx`select 1 from tenant where id = ${leaving.id} for update`
      expect(await pursue(leaving.id)).toBe('busy')
    })
    const outcomes = await Promise.all([pursue(leaving.id), pursue(leaving.id)])
    expect(outcomes).toContain('purged')
  })

  describe('which tables it has found empty', () => {
    const emptied = async (tenantId: string) =>
      (await ways.sql<{ emptied: string[] }[]>`select emptied from purge_progress where workspace_id = ${tenantId}`)[0]
        ?.emptied
    const begun = async () => {
      const leaving = await furnished(ways)
      await overdue(ways, leaving)
      await ways.sql`update tenant set purge_started_at = now() where id = ${leaving.id}`
      await ways.sql`insert into purge_progress (workspace_id) values (${leaving.id})`
      return leaving
    }

    test('is remembered by the next try, and what was written since is found all the same', async () => {
      const { sql } = ways
      const leaving = await begun()
      await sql.unsafe(`
        create function hold_it() returns trigger security definer language plpgsql as $$ begin
          insert into legal_hold (tenant_id, id, scope_kind, reason, placed_by)
          values (old.tenant_id, gen_random_uuid(), 'TENANT', 'in the middle', old.id);
          return null;
        end $$;
        create trigger hold_it after delete on account for each row execute function hold_it()`)
      expect(await pursue(leaving.id)).toBe('held')
      await sql.unsafe('drop trigger hold_it on account; drop function hold_it')
      expect(await emptied(leaving.id)).toEqual(expect.arrayContaining(['label', 'ai_usage']))
      await sql`insert into ai_usage (tenant_id, day, tokens) values (${leaving.id}, now(), 1)`
      await sql`update legal_hold set released_at = now(), released_by = placed_by where tenant_id = ${leaving.id}`
      expect(await pursue(leaving.id)).toBe('purged')
      expect(Object.values(await rowsOf(sql, leaving.id)).filter((count) => count > 0)).toEqual([])
    })

    test('is forgotten where a row refers to what is removed next', async () => {
      const leaving = await begun()
      await ways.sql`update purge_progress set emptied = '["label"]' where workspace_id = ${leaving.id}`
      await expect(pursue(leaving.id)).rejects.toThrow('label')
      expect(await emptied(leaving.id)).toEqual([])
      expect(await pursue(leaving.id)).toBe('purged')
    })
  })

  test('a table that the list does not know', async () => {
    const leaving = await furnished(ways)
    await overdue(ways, leaving)
    await pursue(leaving.id)
    ways.clock.pass(hour)
    await ways.sql`create table forgotten (tenant_id uuid)`
    const before = await rowsOf(ways.sql, leaving.id)
    await expect(pursue(leaving.id)).rejects.toThrow('forgotten')
    expect(await rowsOf(ways.sql, leaving.id)).toEqual({ ...before, forgotten: 0 })
    await ways.sql`drop table forgotten`
    expect(await pursue(leaving.id)).toBe('purged')
  })
})
