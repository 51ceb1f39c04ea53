/** Every statement of the source is one that a distributed PostgreSQL can send to one node. docs/decisions/0320. */
import { basename, join } from 'node:path'
import { loadModule } from 'libpg-query'
import { API } from 'typescript/unstable/sync'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Hindrance, hindrancesOf } from './routing.ts'
import { root } from './source.ts'
import { type Piece, writtenStatements } from './written-statements.ts'

/** What is wrong with a statement, by the file and the function that it stands in: `item/lockedRow`. */
interface Finding {
  readonly of: string
  readonly hindrance: Hindrance
  readonly says: string
}

/** What hinders in a function, and why it stays. The list may only shrink: add nothing that a statement could say otherwise. */
const meant: readonly { readonly why: string; readonly of: Readonly<Record<string, string>> }[] = [
  {
    why: 'whoever comes names a secret, a name or an id, and the workspace is found by it; the installation reads it on the coordinator',
    of: {
      'challenge/findChallenge': 'value',
      'credential/lookUpCredential': 'mixed value',
      'flow/spendFlow': 'value',
      'link/findLink': 'value',
      'refresh/findToken': 'lock mixed value',
      'refresh/holdSessionOf': 'lock value',
      'forgotten-password/findReset': 'value',
      'hold/workspaceOfHold': 'value',
      'workspace/workspaceOfAccount': 'value',
      'list/getBackup': 'value',
      'row/workspaceOfBackup': 'value',
      'row/findRestore': 'mixed value',
      'row/lockRestore': 'lock',
      'source/findBackup': 'value',
      'recovery-caller/workspaceOfJob': 'value',
      'invitation/findInvitation': 'mixed value',
      'recorded/getRecordedDelivery': 'mixed value',
      'register/findAccount': 'lock mixed value',
      'removal/findTarget': 'mixed value',
      'show/readJob': 'value',
      'sign-in-methods/readSignIn': 'mixed value',
      'sign-in-rules/getSignInRules': 'mixed value',
    },
  },
  {
    why: 'the installation looks for work, or counts, in all workspaces',
    of: {
      'backlog/readWaiting': 'mixed value',
      'application/applyKeepRules': 'value',
      'expiry/expireBackups': 'value',
      'desk/deleteBackupSchedule': 'value',
      'job/findDue': 'value',
      'job/planAgain': 'value',
      'settle/endedElsewhere': 'value',
      'settle/settle': 'value',
      'settle/settleRuns': 'value',
      'spread/spreadRuns': 'value',
      'start/countBegun': 'value',
      'start/startWaiting': 'value',
      'target/deleteBackupTarget': 'value',
      'verification/isTryOver': 'value',
      'job/resumeBackups': 'value',
      'list/listBackups': 'value',
      'list/listRestores': 'mixed value',
      'sweep/forgetReplaced': 'value',
      'sweep/run': 'value',
      'sweep/sweepStaging': 'value',
      'removal/readLeaving': 'value',
      'job/findOpen': 'value',
      'making/makePackages': 'value',
      'search/searchMentions': 'value',
      'reminders/remindOfDeadlines': 'value',
      'overdue/listOverdueRequests': 'value',
      'discover/discover': 'mixed value',
      'indexer/findLacking': 'mixed value',
      'indexer/findWork': 'mixed value',
      'indexer/followRound': 'clock mixed value',
      'jobs/nextWorkspace': 'value',
      'jobs/run': 'value',
      'jobs/workspacesAfter': 'value',
      'keyring-check/trySamples': 'value',
      'keyring-use/countByKey': 'value',
      'keyring-use/getEncryption': 'value',
      'legal-holds/presentHolds': 'value',
      'list/readTenants': 'mixed value',
      'notifier/findWork': 'mixed value',
      'offer/readModels': 'mixed value',
      'offered/countWorkspacesOn': 'value',
      'offered/listIdentityProviders': 'value',
      'overview/getOverview': 'value',
      'purge/lookAt': 'mixed value',
      'readiness/keyring': 'mixed value',
      'request/resealEncryption': 'mixed value',
      'reseal/resealSlice': 'lock',
      'resume/resumeLost': 'value',
      'stats/readEnded': 'mixed value',
      'stats/readOpen': 'mixed value',
      'withdrawal-plan/getWithdrawalPlan': 'mixed value',
    },
  },
  {
    why: 'operators are accounts of any workspace',
    of: {
      'last-owner/keepAnOperator': 'mixed value',
      'jobs/readJournalled': 'mixed value',
      'operators/tellOperators': 'mixed value',
      'register/listOperators': 'mixed value',
      'register/lockRegister': 'mixed value',
    },
  },
  {
    why: 'what an operator ends, or a recovery voids, ends in all workspaces',
    of: {
      'admit/voidSome': 'value',
      'consents/plan': 'value',
      'disablings/plan': 'value',
      'erasures/plan': 'value',
      'follow-model/run': 'value',
      'holds/plan': 'value',
      'offered/removeIdentityProvider': 'value',
      'purge/finish': 'value',
      'purges/plan': 'mixed value',
      'restrictions/plan': 'value',
      'tokens/check': 'value',
      'tokens/plan': 'value',
    },
  },
  {
    why: "one look-up by key in the installation's table: a reference table, or one more round trip",
    of: {
      'byte-count/take': 'mixed',
      'ceiling/findStandings': 'mixed',
      'change-password/ownNames': 'mixed',
      'enrolment/begin': 'mixed',
      'forgotten-password/mintReset': 'mixed',
      'invitation-mail/mintInvitation': 'mixed',
      'item-count/take': 'mixed',
      'list/listLabels': 'mixed',
      'models/readModel': 'mixed',
      'operators/hindranceToAdding': 'mixed',
      'own-account/getOwnAccount': 'mixed',
      'purge/start': 'mixed',
      'quotas/readCeiling': 'mixed',
      'creation/answered': 'mixed',
      'planning/overQuota': 'mixed',
      'row/readRestore': 'mixed',
      'sign-in-lock/countFailure': 'mixed',
      'token-budget/take': 'mixed',
    },
  },
  {
    why: 'a row is locked and read at once; the lock and what belongs to the row as two statements is one round trip more',
    of: {
      'admission/findConnected': 'lock',
      'deliveries/replayDelivery': 'lock',
      'each/lockSeen': 'lock',
      'emptying/purgeSome': 'lock',
      'item/lockedRow': 'lock',
      'preferences/lockPreferences': 'lock',
      'provider-row/lockProvider': 'lock',
      'removal/deleteMedia': 'lock',
      'removal/removeItems': 'lock',
      'words/wordPortion': 'lock',
    },
  },
  { why: 'all results of a turn are one parameter', of: { 'record/settle': 'clock' } },
  {
    why: 'a month is dropped for all workspaces at once; every node is asked whether it is needed',
    of: { 'retention/isAwaited': 'value', 'jobs/hasUnended': 'value' },
  },
]

