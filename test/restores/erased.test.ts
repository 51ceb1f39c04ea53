/** An erased person never comes back by a restore, whichever way it is made (Keeping 1 to 3; abuse 3). */
import { randomUUIDv7 } from 'node:crypto'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { eraseAgain } from '../../src/core/areas/privacy/erasing/job.ts'
import type { Backup } from '../../src/core/contract/backup/backups.ts'
import { operations as ops } from '../../src/core/contract/operations.ts'
import { Choices } from '../../src/core/contract/privacy/requests.ts'
import { workspaceTables } from '../../src/core/contract/tables.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { refusal } from '../backup/backup-desk.ts'
import type { TwoWays } from '../kit/two-ways.ts'
import { type Board, board, type RestoreDesk, removeByHand, restoreDesk } from './restore-desk.ts'

const canary = 'Quokka'
let desk: RestoreDesk
let both: TwoWays
let mine: Board
let backup: Backup
let personId: string
beforeAll(async () => {
  desk = await restoreDesk()
  both = desk.both
})
afterAll(() => both.close())

/** Somebody who wrote, was assigned and has an address; backed up so. */
beforeEach(async () => {
  mine = await board(desk, await desk.workspace())
  const { sql } = both
  personId = randomUUIDv7()
  const email = `${personId}@quokka.example`
  await sql`
    insert into account (tenant_id, id, kind, state, display_name, email, email_fold)
    values (${mine.id}, ${personId}, 'PERSON', 'ACTIVE', ${canary}, ${email}, ${email})`
  await sql`
    insert into account_address (tenant_id, id, account_id, email, email_fold, is_primary, confirmed_at)
    values (${mine.id}, ${randomUUIDv7()}, ${personId}, ${email}, ${email}, true, now())`
  await sql`insert into membership (tenant_id, id, account_id, role) values (${mine.id}, ${randomUUIDv7()}, ${personId}, 'MEMBER')`
  await sql`
    update item set title = ${`${canary} wrote this`}, created_by = ${personId}, assignee_id = ${personId} where id = ${mine.items[0] ?? ''}`
  await sql`insert into item_member (tenant_id, item_id, account_id) values (${mine.id}, ${mine.items[0] ?? ''}, ${personId})`
  await sql`
    insert into comment (tenant_id, id, item_id, body, created_by)
    values (${mine.id}, ${randomUUIDv7()}, ${mine.items[1] ?? ''}, ${`said the ${canary}`}, ${personId})`
  await sql`update item set description = ${`ask ${canary}`} where id = ${mine.items[2] ?? ''}`
  backup = await desk.backedUp(mine.id)
})

const erase = () =>
  eraseAgain(both.installation, recoveryActor(), {
    tenantId: mine.id,
    accountId: personId,
    choices: Choices.parse({ texts: 'REDACT', mentions: [{ kind: 'ITEM', id: mine.items[2] ?? '' }] }),
  })

/** The tables of a workspace in which the person is still named. */
async function placesIn(tenantId: string): Promise<string[]> {
  const found: string[] = []
  for (const name of Object.keys(workspaceTables))
    if ((await desk.rows(tenantId, name)).some((row) => row.toLowerCase().includes('quokka'))) found.push(name)
  return found
}

test('a rewind brings back what others made, and nothing of the person; nor does its undo', async () => {
  const { sql } = both
  expect(await placesIn(mine.id)).toEqual(expect.arrayContaining(['account', 'comment', 'item']))
  await erase()
  expect(await placesIn(mine.id)).toEqual([])
  await sql`update item set title = 'changed since' where id = ${mine.items[3] ?? ''}`
  await sql`delete from comment where tenant_id = ${mine.id} and created_by = ${personId}`
  const planned = await desk.rewindTo(backup)
  expect(planned.plan?.kept.erasures_repeated).toBe(1)
  const done = await desk.apply(planned)
  expect([done.state, await placesIn(mine.id)]).toEqual(['DONE', []])
  const [back] = await sql`select title from item where id = ${mine.items[3] ?? ''}`
  expect(back).toEqual({ title: 'item 3' })
  const [comment] = await sql`select body from comment where tenant_id = ${mine.id} and created_by = ${personId}`
  expect(comment).toEqual({ body: '[…]' })
  expect((await sql`select from item_member where account_id = ${personId}`).length).toBe(0)
  expect((await desk.undo(done, 'REPLACE')).state).toBe('UNDONE')
  expect(await placesIn(mine.id)).toEqual([])
})

test('an erasure behind a rewind ends what can be undone; one between plan and apply makes the plan stale', async () => {
  await both.sql`update item set title = ${`${canary} again`}, description = ${canary} where id = ${mine.items[0] ?? ''}`
  const done = await desk.apply(await desk.rewindTo(backup))
  const again = await desk.rewindTo(backup)
  const shown = again.plan?.hash ?? ''
  await erase()
  const undoing = () =>
    both.call('recovery', ops.undoRestore, { restoreId: done.id, body: { edited_since: 'REPLACE' } })
  expect((await refusal(undoing()))[0]).toBe('restore.state')
  const applying = both.call('recovery', ops.applyRestore, { restoreId: again.id, body: { plan_hash: shown } })
  expect((await refusal(applying))[0]).toBe('plan.stale')
  expect((await desk.apply(again)).state).toBe('DONE')
  expect((await placesIn(mine.id)).filter((name) => name !== 'restore_undo')).toEqual([])
})

