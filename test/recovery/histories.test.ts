/**
 * Random histories of obligations, each rewound to a random point: after a reconciliation no
 * obligation is lost and none invented, and a second one finds nothing to do. In half of them
 * the host is lost with its ledger, and all is done from the copy at a backup target.
 *
 *     SVC_FAULTS=full vitest run test/recovery/histories.test.ts    1,000 histories instead of 50
 */
import { randomUUIDv7 } from 'node:crypto'
import { rmSync } from 'node:fs'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { leaveGroups } from '../../src/core/areas/access/group-rows.ts'
import { revokeToken } from '../../src/core/areas/auth/token/access-token.ts'
import { recordObjection } from '../../src/core/areas/consents/acts.ts'
import { restrictAccount } from '../../src/core/areas/identity/accounts/restricting.ts'
import { endWithoutRole } from '../../src/core/areas/memberships/group-roles.ts'
import { removeMembership } from '../../src/core/areas/memberships/membership.ts'
import { addOperator, removeOperator } from '../../src/core/areas/operators/register.ts'
import { repeatSteps } from '../../src/core/areas/recovery/apply.ts'
import { pulledFolder, pullLedgers } from '../../src/core/areas/recovery/ledger/ledger-pull.ts'
import { readTargets } from '../../src/core/areas/recovery/ledger/ledger-targets.ts'
import { planReconciliation, readLedgers } from '../../src/core/areas/recovery/reconcile.ts'
import { placeHold, releaseHold } from '../../src/core/areas/retention/hold.ts'
import { repeatPurge } from '../../src/core/areas/tenants/purge/purge.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { joinedWorkspace, plantAccount, plantToken } from '../kit/accounts.ts'
import { system } from '../kit/events.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { keep, takeBack } from '../kit/rewinding.ts'

const histories = process.env['SVC_FAULTS'] === 'full' ? 1000 : 50
const actor = recoveryActor()

interface Workspace {
  readonly tenantId: string
  readonly accountId: string
  readonly tokens: readonly string[]
}

let own: TestInstallation
let workspaces: Workspace[]

beforeAll(async () => {
  own = await testInstallation()
  const steady = await joinedWorkspace(own)
  await own.oracle`insert into operator (account_id, workspace_id) values (${steady.accountId}, ${steady.tenantId})`
  workspaces = []
  for (let count = 0; count < 3; count += 1) {
    const { tenantId, accountId } = await joinedWorkspace(own)
    const tokens = [1, 2].map(() => plantToken(own, { tenantId, accountId }, { scopes: ['workspace:read'] }))
    workspaces.push({ tenantId, accountId, tokens: (await Promise.all(tokens)).map(({ id }) => id) })
  }
  await own.asRecovery(operations.createBackupTarget, {
    body: { name: 'disk', kind: 'LOCAL', config: { path: 'disk' } },
  })
  await keep(own.oracle, 'base')
})
afterAll(() => own.close())

/** What has really happened, as far as it was acknowledged. */
interface Model {
  readonly holds: Map<string, { readonly tenantId: string; isReleased: boolean }>
  readonly revoked: Set<string>
  readonly operators: Set<string>
  readonly purged: Set<string>
}

const copyOf = (model: Model): Model => ({
  holds: new Map([...model.holds].map(([id, hold]) => [id, { ...hold }])),
  revoked: new Set(model.revoked),
  operators: new Set(model.operators),
  purged: new Set(model.purged),
})

type Act = {
  readonly name: 'place' | 'release' | 'revoke' | 'add' | 'remove' | 'purge' | 'refused'
  readonly which: number
}

const act: fc.Arbitrary<Act> = fc.record({
  name: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom('place' as const, 'release' as const) },
    { weight: 3, arbitrary: fc.constantFrom('revoke' as const, 'add' as const, 'remove' as const) },
    { weight: 2, arbitrary: fc.constantFrom('purge' as const, 'refused' as const) },
  ),
  which: fc.nat(11),
})

const as = <T>(work: Parameters<typeof own.installation.transaction<T>>[2]) =>
  own.installation.transaction(actor, {}, work)