/** How many functions there are above. Lower it when one goes. */
const most = 121

let statements: number
let findings: readonly Finding[]
beforeAll(async () => {
  await loadModule()
  const compiler = new API({ cwd: root })
  const config = join(root, 'tsconfig.json')
  const project = compiler.updateSnapshot({ openProjects: [config] }).getProject(config)!
  const written = writtenStatements(project, 'src/')
  compiler.close()
  statements = written.length
  findings = written.flatMap(({ where, of, ways }) =>
    ways.flatMap((way) =>
      [...hindrancesOf(sentText(way))].flatMap(([hindrance, abouts]) =>
        [...abouts].map((about) => ({
          of: `${basename(where).replace(/\.ts:\d+$/, '')}/${of}`,
          hindrance,
          says: `${where} ${of}: ${hindrance}: ${about}`,
        })),
      ),
    ),
  )
})

/** The text as it is sent: `$1` where a value is. */
function sentText(pieces: readonly Piece[]): string {
  let values = 0
  return pieces.map((piece) => (typeof piece === 'string' ? piece : `$${++values}`)).join('')
}

const exceptions = meant.flatMap(({ of }) => Object.entries(of))

describe('every statement of the source', () => {
  test('is found', () => expect(statements).toBeGreaterThan(500))

  test('goes to one node, but for what is listed with a reason', () => {
    const listed = new Map(exceptions.map(([name, hindrances]) => [name, hindrances.split(' ')]))
    const others = findings.filter(({ of, hindrance }) => !listed.get(of)?.includes(hindrance))
    expect([...new Set(others.map(({ says }) => says))], reasons).toEqual([])
  })

  test.each(exceptions)('%s is listed for what hinders it there: %s', (name, hindrances) => {
    const found = findings.filter(({ of }) => of === name).map(({ hindrance }) => hindrance)
    expect([...new Set(found)].sort().join(' '), 'nothing needs this exception any more').toBe(hindrances)
  })

  test('is listed once, and no more are listed than were', () => {
    expect(new Set(exceptions.map(([name]) => name)).size).toBe(exceptions.length)
    expect(exceptions.length).toBe(most)
  })
})

