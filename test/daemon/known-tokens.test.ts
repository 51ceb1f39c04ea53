/** Whoever makes tokens up waits for itself: a token that the gate has not seen yet waits with those of its own source. Decision record 0143. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { operations } from '../../src/core/contract/operations.ts'
import { openPool, type Pool } from '../../src/core/kernel/database/pool.ts'
import { hashToken, mintToken } from '../../src/core/kernel/values/token.ts'
import type { CredentialRow } from '../../src/daemon/credential.ts'
import { type Gate, openGate } from '../../src/daemon/gate.ts'
import { openHeldRefusals } from '../../src/daemon/held-refusals.ts'
import { openKnownTokens } from '../../src/daemon/known-tokens.ts'
import { openRate } from '../../src/daemon/rate.ts'
import { openSourceRate } from '../../src/daemon/source-rate.ts'
import { joinedWorkspace, type Person } from '../kit/accounts.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'

describe('at the gate, with one connection and room for three of a lane', () => {
  let own: TestInstallation
  let pool: Pool
  let gate: Gate
  let person: Person
  beforeAll(async () => {
    own = await testInstallation()
    person = await joinedWorkspace(own)
  })
  beforeEach(() => {
    pool = openPool(own.daemon, { size: 1, maxWaiting: 3, acquireMs: 60_000, applicationName: 'look-ups' })
    gate = openGate({ ...own.installation, pool }, openRate(pool), openSourceRate(0, openHeldRefusals()))
    return () => pool.close(0)
  })
  afterAll(() => own.close())

  const call = (token: string, remoteAddress: string) =>
    gate
      .admit(operations.getOwnAccount, { headers: { authorization: `Bearer ${token}` }, socket: { remoteAddress } })
      .then(
        (actor) => ('accountId' in actor ? actor.accountId : actor.kind),
        (error: Error) => error.message,
      )
  const madeUp = () => mintToken('session').token
  const waiting = (count: number) => expect.poll(() => pool.counts.waiting).toBe(count)

  /** Takes the one connection; answers what gives it back. */
  async function holdConnection(): Promise<() => void> {
    const [begun, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const held = pool.transaction('', async (tx) => {
      await tx`select 1`
      begun.resolve()
      await over.promise
    })
    held.catch(begun.reject)
    await begun.promise
    return over.resolve
  }

  test('a connection is whoever it says with each call, also if it said somebody else before', async () => {
    const other = await joinedWorkspace(own)
    const socket = { remoteAddress: '127.0.0.2' }
    const said = async (authorization: string | undefined) => {
      const headers = authorization === undefined ? {} : { authorization }
      const heard = { headers, socket }
      const lane = gate.laneOf(heard)
      const foreseen = gate.foresee(operations.getOwnAccount, heard)?.actor.accountId
      const admitted = await gate.admit(operations.getOwnAccount, heard).then(
        (actor) => ('accountId' in actor ? actor.accountId : actor.kind),
        (error: Error) => error.message,
      )
      return { lane, foreseen, admitted }
    }
    for (const { tenantId, accountId, session } of [person, other]) {
      await said(`Bearer ${session.access_token}`)
      const served = { lane: tenantId, foreseen: accountId, admitted: accountId }
      expect(await said(`Bearer ${session.access_token}`)).toEqual(served)
      expect(await said(`bearer  ${session.access_token}`)).toEqual(served)
      const nobody = { lane: undefined, foreseen: undefined, admitted: 'auth.unauthenticated' }
      expect(await said(undefined)).toEqual(nobody)
      expect(await said(`Bearer ${session.access_token}x`)).toEqual(nobody)
      expect(await said(`Basic ${session.access_token}`)).toEqual(nobody)
      expect(await said(`Bearer ${session.access_token}`)).toEqual(served)
    }
  })

  test('made-up tokens of one address fill a lane of their own, and a fresh token of another is served', async () => {
    const release = await holdConnection()
    const flood = Array.from({ length: 4 }, () => call(madeUp(), '127.0.0.2'))
    await waiting(3)
    const fresh = call(person.session.access_token, '127.0.0.3')
    expect(await flood[3]).toMatch(/too many/)
    release()
    expect(await fresh).toBe(person.accountId)
    await Promise.all(flood)
  })

  test('one subscriber has one lane, however many addresses of IPv6 it has', async () => {
    const release = await holdConnection()
    const addresses = ['2001:db8:1::1', '2001:db8:1:2::1', '2001:db8:1:ffff::1', '2001:db8:2::1']
    const calls = addresses.map((address) => call(madeUp(), address))
    await waiting(4)
    expect(pool.counts.waitingLanes).toBe(2)
    release()
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['auth.unauthenticated']))
  })

  test('a token that ended waits with its source, not with its workspace', async () => {
    const ended = await joinedWorkspace(own)
    const other = await joinedWorkspace(own)
    expect(await call(ended.session.access_token, '127.0.0.2')).toBe(ended.accountId)
    await own.oracle`update credential set revoked_at = now() where hash = ${hashToken(ended.session.access_token)}`
    expect(await call(ended.session.access_token, '127.0.0.2')).toBe('auth.unauthenticated')
    expect(await call(other.session.access_token, '127.0.0.2')).toBe(other.accountId)
    const release = await holdConnection()
    const calls = [madeUp(), ended.session.access_token, other.session.access_token].map((token) =>
      call(token, '127.0.0.2'),
    )
    await waiting(3)
    expect(pool.counts.waitingLanes).toBe(2)
    release()
    await Promise.all(calls)
  })
})

describe('what is remembered', () => {
  const hashOf = (name: string) => createHash('sha256').update(name).digest()
  const nowhere = () => 'elsewhere'
  const rowOf = (tenantId: string) => ({ tenant_id: tenantId }) as CredentialRow

  test('a token is known by its workspace, and its source is not asked for', () => {
    const tokens = openKnownTokens()
    tokens.remember(hashOf('one'), rowOf('home'))
    const asked = () => {
      throw new Error('the source was asked for')
    }
    expect(tokens.laneOf(hashOf('one'), asked)).toBe('home')
    expect(tokens.laneOf(hashOf('another'), nowhere)).toBe('unknown elsewhere')
  })

  test('the row is that of the last look-up, until the token is forgotten', () => {
    const tokens = openKnownTokens()
    const [before, after] = [rowOf('home'), rowOf('home')]
    tokens.remember(hashOf('one'), before)
    tokens.remember(hashOf('one'), after)
    expect(tokens.find(hashOf('one'))).toBe(after)
    tokens.forget(hashOf('one'))
    expect(tokens.find(hashOf('one'))).toBeUndefined()
  })

  test('the one unheard of for longest is forgotten first', () => {
    const tokens = openKnownTokens(2)
    for (const name of ['one', 'two']) tokens.remember(hashOf(name), rowOf('home'))
    expect(tokens.laneOf(hashOf('one'), nowhere)).toBe('home')
    tokens.remember(hashOf('three'), rowOf('home'))
    expect(['one', 'two', 'three'].map((name) => tokens.laneOf(hashOf(name), nowhere))).toEqual([
      'home',
      'unknown elsewhere',
      'home',
    ])
  })
})
