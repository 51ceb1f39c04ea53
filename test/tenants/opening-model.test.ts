/**
 * Password opening against the specification's table, by random sequences of all that can
 * happen to it, its workspace's suspension among it. Spec: Password opening (per workspace),
 * every row and the refusals below it. 2,000 sequences with SVC_FAULTS=full.
 */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endPasswordOpening } from '../../src/core/areas/tenants/jobs.ts'
import type { Problem } from '../../src/core/contract/problem.ts'
import { tenantOperations as ops } from '../../src/core/contract/tenants/operations.ts'
import { workspace } from '../kit/people.ts'
import { type TwoWays, twoWays } from '../kit/two-ways.ts'

const sequences = process.env['SVC_FAULTS'] === 'full' ? 2_000 : 60

let ways: TwoWays
beforeAll(async () => {
  ways = await twoWays()
})
afterAll(() => ways.close())

/** What the specification says is so. */
interface Model {
  state: 'ACTIVE' | 'SUSPENDED' | 'PENDING_DELETION'
  before: 'ACTIVE' | 'SUSPENDED'
  /** Who asked for the opening in force, or null. */
  opening: string | null
  /** What trail and journal have to say, in order. */
  readonly entries: string[]
}

interface Real {
  readonly tenantId: string
  readonly slug: string
}

async function compare(model: Model, { tenantId, slug }: Real): Promise<void> {
  const { data } = await ways.call('recovery', ops.listTenants, { slug })
  expect(data[0]?.state).toBe(model.state)
  expect(data[0]?.password_opening?.requester ?? null).toBe(model.opening)
  const openings = "('tenant.password_opened', 'tenant.password_closed')"
  const trail = await ways.sql<{ action: string }[]>`
    select action from audit_entry where tenant_id = ${tenantId} and action in ${ways.sql.unsafe(openings)} order by id`
  const journal = await ways.sql<{ action: string }[]>`
    select action from journal where workspace_id = ${tenantId} and action in ${ways.sql.unsafe(openings)} order by id`
  for (const list of [trail, journal]) expect(list.map(({ action }) => action)).toEqual(model.entries)
  const told = await ways.sql<{ count: number }[]>`
    select count(*)::int as count from pgboss.job where name = 'tell_administrators' and data ->> 'tenantId' = ${tenantId}
    and data ->> 'name' in ('password_opened', 'password_closed')`
  expect(told[0]?.count, 'the administrators are told each time').toBe(model.entries.length)
}

/** The states that steps led to. */
const seen = new Set<string>()

abstract class Step implements fc.AsyncCommand<Model, Real> {
  check = () => true
  protected abstract expected(model: Model): string
  protected abstract act(real: Real): Promise<unknown>
  protected abstract next(model: Model): void
  abstract toString(): string

  async run(model: Model, real: Real): Promise<void> {
    const expected = this.expected(model)
    const outcome = await this.act(real).then(
      () => 'done',
      (error: Problem) => error.code ?? Promise.reject(error),
    )
    expect([this.toString(), outcome]).toEqual([this.toString(), expected])
    if (expected === 'done') this.next(model)
    seen.add(`${model.state} ${model.opening !== null}`)
    await compare(model, real)
  }
}

class Open extends Step {
  private readonly requester: string
  constructor(requester: string) {
    super()
    this.requester = requester
  }
  toString = () => `open for ${this.requester}`
  protected expected({ state }: Model): string {
    switch (state) {
      case 'ACTIVE':
        return 'done'
      case 'SUSPENDED':
        return 'admin.password_opening_suspended'
      case 'PENDING_DELETION':
        return 'admin.tenant_leaving'
    }
  }
  protected act = ({ tenantId }: Real) =>
    ways.call('recovery', ops.openPassword, { tenantId, body: { requester: this.requester, reason: 'r' } })
  protected next(model: Model) {
    model.opening = this.requester
    model.entries.push('tenant.password_opened')
  }
}