async function perform({ name, which }: Act, model: Model): Promise<void> {
  const workspace = workspaces[which % workspaces.length]!
  const { tenantId, accountId } = workspace
  const isGone = model.purged.has(tenantId)
  switch (name) {
    case 'place': {
      if (isGone) return
      const body = { tenant_id: tenantId, scope: { kind: 'TENANT' as const, id: null }, reason: `case ${which}` }
      const { id } = await as((ctx) => placeHold(ctx, { body }))
      model.holds.set(id, { tenantId, isReleased: false })
      return
    }
    case 'release': {
      const [id, hold] = [...model.holds].filter(([, one]) => !one.isReleased)[which % 3] ?? []
      if (!id || !hold || model.purged.has(hold.tenantId)) return
      await as((ctx) => releaseHold(ctx, { holdId: id }))
      hold.isReleased = true
      return
    }
    case 'revoke': {
      const tokenId = workspace.tokens[which % 2]!
      if (isGone || model.revoked.has(tokenId)) return
      const owner = {
        kind: 'ACCOUNT' as const,
        ...{ accountId, tenantId, credentialId: tokenId, bearerId: tokenId, sessionId: null },
        ...{ scopes: [], role: 'OWNER' as const, isOperator: false },
      }
      await own.installation.transaction(owner, { tenantId }, (ctx) => revokeToken(ctx, { tokenId }))
      model.revoked.add(tokenId)
      return
    }
    case 'add':
      if (isGone || model.operators.has(accountId)) return
      await as((ctx) => addOperator(ctx, { body: { account_id: accountId } }))
      model.operators.add(accountId)
      return
    case 'remove':
      if (!model.operators.has(accountId)) return
      await as((ctx) => removeOperator(ctx, { accountId }))
      model.operators.delete(accountId)
      return
    case 'purge':
      if (isGone || [...model.holds.values()].some((hold) => hold.tenantId === tenantId && !hold.isReleased)) return
      expect(await repeatPurge(own.installation, tenantId)).toBe('purged')
      model.purged.add(tenantId)
      model.operators.delete(accountId)
      return
    case 'refused': {
      // Owes and then fails: in its work, so that nothing is written, or at its commit, so that the lines are void.
      const refused = as(async (ctx) => {
        ctx.recordObligation(
          { act: 'operator.removed', tenant_id: tenantId, account_id: accountId },
          { act: 'workspace.purged', tenant_id: tenantId },
          { act: 'token.revoked', tenant_id: tenantId, id: workspace.tokens[0]! },
        )
        if (which % 2 === 0) throw new Error('by zero, too')
        await ctx.tx`select 1 / ${0}::integer`.catch(() => {})
      })
      await expect(refused).rejects.toThrow('by zero')
    }
  }
}

async function reconcile() {
  const { desired, faults, unsettled } = await readLedgers(own.installation)
  expect([faults, unsettled]).toEqual([[], 0])
  const steps = await planReconciliation(own.installation, desired)
  const recoveryPoint = new Date().toISOString()
  return repeatSteps({ installation: own.installation, actor, desired, recoveryPoint }, steps)
}

/** Holds what the database says now against what happened, and what it was rewound to. */
async function check(final: Model, point: Model): Promise<void> {
  const { oracle } = own
  const holds = new Map(
    (
      await oracle<
        { id: string; is_released: boolean }[]
      >`select id, released_at is not null as is_released from legal_hold`
    ).map(({ id, is_released }) => [id, is_released]),
  )
  const held = new Set<string>()
  for (const [id, { tenantId }] of final.holds) {
    if (point.purged.has(tenantId)) continue
    const isReleased = point.holds.get(id)?.isReleased ?? false
    if (!isReleased) held.add(tenantId)
  }
  const present = new Set((await oracle<{ id: string }[]>`select id from tenant`).map(({ id }) => id))
  for (const { tenantId, accountId, tokens } of workspaces) {
    const isPurged = point.purged.has(tenantId) || (final.purged.has(tenantId) && !held.has(tenantId))
    expect([tenantId, present.has(tenantId)]).toEqual([tenantId, !isPurged])
    const [register] = await oracle`select 1 from operator where account_id = ${accountId}`
    expect(['operator', register !== undefined]).toEqual(['operator', final.operators.has(accountId)])
    if (isPurged) continue
    for (const [id, hold] of final.holds)
      if (hold.tenantId === tenantId)
        expect([id, holds.get(id)]).toEqual([id, point.holds.get(id)?.isReleased ?? false])
    const alive = await oracle<{ id: string }[]>`
      select id from credential where tenant_id = ${tenantId} and kind = 'PERSONAL' and revoked_at is null`
    expect(alive.map(({ id }) => id).sort()).toEqual(tokens.filter((id) => !final.revoked.has(id)).sort())
    const [{ state }] = (await oracle`select state from tenant where id = ${tenantId}`) as unknown as [
      { state: string },
    ]
    expect(state).toBe(final.purged.has(tenantId) ? 'PENDING_DELETION' : 'ACTIVE')
  }
  expect(
    [...holds.keys()].filter((id) => !final.holds.has(id)),
    'invented',
  ).toEqual([])
}

