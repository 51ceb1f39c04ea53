/**
 * Every list and every look-up reads by an index, at 20,000 rows in each table (100,000 with SVC_FAULTS=full), as the
 * role and under the row-level security it really runs with. Asked of the planner, so that
 * no clock is involved: with the values of one call, and without them, as the planner sees
 * a statement that it has kept a plan for.
 */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recorded } from '../../bench/recording.ts'
import { perform, type Request } from '../../src/core/app/perform.ts'
import { isRead, type Operation } from '../../src/core/contract/operation.ts'
import { type OperationId, operations } from '../../src/core/contract/operations.ts'
import { ruleKinds } from '../../src/core/contract/retention/rules.ts'
import { scopes } from '../../src/core/contract/vocabulary.ts'
import { asInstallation, asQueue, asTenant } from '../../src/core/kernel/database/roles.ts'
import type { Statement } from '../../src/core/kernel/database/statement.ts'
import type { Tx } from '../../src/core/kernel/database/transaction.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import type { AccountActor } from '../../src/core/kernel/values/actor.ts'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import { openGate } from '../../src/daemon/gate.ts'
import { openHeldRefusals } from '../../src/daemon/held-refusals.ts'
import { readWaiting } from '../../src/daemon/metrics/backlog.ts'
import { openRate } from '../../src/daemon/rate.ts'
import { openSourceRate } from '../../src/daemon/source-rate.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { isOutside } from '../kit/outside-cluster.ts'
import { fill } from './plans-filler.ts'
import { sentStatements } from './sent-statements.ts'

/** A table this short is read whole, and may be. */
const shortTable = 1_000

interface Plan {
  readonly 'Node Type': string
  readonly 'Index Name'?: string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly Plan[]
}

let own: TestInstallation
let actor: AccountActor
let token: string
let collectionId: string
let holdId: string
let bucketId: string
let labelId: string
const providerId = randomUUIDv7()
const deliveryId = randomUUIDv7()
let webhookId: string
let long: ReadonlySet<string>

