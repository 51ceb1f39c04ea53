/** What the lines of the ledgers mean, without a database: which are read, and what they want to be so. */
import { describe, expect, test } from 'vitest'
import { desiredStateOf } from '../../src/core/areas/recovery/obligations/all.ts'
import { isObligationOf, Obligation, obligationNames } from '../../src/core/contract/obligation.ts'

const tenant_id = '0199c0de-0000-7000-8000-000000000001'
const id = '0199c0de-0000-7000-8000-000000000002'
const account_id = '0199c0de-0000-7000-8000-000000000003'

/** Every act as ledgers have it from the first release on; the reason is sealed in the line. */
const written = {
  holds: [
    {
      act: 'hold.placed',
      tenant_id,
      id,
      scope: { kind: 'TENANT', id: null },
      placed_by: account_id,
      placed_at: '2026-11-20T12:00:00.000Z',
      reason: 'sealed',
    },
    { act: 'hold.released', tenant_id, id },
  ],
  purges: [{ act: 'workspace.purged', tenant_id }],
  operators: [
    { act: 'operator.added', tenant_id, account_id },
    { act: 'operator.added', tenant_id, account_id, probation_until: '2026-11-21T12:00:00.000Z' },
    { act: 'operator.removed', tenant_id, account_id },
  ],
  tokens: [{ act: 'token.revoked', tenant_id, id }],
  departures: [{ act: 'account.left', tenant_id, account_id }],
  disablings: [
    { act: 'account.disabled', tenant_id, account_id },
    { act: 'account.enabled', tenant_id, account_id },
  ],
  restrictions: [
    { act: 'account.restricted', tenant_id, account_id, ground: 'ACCURACY' },
    { act: 'account.unrestricted', tenant_id, account_id },
  ],
  consents: [
    { act: 'consent.withdrawn', tenant_id, account_id, kind: 'statistics' },
    { act: 'consent.given', tenant_id, account_id, kind: 'statistics' },
  ],
  erasures: [
    {
      ...({ act: 'account.erased', tenant_id, account_id, texts: 'REDACT', files: 'KEEP' } as const),
      mentions: [`ITEM:${id}`],
    },
  ],
} as const satisfies Record<string, readonly Obligation[]>

/** Lines a second apart, in this order; those at `unsettled` without an outcome. */
const lines = (acts: readonly Obligation[], ...unsettled: number[]) =>
  acts.map((act, at) => ({
    seq: at + 1,
    at: `2026-11-20T12:00:0${at}.000Z`,
    mac: `${at}`,
    act,
    isSettled: !unsettled.includes(at),
  }))

describe('an act', () => {
  test.each(obligationNames.flatMap((name) => written[name].map((act) => [act.act, name, act] as const)))(
    '%s is read as one of %s, and nothing of it is dropped',
    (_, name, act) => {
      expect(Obligation.parse(act)).toEqual(act)
      expect(obligationNames.filter((other) => isObligationOf(other, act))).toEqual([name])
    },
  )

  test('with a member nobody declared is not read', () => {
    expect(Obligation.safeParse({ ...written.tokens[0], name: 'CI' }).success).toBe(false)
    expect(Obligation.safeParse({ act: 'token.minted', tenant_id, id }).success).toBe(false)
  })
})

describe('a line without an outcome', () => {
  const [placed, released] = written.holds
  const [added, , removed] = written.operators

  test('counts where it protects', () => {
    const [disabled] = written.disablings
    const acts = [placed, removed, ...written.tokens, ...written.departures, disabled]
    const desired = desiredStateOf(lines(acts, 0, 1, 2, 3, 4))
    expect(desired.holds.get(id)).toMatchObject({ isCertain: false, releasedAt: null })
    expect(desired.operators.get(account_id)).toMatchObject({ isRegistered: false, isCertain: false })
    expect(desired.tokens.get(id)).toEqual({ tenantId: tenant_id, isCertain: false })
    expect(desired.departures.get(account_id)).toMatchObject({ isCertain: false })
    expect(desired.disablings.get(account_id)).toEqual({ tenantId: tenant_id, isCertain: false })
  })

  test('does not count where it gives or destroys', () => {
    const [disabled, enabled] = written.disablings
    const acts = [placed, released, added, ...written.purges, disabled, enabled]
    const desired = desiredStateOf(lines(acts, 1, 2, 3, 5))
    expect(desired.holds.get(id)).toMatchObject({ isCertain: true, releasedAt: null })
    expect(desired.operators.size).toBe(0)
    expect(desired.disablings.get(account_id)).toMatchObject({ isCertain: true })
    expect(desired.purges).toEqual({ certain: new Set(), uncertain: new Set([tenant_id]) })
  })

  test('is certain once another line knows', () => {
    const twice = [...written.tokens, ...written.tokens, ...written.purges, ...written.purges]
    const desired = desiredStateOf(lines(twice, 1, 2))
    expect(desired.tokens.get(id)?.isCertain).toBe(true)
    expect(desired.purges).toEqual({ certain: new Set([tenant_id]), uncertain: new Set() })
  })
})

test('of an account the last line decides, in the order of moments and not of ledgers', () => {
  const [added, , removed] = written.operators
  const [first, second] = lines([added, removed])
  expect(desiredStateOf([second!, first!]).operators.get(account_id)).toMatchObject({ isRegistered: false })
  const [earlier, later] = lines([removed, added])
  expect(desiredStateOf([later!, earlier!]).operators.get(account_id)).toMatchObject({ isRegistered: true })
})

test('a hold stays wanted although it was released', () => {
  expect(desiredStateOf(lines(written.holds)).holds.get(id)).toMatchObject({ releasedAt: '2026-11-20T12:00:01.000Z' })
})

describe('an account', () => {
  const [disabled, enabled] = written.disablings

  test('is wanted disabled by the last line about it', () => {
    expect(desiredStateOf(lines([disabled, enabled])).disablings.size).toBe(0)
    expect(desiredStateOf(lines([disabled, enabled, disabled])).disablings.get(account_id)).toMatchObject({
      isCertain: true,
    })
  })
})