/** As on a new host: the ledger is gone, and what lies at the target takes its place. */
async function loseTheHost(): Promise<void> {
  rmSync(own.installation.ledger.file, { force: true })
  const [target] = await own.installation.transaction(actor, { readOnly: true }, readTargets)
  await pullLedgers(own.installation, target!.open())
}

/** Nothing of the history before: neither here nor at the target. */
function forget(): void {
  const { ledger, config } = own.installation
  for (const path of [ledger.file, pulledFolder(config), config.backupDir])
    rmSync(path, { recursive: true, force: true })
}

test(`${histories} histories lose nothing and gain nothing`, async () => {
  let done = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(act, { minLength: 1, maxLength: 12 }),
      fc.nat(12),
      fc.boolean(),
      async (acts, cut, isLost) => {
        await takeBack(own.oracle, 'base')
        forget()
        const model: Model = { holds: new Map(), revoked: new Set(), operators: new Set(), purged: new Set() }
        const at = cut % (acts.length + 1)
        let point = copyOf(model)
        for (const [index, one] of acts.entries()) {
          if (index === at) {
            await keep(own.oracle, 'point')
            point = copyOf(model)
          }
          await perform(one, model)
        }
        if (at === acts.length) {
          await keep(own.oracle, 'point')
          point = copyOf(model)
        }
        await own.installation.copies.follow() // as a daemon does a second later
        await takeBack(own.oracle, 'point')
        if (isLost) await loseTheHost()

        done += (await reconcile()).done.length
        await check(model, point)
        expect((await reconcile()).done).toEqual([])
        await check(model, point)
      },
    ),
    { numRuns: histories, endOnFailure: true },
  )
  expect(done, 'nothing had to be done again: the histories are too tame').toBeGreaterThan(histories / 2)
}, 1_800_000)

test('who had left has left again: roles, sessions and tokens go, and what was given later stays', async () => {
  await takeBack(own.oracle, 'base')
  forget()
  const [{ tenantId, accountId: ownerId }] = workspaces as [Workspace, Workspace, Workspace]
  const gone = await plantAccount(own, tenantId)
  const { id: tokenId } = await plantToken(own, gone, { scopes: ['workspace:read'] })
  await keep(own.oracle, 'point')
  const owner = {
    kind: 'ACCOUNT' as const,
    ...{ accountId: ownerId, tenantId, credentialId: tokenId, bearerId: tokenId, sessionId: null },
    ...{ scopes: [], role: 'OWNER' as const, isOperator: false },
  }
  const [membership] = await own.oracle<
    { id: string }[]
  >`select id from membership where account_id = ${gone.accountId}`
  await own.installation.transaction(owner, { tenantId }, (ctx) =>
    removeMembership(ctx, { membershipId: membership!.id }),
  )
  const state = () => own.oracle`
    select (select count(*) from membership where account_id = ${gone.accountId})::int as roles,
           (select count(*) from credential where account_id = ${gone.accountId} and revoked_at is null)::int as tokens`

  await takeBack(own.oracle, 'point')
  expect(await state()).toEqual([{ roles: 1, tokens: 1 }])
  expect((await reconcile()).done.map(({ what, id }) => [what, id])).toEqual([['account.leave', gone.accountId]])
  expect(await state()).toEqual([{ roles: 0, tokens: 0 }])

  await own.oracle`insert into membership (tenant_id, id, account_id, role) values (${tenantId}, ${randomUUIDv7()}, ${gone.accountId}, 'VIEWER')`
  expect((await reconcile()).done).toEqual([])
  expect(await state()).toEqual([{ roles: 1, tokens: 0 }])
})