beforeAll(async () => {
  own = await testInstallation()
  const minted = mintToken('personal')
  token = minted.token
  await fill(own.oracle, { hash: minted.hash, providerId, deliveryId })
  const [one] = await own.oracle<{ tenant_id: string; account_id: string; container_id: string }[]>`
    select c.tenant_id, c.account_id, k.id as container_id from credential c
    join container k on k.tenant_id = c.tenant_id where c.hash = ${minted.hash}`
  collectionId = one!.container_id
  const [webhook] = await own.oracle<{ id: string }[]>`select id from webhook where tenant_id = ${one!.tenant_id}`
  webhookId = webhook!.id
  const [hold] = await own.oracle<{ id: string }[]>`select id from legal_hold where tenant_id = ${one!.tenant_id}`
  holdId = hold!.id
  const [bucket] = await own.oracle<{ id: string }[]>`select id from bucket where tenant_id = ${one!.tenant_id}`
  bucketId = bucket!.id
  const [label] = await own.oracle<{ id: string }[]>`select id from label where tenant_id = ${one!.tenant_id}`
  labelId = label!.id
  // Jobs by the thousand, of which one goes by the id that the request has.
  await own.oracle`
    insert into job (tenant_id, id, kind) select ${one!.tenant_id}, case n when 1 then ${collectionId}::uuid else gen_random_uuid() end, 'TENANT_EXPORT' from generate_series(1, 5000) n`
  await own.oracle`analyze job`
  await own.oracle`
    insert into backup (tenant_id, id, target_id, job_id, state, path)
    select tenant_id, case when id = ${collectionId} then id else gen_random_uuid() end, id, id, 'COMPLETE', 'path' from job`
  await own.oracle`analyze backup`
  await own.oracle`
    insert into restore (tenant_id, id, mode, state, job_id, target_id, path, source_tenant_id, source_slug, snapshot_at, origin, product_version, archive_sha256)
    select tenant_id, id, 'REPLACE', 'DONE', id, id, 'path', tenant_id, 'slug', now(), 'OWN', '1', 'x' from backup`
  await own.oracle`analyze restore`
  await own.oracle`
    insert into audit_entry (tenant_id, id, at, action, actor_kind, actor_account_id, via, subject_kind, subject_id)
    select ${one!.tenant_id}, gen_random_uuid(), now() - n * interval '1 minute', 'action-' || n % 100, 'ACCOUNT',
           case n % 100 when 7 then ${one!.account_id}::uuid else gen_random_uuid() end, 'API', 'thing',
           case n % 100 when 8 then ${collectionId}::uuid else gen_random_uuid() end
    from generate_series(1, 20000) n`
  await own.oracle`analyze audit_entry`
  await own.oracle`
    insert into journal (id, at, action, actor_kind, actor_account_id, via, workspace_id, workspace_slug)
    select gen_random_uuid(), now() - n * interval '1 minute', 'family_' || chr(97 + n % 26) || '.action_' || chr(97 + n % 3),
           case n % 100 when 6 then 'RECOVERY' else 'ACCOUNT' end,
           case n % 100 when 7 then ${one!.account_id}::uuid else gen_random_uuid() end, 'API',
           case n % 100 when 8 then ${one!.tenant_id}::uuid else gen_random_uuid() end, 'slug-' || n % 100
    from generate_series(1, 20000) n`
  await own.oracle`analyze journal`
  await own.oracle`
    insert into pgboss.job (name, data, state, created_on, policy)
    select case n % 2 when 0 then 'send_mail' else 'sweep_mail_folder' end,
           json_build_object('tenantId', case when n % 20 = 0 then ${one!.tenant_id}::uuid else gen_random_uuid() end, 'name', 'operator_added'),
           case n % 10 when 0 then 'failed' when 1 then 'created' else 'completed' end::pgboss.job_state, now() - n * interval '1 minute', 'standard'
    from generate_series(1, 20000) n`
  await own.oracle`analyze pgboss.job_common`
  actor = {
    kind: 'ACCOUNT',
    accountId: one!.account_id,
    tenantId: one!.tenant_id,
    credentialId: randomUUIDv7(),
    bearerId: randomUUIDv7(),
    sessionId: null,
    scopes,
    role: 'OWNER',
    isOperator: true,
  }
  const counts = await own.oracle<{ name: string }[]>`
    select relname as name from pg_class where relkind = 'r' and reltuples > ${shortTable}`
  long = new Set(counts.map(({ name }) => name))
}, 120_000)
afterAll(() => own.close())

/** The long tables that a plan reads from end to end. */
function readWhole(plan: Plan): string[] {
  const table = plan['Relation Name']
  const here = plan['Node Type'] === 'Seq Scan' && table !== undefined && long.has(table) ? [table] : []
  return [...here, ...(plan.Plans ?? []).flatMap(readWhole)]
}

/** The nodes of a plan from the top, with the indexes that they read. */
const nodesOf = (plan: Plan): string[] => [
  [plan['Node Type'], plan['Index Name']].filter(Boolean).join(' '),
  ...(plan.Plans ?? []).flatMap(nodesOf),
]

/** Explains what work sends, statement by statement, each as whom it was sent by. */
async function explained(work: (installation: Installation) => Promise<unknown>): Promise<string[]> {
  const found: string[] = []
  const sent = sentStatements(await recorded(own.installation, work))
  expect(sent, 'nothing was sent').not.toEqual([])
  for (const { opening, statement } of sent) {
    const plans = await own.installation.pool.transaction(opening, (tx) => plansOf(tx, statement), { readOnly: true })
    expect(plans).toHaveLength(2)
    found.push(...plans.flatMap(readWhole))
  }
  return found
}