test('an erasure between the cleaning of staging and the closing of the workspace is repeated as well', async () => {
  await both.sql`update item set title = 'since', description = null where id in ${both.sql([...mine.items])}`
  const planned = await desk.rewindTo(backup)
  const { installation } = both
  let isCleaned = false
  let isErased = false
  // The first transaction behind the cleaning that is of no workspace closes this one.
  const transaction: typeof installation.transaction = async (actor, options, work) => {
    if (isCleaned && !isErased && options.tenantId === undefined) {
      isErased = true
      await erase()
    }
    const done = await installation.transaction(actor, options, work)
    isCleaned ||= options.tenantId !== undefined && options.readOnly !== true
    return done
  }
  const by: typeof installation = Object.create(installation, { transaction: { value: transaction } })
  expect((await desk.apply(planned, 'recovery', by)).state).toBe('DONE')
  expect(isErased).toBe(true)
  expect((await placesIn(mine.id)).filter((name) => name !== 'restore_undo')).toEqual([])
})

test('an undo that was asked before the erasure is erased as well', async () => {
  const { sql } = both
  await sql`update item set title = ${`${canary} again`}, description = ${canary} where id = ${mine.items[0] ?? ''}`
  const done = await desk.apply(await desk.rewindTo(backup))
  const undoing = await both.call('recovery', ops.undoRestore, {
    restoreId: done.id,
    body: { edited_since: 'REPLACE' },
  })
  await erase()
  await desk.run(undoing)
  expect((await desk.look(done.id)).state).toBe('UNDONE')
  expect((await placesIn(mine.id)).filter((name) => name !== 'restore_undo')).toEqual([])
})

test('another workspace of the archive has nothing of the person', async () => {
  await erase()
  const fresh = { slug: `copy-${mine.slug}`, display_name: 'A copy', owner_email: 'new@quo.example' }
  const source = { target_id: desk.targetId, path: backup.path ?? '' }
  const done = await desk.apply(await desk.plan({ into: 'NEW', source, new: fresh }))
  expect(done).toMatchObject({ state: 'DONE', plan: { kept: { erasures_repeated: 1 } } })
  expect(await placesIn(done.tenant?.id ?? '')).toEqual([])
  const [account] =
    await both.sql`select count(*)::int as count from account where tenant_id = ${done.tenant?.id ?? ''} and state = 'ERASED'`
  expect(account).toEqual({ count: 1 })
})

test('a workspace that is gone comes back without the person, also where the ledger is lost and the target has the list', async () => {
  await erase()
  await removeByHand(both.sql, mine.id)
  const { file } = both.installation.ledger
  await rename(file, `${file}.aside`)
  try {
    const source = { target_id: desk.targetId, path: backup.path ?? '' }
    const planned = await desk.plan({ into: 'ITSELF', source })
    expect(planned).toMatchObject({ state: 'PLANNED', plan: { kept: { erasures_repeated: 1 } } })
    expect((await desk.apply(planned)).state).toBe('DONE')
  } finally {
    await rename(`${file}.aside`, file)
  }
  expect(await placesIn(mine.id)).toEqual([])
})

test('what a legal hold keeps of the person is kept when the workspace comes back, and nothing else is', async () => {
  await both.sql`
    insert into legal_hold (tenant_id, id, scope_kind, scope_id, reason, placed_by)
    values (${mine.id}, ${randomUUIDv7()}, 'ACCOUNT', ${personId}, 'a case', ${mine.ownerId})`
  await both.sql`delete from erasure_held where tenant_id = ${mine.id}`
  await both.sql`delete from erasure where tenant_id = ${mine.id}`
  const held = await desk.backedUp(mine.id)
  await erase()
  expect(await placesIn(mine.id)).toEqual(['erasure_held'])
  await removeByHand(both.sql, mine.id)
  const source = { target_id: desk.targetId, path: held.path ?? '' }
  expect((await desk.apply(await desk.plan({ into: 'ITSELF', source }))).state).toBe('DONE')
  expect(await placesIn(mine.id)).toEqual(['erasure_held'])
  const [copy] = await both.sql`
    select body ->> 'display_name' as name from erasure_held where tenant_id = ${mine.id} and place = 'account'`
  expect(copy).toEqual({ name: canary })
})

test('a list beside the archive that somebody changed is refused', async () => {
  await erase()
  const file = desk.at(`tenants/${mine.id}/erasures.json`)
  const list = JSON.parse(await readFile(file, 'utf8'))
  await writeFile(file, JSON.stringify({ ...list, document: list.document.replace(personId, randomUUIDv7()) }))
  expect(await desk.rewindTo(backup)).toMatchObject({ state: 'FAILED', failure: 'archive.erasures' })
})
