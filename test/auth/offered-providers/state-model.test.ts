/**
 * The offer of a provider against the specification's table, by random sequences of all that
 * can happen to it. Spec: Offered identity provider (installation level), every row; Admin:
 * identity providers, rules 3 to 5. 2,000 sequences with SVC_FAULTS=full.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { performForAnswer } from '../../../src/core/app/perform.ts'
import { endOffer } from '../../../src/core/areas/auth/offered-providers/jobs.ts'
import type { Problem } from '../../../src/core/contract/problem.ts'
import { identityProviderOperations as ops } from '../../../src/core/contract/providers/offered.ts'
import { providerOperations, providerSignInOperations } from '../../../src/core/contract/providers/operations.ts'
import { type Release, readRelease } from '../../../src/core/kernel/egress/guard.ts'
import { type AccountActor, anyone } from '../../../src/core/kernel/values/actor.ts'
import { type HostileProvider, hostileClient, hostileProvider } from '../../kit/hostile-provider.ts'
import { person, workspace } from '../../kit/people.ts'
import { type TwoWays, twoWays } from '../../kit/two-ways.ts'

const sequences = process.env['SVC_FAULTS'] === 'full' ? 2_000 : 60
const workspaces = 3

let ways: TwoWays
let issuer: HostileProvider
const owners: { actor: AccountActor; slug: string }[] = []

beforeAll(async () => {
  issuer = await hostileProvider()
  ways = await twoWays({ egress: readRelease(new URL(issuer.issuer).host) as Release })
  for (let number = 0; number < workspaces; number += 1) {
    const slug = `model-${number}`
    const tenantId = await workspace(ways.daemon, slug)
    const { accountId, credentialId } = await person(ways.daemon, tenantId)
    const actor: AccountActor = {
      kind: 'ACCOUNT',
      accountId,
      tenantId,
      credentialId,
      bearerId: credentialId,
      sessionId: null,
      scopes: ['workspace:read', 'workspace:write', 'workspace:admin'],
      role: 'OWNER',
      isOperator: false,
    }
    owners.push({ actor, slug })
  }
})
afterAll(async () => {
  await ways.close()
  await issuer.close()
})

/** What the specification says is so. */
interface Model {
  state: 'OFFERED' | 'WITHDRAWAL_ANNOUNCED' | 'ENDED' | 'REMOVED'
  readonly on: Set<number>
}

interface Real {
  readonly providerId: string
}

type Outcome = 'done' | string

/** How many steps led to each state. */
const seen = new Map<Model['state'], number>()

const outcomeOf = async (work: Promise<unknown>): Promise<Outcome> =>
  work.then(
    () => 'done',
    (error: Problem) => error.code ?? Promise.reject(error),
  )

const body = () => ({ issuer: issuer.issuer, client_id: hostileClient })
/** Everything there is to see must be what the model says. */
async function compare(model: Model, { providerId }: Real): Promise<void> {
  const { data } = await ways.call('recovery', ops.listIdentityProviders, {})
  const shown = data.find(({ id }) => id === providerId)
  if (model.state === 'REMOVED') return expect(shown).toBeUndefined()
  expect(shown).toMatchObject({
    state: model.state,
    enabled: model.state !== 'ENDED',
    workspaces_on: model.on.size,
  })
  expect(shown?.withdraw_at === null).toBe(model.state === 'OFFERED')
  for (const [number, { slug }] of owners.entries()) {
    const rules = await performForAnswer(ways.installation, providerSignInOperations.getSignInRules, anyone, {
      workspace: slug,
    })
    const isServed = model.on.has(number) && model.state !== 'ENDED'
    expect(rules.providers.some(({ id }) => id === providerId)).toBe(isServed)
  }
}

abstract class Step implements fc.AsyncCommand<Model, Real> {
  check = () => true
  protected abstract expected(model: Model): Outcome
  protected abstract act(real: Real, model: Model): Promise<unknown>
  protected abstract next(model: Model): void
  abstract toString(): string

  async run(model: Model, real: Real): Promise<void> {
    const expected = this.expected(model)
    expect([this.toString(), await outcomeOf(this.act(real, model))]).toEqual([this.toString(), expected])
    if (expected === 'done') this.next(model)
    seen.set(model.state, (seen.get(model.state) ?? 0) + 1)
    await compare(model, real)
  }
}

const hour = 3_600_000
const moments = {
  'nothing said': () => undefined,
  'a year ago': () => -8760 * hour,
  now: () => 0,
  'in an hour': () => hour,
  'in 23 hours': () => 23 * hour,
  'in 25 hours': () => 25 * hour,
  'in a month': () => 720 * hour,
} as const
type When = keyof typeof moments
const isSoon = (when: When) => ['a year ago', 'now', 'in an hour', 'in 23 hours'].includes(when)

class Withdraw extends Step {
  private readonly when: When
  private readonly count: 'right' | 'wrong' | 'none'
  constructor(when: When, count: 'right' | 'wrong' | 'none') {
    super()
    this.when = when
    this.count = count
  }
  toString = () => `withdraw ${this.when}, count ${this.count}`

