/**
 * One installation, reached in both ways: over a daemon's API as an operator, and directly on the
 * database. The test runs its jobs, on clocks that the test moves.
 */

import { bootInstallation } from '../../src/core/app/boot.ts'
import { performForAnswer } from '../../src/core/app/perform.ts'
import { type Answer, type Operation, type Sent, takesStepUp } from '../../src/core/contract/operation.ts'
import { Problem } from '../../src/core/contract/problem.ts'
import type { Config } from '../../src/core/kernel/config/config.ts'
import { requestOf } from '../../src/core/kernel/request/request.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import type { Clock } from '../../src/core/kernel/values/clock.ts'
import { type Answered, type TestDaemon, testDaemon } from './daemon.ts'
import { type Home, type Person, person, setUp } from './people.ts'
import { plantProof } from './proofs.ts'

export type Way = 'api' | 'recovery'
export const ways: readonly Way[] = ['api', 'recovery']

export interface TestClock extends Clock {
  /** Moves the time of day, as if the clock was set. */
  jump(seconds: number): void
  /** Lets time pass. */
  pass(seconds: number): void
}

export interface TwoWays {
  readonly daemon: TestDaemon
  readonly sql: TestDaemon['db']['sql']
  readonly home: Home
  readonly operator: Person
  /** The installation that recovery and the jobs use. */
  readonly installation: Installation
  readonly clock: TestClock
  call<O extends Operation>(way: Way, operation: O, sent: Sent<O>): Promise<Answer<O>>
  /** Over HTTP, with any answer; a step-up is proven if the operation needs one. */
  ask(operation: Operation, sent: Sent<Operation> & Record<string, unknown>): Promise<Answered>
  /** What SIGHUP does, in the daemon and in the process that recovers. */
  rereadKeyrings(): Promise<void>
  close(): Promise<void>
}

export async function twoWays(config: Partial<Config> = {}): Promise<TwoWays> {
  const daemon = await testDaemon({ config: { mode: 'multi', ...config } })
  const home = await setUp(daemon)
  const operator = await person(daemon, home.tenantId, { operator: true, expires: "now() + interval '10 years'" })
  const clock = testClock()
  const booted = await bootInstallation(daemon.config, { works: false, applicationName: 'svc test', clock })
  const { installation } = booted
  const ask: TwoWays['ask'] = async (operation, sent) => {
    const { params, query, body } = requestOf(operation, sent as Sent<Operation>)
    const proof = takesStepUp(operation, body)
      ? await plantProof(daemon.db.sql, operator, {
          operation: operation.id,
          target: Object.values(params as Record<string, string>)[0],
        })
      : undefined
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
      String((params as Record<string, unknown>)[name]),
    )
    const search = new URLSearchParams(query as Record<string, string>).toString()
    return daemon.call(operation.method, `/api/v1${path}${search && `?${search}`}`, {
      token: operator.token,
      ...(body === undefined ? {} : { body }),
      ...(proof ? { headers: { 'x-service-step-up': proof } } : {}),
    })
  }
  return {
    daemon,
    sql: daemon.db.sql,
    home,
    operator,
    installation,
    clock,
    ask,
    async call<O extends Operation>(way: Way, operation: O, sent: Sent<O>) {
      if (way === 'recovery') return performForAnswer(installation, operation, recoveryActor(), sent)
      const { status, json } = await ask(operation, sent as never)
      if (status >= 400)
        throw new Problem(json.code, json.params, { status, ...(json.errors ? { errors: json.errors } : {}) })
      return json as Answer<O>
    },
    async rereadKeyrings() {
      await daemon.reload()
      await booted.rereadKeyring()
    },
    async close() {
      await booted.close()
      await daemon.close()
    },
  }
}

export function testClock(): TestClock {
  let ahead = 0
  let monotonic = 0
  return {
    now: () => Date.now() + ahead * 1000,
    monotonicSeconds: () => monotonic,
    jump(seconds) {
      ahead += seconds
    },
    pass(seconds) {
      ahead += seconds
      monotonic += seconds
    },
  }
}
