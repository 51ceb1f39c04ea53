/**
 * Whether an address has an account, or a workspace is there, is told by no answer, and by no answer's time: the same
 * statements run. SVC_FAULTS=full also measures: the medians of 400 interleaved calls each differ by at most 5 %.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recorded } from '../../bench/recording.ts'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { perform } from '../../src/core/app/perform.ts'
import { readSignIn } from '../../src/core/areas/auth/sign-in/sign-in-methods.ts'
import { operations } from '../../src/core/contract/operations.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import { anyone } from '../../src/core/kernel/values/actor.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { setUp } from '../kit/people.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const rounds = 400

let daemon: TestDaemon
let installation: Installation
let close: () => Promise<void>
/** An account for each call: what is counted for one must not lock the next. */
const people = Array.from({ length: rounds + 1 }, (_, n) => `known-${n}@home.example`)
beforeAll(async () => {
  daemon = await testDaemon()
  const { tenantId, accountId } = await setUp(daemon)
  await daemon.db.sql`
    insert into account (tenant_id, id, kind, state, email, email_fold, display_name, password_hash)
    select ${tenantId}, gen_random_uuid(), 'PERSON', 'ACTIVE', email, email, 'Somebody',
           (select password_hash from account where id = ${accountId})
    from unnest(${people}::text[]) email`
  const booted = await bootInstallation(daemon.config, { works: false, applicationName: 'svc test' })
  installation = booted.installation
  close = () => booted.close()
})
afterAll(async () => {
  await close()
  await daemon.close()
})

const callers: Readonly<Record<string, (n: number) => { workspace: string; email: string }>> = {
  'a known address': (n) => ({ workspace: 'home', email: people[n] ?? '' }),
  'an unknown address': (n) => ({ workspace: 'home', email: `nobody-${n}@home.example` }),
  'an unknown workspace': (n) => ({ workspace: 'nowhere', email: `nobody-${n}@home.example` }),
}
const guess = { password: 'a guess' }

test('the account is looked up once, not for each account of the workspace, where there are no statistics yet', async () => {
  const medians: number[] = []
  for (const caller of Object.values(callers)) {
    const { workspace, email } = caller(rounds)
    const times: number[] = []
    for (let n = 0; n < 21; n += 1) {
      const begun = performance.now()
      await installation.transaction(anyone, { readOnly: true }, (ctx) => readSignIn(ctx, workspace, email))
      times.push(performance.now() - begun)
    }
    medians.push(times.sort((a, b) => a - b)[10] ?? 0)
  }
  // It was 2, 25 and 1 ms with 400 accounts.
  expect(Math.max(...medians) / Math.min(...medians), `${medians} ms`).toBeLessThan(5)
})

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Actual Loops': number
  readonly Plans?: readonly PlanNode[]
}

/** What PostgreSQL read besides the workspace itself. */
const readBy = (node: PlanNode): readonly string[] => [
  ...(node['Actual Loops'] > 0 && node['Relation Name'] !== undefined && node['Relation Name'] !== 'tenant'
    ? [`${node['Node Type']} ${node['Relation Name']} ${node['Index Name'] ?? ''}`]
    : []),
  ...(node.Plans ?? []).flatMap(readBy),
]

test('of an unknown workspace PostgreSQL skips nothing of the look-up', async () => {
  const readFor = async (caller: string) => {
    const body = callers[caller]?.(rounds)
    const statements = await recorded(installation, (recording) =>
      perform(recording, operations.forgetPassword, anyone, { params: {}, query: {}, body }),
    )
    const { text, values } = statements.find((statement) => statement.text.includes('from tenant t')) ?? expect.fail()
    const rows = await daemon.db.sql.begin(async (sql) => {
      await sql`set local role svc_installation`
      return sql.unsafe(`explain (analyze, format json) ${text}`, values as never[])
    })
    return readBy(rows[0]?.['QUERY PLAN'][0].Plan)
  }
  const unknown = await readFor('an unknown address')
  expect(unknown.length).toBeGreaterThan(5)
  // It read nothing at all.
  expect(await readFor('an unknown workspace')).toEqual(unknown)
})

test('what is found for an unknown workspace is nobody: an address of another one gets no mail', async () => {
  const facts = await installation.transaction(anyone, { readOnly: true }, (ctx) =>
    readSignIn(ctx, 'nowhere', people[rounds] ?? ''),
  )
  expect(facts).toMatchObject({ workspaceState: null, account: undefined, openedUntil: null })
  const [home] = await daemon.db.sql<{ id: string }[]>`select id from tenant`
  expect(facts.tenantId).not.toBe(home?.id)
})

describe.each([
  ['POST /auth/sessions', operations.signIn, guess],
  ['POST /auth/sessions:set-password', operations.signInWithNewPassword, { ...guess, new_password: 'another guess' }],
  ['POST /auth/password:forgot', operations.forgetPassword, {}],
] as const)('%s', (name, operation, more) => {
  /** The statements of one call, without the values: the roles and workspaces that a transaction takes are values too. */
  const statementsOf = async (body: object): Promise<readonly string[]> => {
    const statements = await recorded(installation, (recording) =>
      perform(recording, operation, anyone, { params: {}, query: {}, body }).catch(() => {}),
    )
    return statements.map(({ text }) =>
      text.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID'),
    )
  }

  test('runs the same statements whether there is an account, a workspace, or neither', async () => {
    const [known, unknown, nowhere] = await Promise.all(
      Object.values(callers).map((caller) => statementsOf({ ...caller(rounds), ...more })),
    )
    expect(known?.length).toBeGreaterThan(4)
    expect(unknown).toEqual(known)
    expect(nowhere).toEqual(known)
  })

  test.runIf(isFull)(
    'takes as long',
    async () => {
      const times = new Map(Object.keys(callers).map((caller) => [caller, [] as number[]]))
      const all = Object.entries(callers)
      for (let n = 0; n < rounds; n += 1)
        // In both orders, so that none always pays for what the same one before it leaves behind.
        for (const [caller, bodyOf] of n % 2 === 0 ? all : all.toReversed()) {
          const body = { ...bodyOf(n), ...more }
          const begun = performance.now()
          const { status } = await daemon.call('POST', `/api/v1${operation.path}`, { body })
          times.get(caller)?.push(performance.now() - begun)
          expect([204, 401]).toContain(status)
        }
      const medians = [...times].map(([caller, ms]) => [caller, ms.sort((a, b) => a - b)[rounds / 2] ?? 0] as const)
      process.stdout.write(`${name}: ${medians.map(([caller, ms]) => `${caller} ${ms.toFixed(2)} ms`).join(', ')}\n`)
      const of = medians.map(([, ms]) => ms)
      expect(Math.max(...of) / Math.min(...of)).toBeLessThan(1.05)
    },
    180_000,
  )
})