  protected expected({ state }: Model): Outcome {
    if (state === 'REMOVED') return 'not_found'
    if (state === 'ENDED') return 'identity_provider.already_withdrawn'
    return isSoon(this.when) && this.count !== 'right' ? 'identity_provider.withdraw_count_mismatch' : 'done'
  }
  protected act({ providerId }: Real, { on }: Model) {
    const ahead = moments[this.when]()
    return ways.call('recovery', ops.withdrawIdentityProvider, {
      providerId,
      body: {
        ...(ahead === undefined ? {} : { withdraw_at: new Date(Date.now() + ahead).toISOString() }),
        ...(this.count === 'none' ? {} : { confirm_count: on.size + (this.count === 'wrong' ? 1 : 0) }),
      },
    })
  }
  protected next(model: Model) {
    model.state = isSoon(this.when) ? 'ENDED' : 'WITHDRAWAL_ANNOUNCED'
  }
}

class Cancel extends Step {
  toString = () => 'cancel'
  protected expected = ({ state }: Model) => (state === 'REMOVED' ? 'not_found' : 'done')
  protected act = ({ providerId }: Real) => ways.call('recovery', ops.cancelIdentityProviderWithdrawal, { providerId })
  protected next(model: Model) {
    model.state = 'OFFERED'
  }
}

/** The date is reached; the job that notes it comes, or has not come yet. */
class Pass extends Step {
  private readonly isNoted: boolean
  constructor(isNoted: boolean) {
    super()
    this.isNoted = isNoted
  }
  toString = () => `the date comes${this.isNoted ? ', and the job' : ''}`
  protected expected = () => 'done'
  protected async act({ providerId }: Real) {
    await ways.sql`
      update identity_provider set withdraw_at = now() - interval '1 second' where id = ${providerId} and withdraw_at > now()`
    if (this.isNoted) await endOffer.run(ways.installation, { providerId })
  }
  protected next(model: Model) {
    if (model.state === 'WITHDRAWAL_ANNOUNCED') model.state = 'ENDED'
  }
}

class Switch extends Step {
  private readonly number: number
  private readonly isOn: boolean
  constructor(number: number, isOn: boolean) {
    super()
    this.number = number
    this.isOn = isOn
  }
  toString = () => `workspace ${this.number} switches it ${this.isOn ? 'on' : 'off'}`
  protected expected({ state, on }: Model): Outcome {
    if (state === 'REMOVED') return 'not_found'
    return this.isOn && !on.has(this.number) && state === 'ENDED' ? 'identity_provider.already_withdrawn' : 'done'
  }
  protected act({ providerId }: Real) {
    const { actor } = owners[this.number]!
    return performForAnswer(ways.installation, providerOperations.offerProvider, actor, {
      providerId,
      body: { offered: this.isOn },
    })
  }
  protected next({ on }: Model) {
    if (this.isOn) on.add(this.number)
    else on.delete(this.number)
  }
}

class Put extends Step {
  private readonly enabled: boolean | undefined
  constructor(enabled: boolean | undefined) {
    super()
    this.enabled = enabled
  }
  toString = () => `put with enabled ${this.enabled}`
  protected expected({ state }: Model): Outcome {
    if (state === 'REMOVED') return 'not_found'
    const isSame = this.enabled === undefined || this.enabled === (state !== 'ENDED')
    return isSame ? 'done' : 'identity_provider.withdraw_instead'
  }
  protected act = ({ providerId }: Real) =>
    ways.call('recovery', ops.changeIdentityProvider, {
      providerId,
      body: { ...body(), ...(this.enabled === undefined ? {} : { enabled: this.enabled }) },
    })
  protected next() {}
}

class Remove extends Step {
  toString = () => 'remove'
  protected expected({ state, on }: Model): Outcome {
    if (state === 'REMOVED') return 'not_found'
    if (state === 'ENDED' || on.size === 0) return 'done'
    return state === 'OFFERED' ? 'identity_provider.withdraw_first' : 'identity_provider.remove_after_withdrawal'
  }
  protected act = ({ providerId }: Real) => ways.call('recovery', ops.removeIdentityProvider, { providerId })
  protected next(model: Model) {
    model.state = 'REMOVED'
    model.on.clear()
  }
}

const number = fc.nat(workspaces - 1)
const steps = [
  fc
    .tuple(fc.constantFrom(...(Object.keys(moments) as When[])), fc.constantFrom('right', 'right', 'wrong', 'none'))
    .map(([when, count]) => new Withdraw(when, count as 'right' | 'wrong' | 'none')),
  fc.constant(new Cancel()),
  fc.boolean().map((isNoted) => new Pass(isNoted)),
  fc.tuple(number, fc.boolean()).map(([which, isOn]) => new Switch(which, isOn)),
  fc.tuple(number, fc.constant(true)).map(([which, isOn]) => new Switch(which, isOn)),
  fc.constantFrom(undefined, true, false).map((enabled) => new Put(enabled)),
  fc.constant(new Remove()),
]

test(`${sequences} sequences, 0 divergences from the table`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(steps, { maxCommands: 12, size: 'max' }), async (commands) => {
      const { id } = await ways.call('recovery', ops.createIdentityProvider, { body: body() })
      const model: Model = { state: 'OFFERED', on: new Set() }
      await fc.asyncModelRun(() => ({ model, real: { providerId: id } }), commands)
      // What is left behind would only make the next lists longer.
      await ways.sql`delete from provider_switch where provider_id = ${id}`
      await ways.sql`delete from identity_provider where id = ${id}`
    }),
    { numRuns: sequences },
  )
  expect([...seen.keys()].sort(), 'the sequences come to every state').toEqual([
    'ENDED',
    'OFFERED',
    'REMOVED',
    'WITHDRAWAL_ANNOUNCED',
  ])
  expect(Math.min(...seen.values()), 'and leave each again').toBeGreaterThan(sequences / 30)
}, 1_800_000)