const reasons = `value: compare tenant_id of each table with a value, or with the tenant_id of a table beside or around it.
clock: write excluded.… or a value; now() is taken at each node anew.
lock: name the row's workspace by value, and ask for what belongs to the row in another statement.
subselect: compute values before, or insert … select.
mixed: ask the installation's table in a statement of its own.`

describe('the test catches', () => {
  test.each<[Hindrance, string]>([
    ['value', 'select id from label where id = $1'],
    ['value', 'select id from label where tenant_id = current_tenant()'],
    ['value', 'select id from label where tenant_id = $1 or id = $2'],
    ['value', 'select id from label where tenant_id in ($1, $2)'],
    ['value', 'select l.id from label l join container c on c.id = l.container_id where l.tenant_id = $1'],
    [
      'value',
      'select id from label l where tenant_id = $1 and exists (select from container c where c.id = l.container_id)',
    ],
    [
      'value',
      'select id from label where not exists (select from container c where c.tenant_id = $1 and c.id = label.container_id)',
    ],
    ['value', 'with gone as (delete from label where id = $1 returning id) select id from gone'],
    [
      'value',
      'with found as (select tenant_id, id from label where tenant_id = $1) select c.id from container c join found f on f.id = c.id',
    ],
    ['value', 'select id from label where tenant_id = $1 union all select id from container where id = $2'],
    ['value', 'insert into label (id) values ($1)'],
    ['value', 'insert into label (tenant_id, id) select c.tenant_id, c.id from container c where c.id = $1'],
    ['value', 'update label l set name = $1 from container c where c.tenant_id = $2 and c.id = l.container_id'],
    [
      'clock',
      'insert into label (tenant_id, id) values ($1, $2) on conflict (tenant_id, id) do update set updated_at = now()',
    ],
    ['clock', 'update label set version = 1 where tenant_id = $1 returning now() > updated_at'],
    ['clock', 'update label set updated_at = case when version > 1 then now() end where tenant_id = $1'],
    ['clock', 'update label set updated_at = coalesce(deleted_at, clock_timestamp()) where tenant_id = $1'],
    ['clock', 'update label set updated_at = coalesce(deleted_at, current_timestamp) where tenant_id = $1'],
    ['lock', 'select id from label where id = $1 for update'],
    [
      'lock',
      'select id, (select c.name from container c where c.tenant_id = l.tenant_id and c.id = l.container_id) from label l where tenant_id = $1 for share',
    ],
    ['subselect', 'insert into label (tenant_id, id) values ($1, (select $2::uuid))'],
    ['mixed', 'select l.id from label l join tenant t on t.id = l.tenant_id where l.tenant_id = $1'],
    ['mixed', 'select id from label where tenant_id = $1 and exists (select from operator)'],
  ])('%s: %s', (hindrance, text) => expect([...hindrancesOf(text).keys()]).toEqual([hindrance]))

  test.each([
    'select l.id from label l join container c on c.tenant_id = l.tenant_id and c.id = l.container_id where l.tenant_id = $1',
    'select l.id from label l join container c using (tenant_id) where c.tenant_id = $1::uuid',
    'select id from label l where (l.tenant_id, l.id) = ($1, $2)',
    'select l.id from (select c.* from container c where c.tenant_id = $1) c join label l on l.tenant_id = c.tenant_id',
    'select id from label l where tenant_id = $1 and exists (select from container c where c.tenant_id = l.tenant_id and c.id = l.container_id)',
    'with one as (insert into label (tenant_id, id) values ($1, $2) returning tenant_id, id) select o.id from one o join container c on c.tenant_id = o.tenant_id',
    'insert into label (tenant_id, id) values ($1, $2) on conflict (tenant_id, id) do update set updated_at = excluded.updated_at',
    'update label set updated_at = now() where tenant_id = $1 returning updated_at',
    'select id from label where tenant_id = $1 and id = $2 for update',
    'select id from tenant where state = $1 for update',
    'select id from pgboss.job where id = $1',
  ])('and lets pass: %s', (text) => expect([...hindrancesOf(text)]).toEqual([]))
})