class Close extends Step {
  toString = () => 'close'
  protected expected = () => 'done'
  protected act = ({ tenantId }: Real) => ways.call('recovery', ops.closePassword, { tenantId })
  protected next(model: Model) {
    if (model.opening !== null) model.entries.push('tenant.password_closed')
    model.opening = null
  }
}

/** Its end comes; the job that removes the row comes, or has not come yet. */
class Pass extends Step {
  private readonly isSwept: boolean
  constructor(isSwept: boolean) {
    super()
    this.isSwept = isSwept
  }
  toString = () => `its end comes${this.isSwept ? ', and the job' : ''}`
  protected expected = () => 'done'
  protected async act({ tenantId }: Real) {
    await ways.sql`
      update password_opening set opened_at = now() - interval '2 hours', until = now() where tenant_id = ${tenantId} and until > now()`
    if (this.isSwept) await endPasswordOpening.run(ways.installation, { tenantId })
  }
  protected next(model: Model) {
    model.opening = null
  }
}

/** What happens to the workspace itself: it ends no opening, and decides whether one may begin. */
class Live extends Step {
  private readonly what: 'suspend' | 'resume' | 'delete' | 'cancel the deletion'
  constructor(what: 'suspend' | 'resume' | 'delete' | 'cancel the deletion') {
    super()
    this.what = what
  }
  toString = () => this.what
  protected expected({ state }: Model): string {
    return state === 'PENDING_DELETION' && (this.what === 'suspend' || this.what === 'resume')
      ? 'admin.tenant_leaving'
      : 'done'
  }
  protected act({ tenantId, slug }: Real): Promise<unknown> {
    switch (this.what) {
      case 'suspend':
        return ways.call('recovery', ops.suspendTenant, { tenantId })
      case 'resume':
        return ways.call('recovery', ops.resumeTenant, { tenantId })
      case 'delete':
        return ways.call('recovery', ops.deleteTenant, { tenantId, body: { confirmation: slug } })
      case 'cancel the deletion':
        return ways.call('recovery', ops.cancelTenantDeletion, { tenantId })
    }
  }
  protected next(model: Model) {
    const isLeaving = model.state === 'PENDING_DELETION'
    if (this.what === 'suspend') model.state = 'SUSPENDED'
    else if (this.what === 'resume') model.state = 'ACTIVE'
    else if (this.what === 'delete' && model.state !== 'PENDING_DELETION') {
      model.before = model.state
      model.state = 'PENDING_DELETION'
    } else if (this.what === 'cancel the deletion' && isLeaving) model.state = model.before
  }
}

const lives = ['suspend', 'resume', 'resume', 'delete', 'cancel the deletion'] as const
const steps = [
  fc.constantFrom('Ada', 'Bob').map((requester) => new Open(requester)),
  fc.constant(new Open('Cyd')),
  fc.constant(new Close()),
  fc.boolean().map((isSwept) => new Pass(isSwept)),
  fc.constantFrom(...lives).map((what) => new Live(what)),
]

/** Comes to every state of the workspace, opened and not: random sequences may miss the rare ones. */
const everyState = () => [
  new Open('Ada'),
  new Live('suspend'),
  new Close(),
  new Live('delete'),
  new Live('cancel the deletion'),
  new Live('resume'),
  new Open('Bob'),
  new Live('delete'),
  new Close(),
  new Live('cancel the deletion'),
]

let counter = 0

async function follow(commands: Iterable<fc.AsyncCommand<Model, Real>>): Promise<void> {
  counter += 1
  const slug = `opening-${counter}`
  const tenantId = await workspace(ways.daemon, slug)
  const model: Model = { state: 'ACTIVE', before: 'ACTIVE', opening: null, entries: [] }
  await fc.asyncModelRun(() => ({ model, real: { tenantId, slug } }), commands)
}

test('one walk through every state of the workspace, opened and not', async () => {
  await follow(everyState())
  expect(seen.size).toBe(6)
})

test(`${sequences} sequences, 0 divergences from the table`, async () => {
  await fc.assert(
    fc.asyncProperty(fc.commands(steps, { maxCommands: 12, size: 'max' }), (commands) => follow(commands)),
    { numRuns: sequences },
  )
}, 1_800_000)