test('who was disabled is disabled again, with every token; who was let in again stays', async () => {
  await takeBack(own.oracle, 'base')
  forget()
  const [{ tenantId }] = workspaces as [Workspace, Workspace, Workspace]
  const [gone, back] = [await plantAccount(own, tenantId), await plantAccount(own, tenantId)]
  for (const one of [gone, back]) await plantToken(own, one, { scopes: ['workspace:read'] })
  await keep(own.oracle, 'point')
  for (const { accountId } of [gone, back]) await own.asRecovery(operations.disableAccount, { accountId })
  await own.asRecovery(operations.enableAccount, { accountId: back.accountId })
  const state = async () => {
    const rows = await own.oracle<{ id: string; state: string; tokens: number }[]>`
      select a.id, a.state, (select count(*) from credential c where c.account_id = a.id and c.revoked_at is null)::int as tokens
      from account a where a.id in ${own.oracle([gone.accountId, back.accountId])}`
    return Object.fromEntries(
      rows.map(({ id, state, tokens }) => [id === gone.accountId ? 'gone' : 'back', [state, tokens]]),
    )
  }
  expect(await state()).toEqual({ gone: ['DISABLED', 0], back: ['ACTIVE', 0] })

  await takeBack(own.oracle, 'point')
  expect(await state()).toEqual({ gone: ['ACTIVE', 1], back: ['ACTIVE', 1] })
  expect((await reconcile()).done.map(({ what, id }) => [what, id])).toEqual([['account.disable', gone.accountId]])
  expect(await state()).toEqual({ gone: ['DISABLED', 0], back: ['ACTIVE', 1] })
  expect((await reconcile()).done).toEqual([])
})

test('who was restricted, and what was withdrawn, is so again; what was ended or given since stays', async () => {
  await takeBack(own.oracle, 'base')
  forget()
  const [{ tenantId }] = workspaces as [Workspace, Workspace, Workspace]
  const [kept, freed] = [await plantAccount(own, tenantId), await plantAccount(own, tenantId)]
  await keep(own.oracle, 'point')
  const inside = <T>(work: Parameters<typeof own.installation.transaction<T>>[2]) =>
    own.installation.transaction(actor, { tenantId }, work)
  for (const { accountId } of [kept, freed]) {
    await inside((ctx) => restrictAccount(ctx, { tenantId, accountId, ground: 'CLAIMS' }))
    await inside((ctx) => recordObjection(ctx, { tenantId, accountId, processing: 'AI' }))
  }
  await inside((ctx) => restrictAccount(ctx, { tenantId, accountId: freed.accountId, ground: null }))
  await inside(async (ctx) =>
    ctx.recordObligation({
      ...{ act: 'consent.given', tenant_id: tenantId, account_id: freed.accountId, kind: 'ai_content' },
    }),
  )
  const state = async ({ accountId }: { accountId: string }) => {
    const [row] = await own.oracle`
      select (select ground from account_restriction where account_id = ${accountId}) as ground,
             (select string_agg(kind || ' ' || act, ',') from consent where account_id = ${accountId}) as acts`
    return [row?.['ground'], row?.['acts']]
  }

  await takeBack(own.oracle, 'point')
  expect(await state(kept)).toEqual([null, null])
  expect((await reconcile()).done.map(({ what, id }) => [what, id])).toEqual([
    ['account.restrict', kept.accountId],
    ['consent.withdraw', kept.accountId],
  ])
  expect([await state(kept), await state(freed)]).toEqual([
    ['CLAIMS', 'ai_content WITHDRAWN'],
    [null, null],
  ])
  expect((await reconcile()).done).toEqual([])
})

