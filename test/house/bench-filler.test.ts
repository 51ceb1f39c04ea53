/** What fills the database for the benchmarks fits the schema of today: no other test runs it. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import {
  addWorkspaces,
  fillKeptAnswers,
  fillWorkspace,
  lengthenJournal,
  lengthenOutbox,
  middleOfOutbox,
} from '../../bench/filler.ts'
import { fillAccounts } from '../../bench/people-filler.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

let own: TestInstallation
beforeAll(async () => {
  own = await testInstallation()
})
afterAll(() => own.close())

const superuser = () => ({ ...inject('cluster').superuser, database: own.owner.database })
const type = 'svc.work.label.created.v1'

test('rows of workspaces, of one workspace and of the journal', async () => {
  const { tenant, collection_id: collectionId } = await own.provision()
  await addWorkspaces(superuser(), 3)
  await fillWorkspace(superuser(), { tenantId: tenant.id, collectionId }, ['label', 'audit_entry', 'account'], 5)
  await lengthenJournal(superuser(), 10)
  const [counted] = await own.oracle`
    select (select count(*)::int from tenant where slug like 'filler-%') as workspaces,
           (select count(*)::int from label where name like 'Label %' and tenant_id = ${tenant.id}) as labels,
           (select count(*)::int from journal) as entries`
  expect(counted).toEqual({ workspaces: 3, labels: 5, entries: 10 })
})

test('accounts are as the rules make them: found by their words, their group and who sees a container', async () => {
  const { tenant, collection_id: collectionId } = await own.provision()
  const ground = { superuser: superuser(), tenantId: tenant.id, collectionId }
  const { groupId, shutId, somebody } = await fillAccounts(ground as never, 400)
  const [counted] = await own.oracle`
    select (select count(*)::int from account where tenant_id = ${tenant.id} and external_id is not null) as accounts,
           (select count(*)::int from account where tenant_id = ${tenant.id} and external_id is not null and worded is distinct from (coalesce(display_name, '') || ' ' || coalesce(email, ''))) as unworded,
           (select count(*)::int from account a where a.tenant_id = ${tenant.id} and a.group_ids = array[${groupId}::uuid]) as members,
           (select member_count from account_group where id = ${groupId}) as counted,
           (select count(*)::int from membership where container_id = ${shutId}) as roles,
           (select count(*)::int from account_word where account_id = ${somebody.id}) as words`
  expect(counted).toEqual({ accounts: 400, unworded: 0, members: 200, counted: 200, roles: 51, words: 6 })
})

test('events have the numbers of their workspace, without gaps', async () => {
  const { tenant, collection_id: collectionId } = await own.provision()
  const before = await numbers(tenant.id)
  await fillWorkspace(superuser(), { tenantId: tenant.id, collectionId }, ['outbox_event'], 5)
  await lengthenOutbox(superuser(), { tenantId: tenant.id, type, count: 4 })
  const after = await numbers(tenant.id)
  expect(after).toEqual(Array.from({ length: before.length + 9 }, (_, n) => n + 1))
  const [, middle] = await middleOfOutbox(superuser(), type)
  expect(after).toContain(Number(middle))
  const [counter] = await own.oracle`select last::int from outbox_counter where tenant_id = ${tenant.id}`
  expect(counter?.['last']).toBe(after.length)
})

test('kept answers that have expired, every tenth of them sealed', async () => {
  const { tenant, owner } = await own.provision()
  await fillKeptAnswers(superuser(), {
    tenantId: tenant.id,
    accountId: owner.account_id,
    keyId: own.installation.keyring.current,
    count: 20,
  })
  const [counted] = await own.oracle`
    select count(*)::int as answers, count(*) filter (where r.created_at < now() - interval '24 hours')::int as over,
           count(distinct r.created_at)::int as moments, count(s.owner_id)::int as sealed
    from idempotency_record r left join sealed_value s on s.tenant_id = r.tenant_id and s.kind = 'idempotency.answer' and s.owner_id = r.id
    where r.tenant_id = ${tenant.id}`
  expect(counted).toEqual({ answers: 20, over: 20, moments: 20, sealed: 2 })
})

const numbers = async (tenantId: string) =>
  (
    await own.oracle<{ seq: number }[]>`select seq::int from outbox_event where tenant_id = ${tenantId} order by seq`
  ).map(({ seq }) => seq)