async function plansOf(tx: Tx, { text, values }: Statement): Promise<Plan[]> {
  const explain = async (options: string, bound: readonly unknown[]) => {
    const [row] = await tx.text<{ 'QUERY PLAN': readonly { readonly Plan: Plan }[] }[]>(
      `explain (format json${options}) ${text}`,
      bound,
    )
    return row!['QUERY PLAN'][0]!.Plan
  }
  return [await explain('', values), await explain(', generic_plan', [])]
}

const size = { query: { size: '50' } }
const lists: readonly (readonly [OperationId, () => Request])[] = [
  ['listJournal', () => size],
  ['listJournal', () => ({ query: { ...size.query, action: 'tenant.*,operator.*,mail.resent', slug: 'plan-77' } })],
  ['listMails', () => size],
  ['listMails', () => ({ query: { ...size.query, state: 'FAILED', kind: 'operator_added' } })],
  ['listMails', () => ({ query: { ...size.query, tenant_id: actor.tenantId } })],
  ['listTenants', () => size],
  ['listTenants', () => ({ query: { size: '50', slug: 'plan-77' } })],
  ['getTenant', () => ({ params: { tenantId: actor.tenantId } })],
  ['listContainers', () => ({})],
  ['listContainers', () => ({ query: { parent_id: collectionId, kind: 'COLLECTION', state: 'ARCHIVED' } })],
  ['getContainer', () => ({ params: { containerId: collectionId } })],
  ['listAccounts', () => size],
  ['listAccounts', () => ({ query: { ...size.query, q: 'pl' } })],
  ['listAccounts', () => ({ query: { ...size.query, email: 'a7@example.org' } })],
  ['listAccounts', () => ({ query: { ...size.query, external_id: 'hr-7' } })],
  ['listAccounts', () => ({ query: { ...size.query, state: 'DISABLED', kind: 'SERVICE' } })],
  ['listAccounts', () => ({ query: { ...size.query, container_id: collectionId } })],
  ['listAccounts', () => ({ query: { ...size.query, group_id: collectionId } })],
  ['listAccounts', () => ({ query: { ...size.query, group_id: collectionId, q: 'pl' } })],
  ['getAccount', () => ({ params: { accountId: actor.accountId } })],
  ['listMemberships', () => size],
  ['listMemberships', () => ({ query: { account_id: actor.accountId, container_id: collectionId } })],
  ['listMemberships', () => ({ query: { group_id: collectionId } })],
  ['listGroups', () => size],
  ['listGroups', () => ({ query: { ...size.query, account_id: actor.accountId, q: 'plan' } })],
  ['getGroup', () => ({ params: { groupId: collectionId } })],
  ['listGroupMembers', () => ({ params: { groupId: collectionId }, ...size })],
  ['listAuditEntries', () => size],
  ['listBuckets', () => ({ params: { containerId: collectionId } })],
  ['getBoard', () => ({ params: { containerId: collectionId } })],
  ['getBoard', () => ({ params: { containerId: collectionId }, query: { size: '50', state: 'DONE' } })],
  ['listTrash', () => size],
  ['listTrash', () => ({ query: { ...size.query, container_id: collectionId, kind: 'ITEM' } })],
  ['listTemplates', () => size],
  ['listTemplates', () => ({ query: { ...size.query, container_id: collectionId, kind: 'BOARD' } })],
  ['getTemplate', () => ({ params: { templateId: collectionId } })],
  ['listViews', () => size],
  ['listViews', () => ({ query: { ...size.query, container_id: collectionId } })],
  ['listItems', () => ({ query: { container_id: collectionId, bucket_id: 'none' } })],
  ['listCustomFields', () => ({})],
  ['listLabels', () => ({ params: { containerId: collectionId } })],
  ['listItems', () => size],
  ['listItems', () => ({ query: { ...size.query, state: 'OPEN' } })],
  ['listItems', () => ({ query: { ...size.query, container_id: collectionId } })],
  ['listItems', () => ({ query: { ...size.query, container_id: collectionId, state: 'DONE' } })],
  ['listItems', () => ({ query: { ...size.query, bucket_id: bucketId } })],
  ['listItems', () => ({ query: { ...size.query, parent_id: collectionId } })],
  ['listItems', () => ({ query: { ...size.query, label_id: labelId, state: 'OPEN' } })],
  ['getItem', () => ({ params: { itemId: collectionId } })],
  ['listItemAttachments', () => ({ params: { itemId: collectionId } })],
  ['listMedia', () => size],
  ['listMedia', () => ({ query: { ...size.query, sort: 'SIZE', kind: 'IMAGE', is_attached: 'false' } })],
  [
    'linkMedia',
    () => ({ body: { media_ids: Array.from({ length: 100 }, () => collectionId), disposition: 'INLINE' } }),
  ],
  ['getMedia', () => ({ params: { mediaId: collectionId } })],
  ['listItemActivity', () => ({ params: { itemId: collectionId } })],
  ['listComments', () => ({ params: { itemId: collectionId }, ...size })],
  ['listComments', () => ({ params: { itemId: collectionId }, query: { ...size.query, order: 'DESC' } })],
  ['listComments', () => ({ params: { itemId: collectionId }, query: { ...size.query, id: collectionId } })],
  ['listSessions', () => ({})],
  ['listNotifications', () => size],
  ['listNotifications', () => ({ query: { ...size.query, unread: 'true', category: 'CHANGED' } })],
  ['listNotificationPreferences', () => ({ params: { accountId: actor.accountId } })],
  ['listTokens', () => ({})],
  ['listServiceAccounts', () => ({})],
  ['listOperators', () => ({})],
  ['listHolds', () => ({ query: { size: '50', tenant_id: actor.tenantId } })],
  ['getHold', () => ({ params: { holdId } })],
  ['listRetentionRules', () => ({})],
  ['listRetentionRuns', () => size],
  ...ruleKinds.map((kind) => ['previewRetentionRule', () => ({ params: { kind }, query: { days: '400' } })] as const),
  ['listPurgeCertificates', () => size],
  ['listPurgeCertificates', () => ({ query: { size: '50', slug: 'plan-77' } })],
  ['getPurgeCertificate', () => ({ params: { tenantId: actor.tenantId } })],
  ['getOwnAccount', () => ({})],
  ['listConsents', () => ({})],
  ['getAiObjection', () => ({})],
  ['getServer', () => ({})],
  ['listEmergencyNotices', () => ({})],
  ['listBackupTargets', () => ({})],
  ['listBackupSchedules', () => ({})],
  ['listBackups', () => size],
  ['listBackups', () => ({ query: { ...size.query, tenant_id: actor.tenantId, state: 'COMPLETE' } })],
  ['getBackup', () => ({ params: { backupId: collectionId } })],
  ['listRestores', () => size],
  ['listRestores', () => ({ query: { ...size.query, tenant_id: actor.tenantId, state: 'DONE' } })],
  ['getRestore', () => ({ params: { restoreId: collectionId } })],
  ['listProviders', () => ({})],
  ['getOnlyProvider', () => ({})],
  ['listAccountsWithoutProvider', () => size],
  ['getSignInRules', () => ({ query: { workspace: 'plan-77' } })],
  ['listIdentityProviders', () => ({})],
  ['getWithdrawalPlan', () => ({ params: { providerId } })],
  ['listAiModels', () => ({})],
  ['listAiProviders', () => ({})],
  ['getSettings', () => ({})],
  ['pullEvents', () => ({ params: { eventType: 'svc.work.label.created.v1' }, query: { limit: '50' } })],
  ['getJob', () => ({ params: { jobId: collectionId } })],
  ['listWebhooks', () => ({})],
  ['getWebhook', () => ({ params: { webhookId } })],
  ['listDeliveries', () => ({ params: { webhookId }, ...size })],
  ['listDeliveries', () => ({ params: { webhookId }, query: { size: '50', status: 'DEAD_LETTER' } })],
  ['getDelivery', () => ({ params: { webhookId, deliveryId } })],
  ['listPrivacyRequests', () => size],
  ['listPrivacyRequests', () => ({ query: { ...size.query, account_id: actor.accountId, overdue: 'true' } })],
  ['getPrivacyRequest', () => ({ params: { requestId: collectionId } })],
  ['getRecordedDelivery', () => ({ params: { deliveryId } })],
]