test('who had left by a group has left again, and whoever came into the group later stays', async () => {
  await takeBack(own.oracle, 'base')
  forget()
  const { oracle } = own
  const [{ tenantId }] = workspaces as [Workspace, Workspace, Workspace]
  const gone = await plantAccount(own, tenantId)
  const stays = await plantAccount(own, tenantId)
  const groupId = randomUUIDv7()
  await oracle`delete from membership where account_id in (${gone.accountId}, ${stays.accountId})`
  await oracle`insert into account_group (tenant_id, id, name, name_fold) values (${tenantId}, ${groupId}, 'All', 'all')`
  await oracle`insert into membership (tenant_id, id, group_id, role) values (${tenantId}, ${randomUUIDv7()}, ${groupId}, 'MEMBER')`
  const join = ({ accountId }: { accountId: string }) =>
    oracle.begin(async (sql) => {
      await sql`insert into group_member (tenant_id, group_id, account_id) values (${tenantId}, ${groupId}, ${accountId})`
      await sql`update account set group_ids = array[${groupId}::uuid] where id = ${accountId}`
    })
  await join(gone)
  await plantToken(own, gone, { scopes: ['workspace:read'] })
  await keep(oracle, 'grouped')
  const leave = ({ accountId }: { accountId: string }) =>
    own.installation.transaction(system, { tenantId }, async (ctx) => {
      await leaveGroups(ctx, { tenantId, accountId, groupIds: [groupId] })
      await endWithoutRole(ctx, tenantId, [accountId])
    })
  await leave(gone)
  await join(stays)
  await leave(stays)
  const state = () => oracle`
    select (select count(*) from group_member where account_id = ${gone.accountId})::int as groups,
           (select group_ids from account where id = ${gone.accountId}) as group_ids,
           (select count(*) from credential where account_id = ${gone.accountId} and revoked_at is null)::int as tokens`

  await takeBack(oracle, 'grouped')
  await join(stays)
  expect(await state()).toEqual([{ groups: 1, group_ids: [groupId], tokens: 1 }])
  expect((await reconcile()).done.map(({ what, id }) => [what, id])).toEqual([['account.leave', gone.accountId]])
  expect(await state()).toEqual([{ groups: 0, group_ids: [], tokens: 0 }])
  expect(await oracle`select 1 from group_member where account_id = ${stays.accountId}`).toHaveLength(1)
  expect((await reconcile()).done).toEqual([])
})

test('what nobody knows to have happened protects, and neither gives nor destroys', async () => {
  await takeBack(own.oracle, 'base')
  forget()
  const [one, two] = workspaces as [Workspace, Workspace, Workspace]
  const holdId = randomUUIDv7()
  // As a daemon leaves it that is killed between the ledger and the commit.
  await own.installation.ledger.append([
    {
      ...{
        act: 'hold.placed' as const,
        tenant_id: one.tenantId,
        id: holdId,
        scope: { kind: 'TENANT' as const, id: null },
      },
      ...{ placed_by: one.accountId, placed_at: new Date().toISOString(), reason: 'perhaps' },
    },
    { act: 'token.revoked', tenant_id: one.tenantId, id: one.tokens[0]! },
    { act: 'operator.added', tenant_id: one.tenantId, account_id: one.accountId },
    { act: 'workspace.purged', tenant_id: two.tenantId },
  ])
  const { desired, unsettled } = await readLedgers(own.installation)
  const steps = await planReconciliation(own.installation, desired)
  expect(unsettled).toBe(4)
  expect(steps.map(({ what, hindered_by, is_uncertain }) => [what, hindered_by, is_uncertain])).toEqual([
    ['hold.place', null, true],
    ['token.revoke', null, true],
    ['purge.repeat', 'uncertain', true],
  ])
  await repeatSteps({ installation: own.installation, actor, desired, recoveryPoint: new Date().toISOString() }, steps)
  const [hold] = await own.oracle`select reason, released_at from legal_hold where id = ${holdId}`
  expect(hold).toEqual({ reason: 'perhaps', released_at: null })
  expect(await own.oracle`select 1 from tenant where id = ${two.tenantId}`).toHaveLength(1)
})
