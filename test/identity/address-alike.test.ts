/**
 * Whether somebody has an address is told by no answer of `:add-address`, and by no answer's time: the same statements run.
 * SVC_FAULTS=full also measures: the medians of 200 interleaved calls each differ by at most 5 %. People 10; docs/decisions/0411.
 */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recorded } from '../../bench/recording.ts'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { perform } from '../../src/core/app/perform.ts'
import { operations } from '../../src/core/contract/operations.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import type { AccountActor } from '../../src/core/kernel/values/actor.ts'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Person, person, plantProof, setUp } from '../kit/people.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const rounds = 200

let daemon: TestDaemon
let installation: Installation
let close: () => Promise<void>
let tenantId: string
beforeAll(async () => {
  daemon = await testDaemon({ config: { inviteMailsPerHour: 10_000 } })
  tenantId = (await setUp(daemon)).tenantId
  await daemon.db.sql`insert into tenant_quota values (${tenantId}, 'api_requests_per_minute', 0)`
  const booted = await bootInstallation(daemon.config, { works: false, applicationName: 'svc test' })
  installation = booted.installation
  close = () => booted.close()
})
afterAll(async () => {
  await close()
  await daemon.close()
})

const addresses: Readonly<Record<string, () => Promise<string>>> = {
  free: async () => `${randomUUIDv7()}@people.example`,
  taken: async () => `${(await person(daemon, tenantId)).accountId}@people.example`,
}
const member = () => person(daemon, tenantId, { role: 'MEMBER' })

/** The statements of one call, without the values. */
async function statementsOf(who: Person, email: string): Promise<readonly string[]> {
  const actor: AccountActor = {
    kind: 'ACCOUNT',
    accountId: who.accountId,
    tenantId,
    credentialId: who.credentialId,
    bearerId: who.credentialId,
    sessionId: null,
    scopes: ['workspace:read', 'workspace:admin'],
    role: 'MEMBER',
    isOperator: false,
  }
  const stepUp = await plantProof(daemon, who)
  const params = { accountId: who.accountId }
  const statements = await recorded(installation, (recording) =>
    perform(recording, operations.addAddress, actor, { params, query: {}, body: { email }, stepUp }),
  )
  return statements.map(({ text }) =>
    text.replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, 'ID'),
  )
}

test('asking runs the same statements for a free and for a taken address', async () => {
  const free = await statementsOf(await member(), await addresses['free']!())
  const taken = await statementsOf(await member(), await addresses['taken']!())
  expect(free.length).toBeGreaterThan(8)
  expect(taken).toEqual(free)
})

test.runIf(isFull)(
  'and takes as long',
  async () => {
    const times = new Map(Object.keys(addresses).map((kind) => [kind, [] as number[]]))
    for (let n = 0; n < rounds; n += 1)
      for (const [kind, make] of Object.entries(addresses)) {
        const [who, email] = [await member(), await make()]
        const headers = { 'x-service-step-up': await plantProof(daemon, who) }
        const begun = performance.now()
        const { status } = await daemon.call('POST', `/api/v1/accounts/${who.accountId}:add-address`, {
          token: who.token,
          body: { email },
          headers,
        })
        times.get(kind)?.push(performance.now() - begun)
        expect(status).toBe(200)
      }
    const medians = [...times].map(([kind, all]) => [kind, all.sort((a, b) => a - b)[rounds / 2] ?? 0] as const)
    process.stdout.write(`:add-address: ${medians.map(([kind, ms]) => `${kind} ${ms.toFixed(2)} ms`).join(', ')}\n`)
    const all = medians.map(([, ms]) => ms)
    expect(Math.max(...all) / Math.min(...all)).toBeLessThan(1.05)
  },
  180_000,
)