/** Reads that no index could serve, and why. */
const others: readonly OperationId[] = [
  'getOverview', // counts every workspace and account
  'getDeliveryStats', // counts every webhook and what is open, and attempts by their time
  'getEncryption', // counts every sealed value, by an index alone (bench/encryption.ts)
  'getTenantStatistics', // counts all that a workspace has
  'getDeletionPlan', // counts all that a workspace has, and its jobs in the queue
  'verifyPurgeCertificate', // looks everywhere
  'listProblems', // asks the database nothing
  'listEventTypes', // nor does this
  'listPresets', // nor this
  'getNotice', // one row
  'getWorkspace', // counts what the workspace has used, as an operator's look at its quotas does
  'search', // its plans are in test/search/candidates.test.ts
  'getMediaContent', // reads what getMedia reads, and refuses a file without bytes
  'queryItems', // its plans are in test/items/filter/plans.test.ts
  'getErasurePreview', // refuses a request that is none; what it reads are rows of one request, and lists of hosts
  'getPrivacyPackage', // one request by its key
  'listOverdueRequests', // counts what is overdue, by an index alone
  'listArchives', // one target by its key; the rest is asked of the target
]

// It asks for generic plans, which PostgreSQL explains since 16.
describe.skipIf(isOutside)('reads by an index', () => {
  test('is asked of every read', () => {
    const reads = Object.values<Operation>(operations).filter(isRead)
    const asked = new Set<string>([...lists.map(([id]) => id), ...others])
    const missing = reads.map(({ id }) => id).filter((id) => !asked.has(id))
    expect(missing, 'add a request of each read to `lists`, or its name and the reason to `others`').toEqual([])
  })

  test.each(lists)('%s', async (id, request) => {
    const operation: Operation = operations[id]
    expect(await explained((installation) => perform(installation, operation, actor, request()))).toEqual([])
  })

  test('an account is found by its address through an index, and not by comparing each', async () => {
    const list: Operation = operations.listAccounts
    const statements = await recorded(own.installation, (installation) =>
      perform(installation, list, actor, { query: { email: 'a7@example.org', size: '50' } }),
    )
    const statement = statements.find(({ text }) => text.includes('from account a'))!
    const plans = await own.installation.pool.transaction(asTenant(actor.tenantId), (tx) => plansOf(tx, statement), {
      readOnly: true,
    })
    // A policy lets no `coalesce` into the condition of an index (areas/access/addresses.ts).
    for (const plan of plans) expect(JSON.stringify(plan)).not.toMatch(/"Filter":"[^"]*= COALESCE\(/)
  })

  test.each([
    ['nothing', 'audit_entry_in_order', () => ({})],
    ['from and until', 'audit_entry_in_order', () => ({ from: '2020-01-01T00:00:00Z', until: '2040-01-01T00:00:00Z' })],
    ['action', 'audit_entry_by_action', () => ({ action: 'action-9' })],
    ['subject_id', 'audit_entry_by_subject', () => ({ subject_id: collectionId })],
    ['actor_id', 'audit_entry_by_actor', () => ({ actor_id: actor.accountId })],
  ] as const)(
    'a page of the trail by %s is read in its order: no sort, and no entry besides',
    async (_, index, query) => {
      const list: Operation = operations.listAuditEntries
      const statements = await recorded(own.installation, (installation) =>
        perform(installation, list, actor, { query: { ...query(), size: '50' } }),
      )
      const statement = statements.find(({ mode }) => mode !== 'simple')!
      const [plan] = await own.installation.pool.transaction(asTenant(actor.tenantId), (tx) => plansOf(tx, statement), {
        readOnly: true,
      })
      expect(nodesOf(plan!).filter((node) => node !== 'Result')).toEqual([
        'Limit',
        expect.stringMatching(`^Index (Only )?Scan.* ${index}$`),
      ])
    },
  )

  test.each([
    ['nothing', 'journal_in_order', () => ({})],
    ['from and until', 'journal_in_order', () => ({ from: '2020-01-01T00:00:00Z', until: '2040-01-01T00:00:00Z' })],
    ['action', 'journal_by_action', () => ({ action: 'family_c.action_a' })],
    ['all actions of a family', 'journal_by_family', () => ({ action: 'family_c.*' })],
    ['tenant_id', 'journal_by_workspace', () => ({ tenant_id: actor.tenantId })],
    ['slug', 'journal_by_slug', () => ({ slug: 'slug-8' })],
    ['actor_id', 'journal_by_actor', () => ({ actor_id: actor.accountId })],
    ['actor_kind', 'journal_by_kind', () => ({ actor_kind: 'RECOVERY' })],
  ] as const)(
    'a page of the journal by %s is read in its order: no sort, and no entry besides',
    async (_, index, query) => {
      const list: Operation = operations.listJournal
      const statements = await recorded(own.installation, (installation) =>
        perform(installation, list, actor, { query: { ...query(), size: '50' } }),
      )
      const statement = statements.find(({ text }) => text.includes('from journal'))!
      const [plan] = await own.installation.pool.transaction(asInstallation, (tx) => plansOf(tx, statement), {
        readOnly: true,
      })
      expect(nodesOf(plan!).filter((node) => node !== 'Result')).toEqual([
        'Limit',
        expect.stringMatching(`^Index (Only )?Scan.* ${index}$`),
      ])
    },
  )

  test.each([
    ['nothing', 'svc_open_mails_in_order', () => ({})],
    ['state', 'svc_open_mails_in_order', () => ({ state: 'FAILED' })],
    ['tenant_id', 'svc_open_mails_by_workspace', () => ({ tenant_id: actor.tenantId })],
  ] as const)(
    'a page of mails by %s is read in its order: no sort, and no mail that has gone',
    async (_, index, query) => {
      const list: Operation = operations.listMails
      const statements = await recorded(own.installation, (installation) =>
        perform(installation, list, actor, { query: { ...query(), size: '50' } }),
      )
      const statement = statements.find(({ text }) => text.includes('pgboss.job'))!
      const plans = await own.installation.pool.transaction(asQueue, (tx) => plansOf(tx, statement), { readOnly: true })
      for (const plan of plans)
        expect(nodesOf(plan)).toEqual(['Limit', expect.stringMatching(`^Index Scan.* ${index}$`)])
    },
  )

  test('the look-up of a token', async () => {
    const heard = { headers: { authorization: `Bearer ${token}` }, socket: {} }
    const look = (installation: Installation) =>
      openGate(installation, openRate(installation.pool), openSourceRate(0, openHeldRefusals())).admit(
        operations.getOwnAccount,
        heard,
      )
    expect(await explained(look)).toEqual([])
  })

  test('what the metrics ask of the database', async () => {
    expect(await explained(readWaiting)).toEqual([])
  })

  test('and a statement that does not is found', async () => {
    const all = (installation: Installation) =>
      installation.transaction(actor, {}, ({ tx }) => tx`select id from tenant where display_name = ${'Plan'}`)
    expect(await explained(all)).toEqual(['tenant', 'tenant'])
  })
})
