/** A workspace with people who ask about their data, over a daemon; its jobs run when the test says so, on clocks of the test. */
import { runPrivacy } from '../../src/core/areas/privacy/jobs.ts'
import type { Config } from '../../src/core/kernel/config/config.ts'
import type { Answered } from '../kit/daemon.ts'
import { type Credential, type Person, person, plantProof } from '../kit/people.ts'
import { type TwoWays, twoWays } from '../kit/two-ways.ts'

export interface PrivacyHouse {
  readonly two: TwoWays
  readonly sql: TwoWays['sql']
  readonly tenantId: string
  /** With buckets, labels and fields, as set-up makes it. */
  readonly collectionId: string
  /** OWNER, and no operator. */
  readonly owner: Person
  member(more?: Credential): Promise<Person>
  call(who: Person, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answered>
  /** The same, with a step-up. */
  proven(who: Person, method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answered>
  patch(who: Person, id: string, body: unknown, isProven?: boolean): Promise<Answered>
  /** Runs what the minute's job does, twice: time counts once both clocks saw it past, twice. */
  runJobs(): Promise<void>
  close(): Promise<void>
}

export async function privacyHouse(config: Partial<Config> = {}): Promise<PrivacyHouse> {
  const two = await twoWays({ purgeSettleSeconds: 0, ...config })
  const { sql, home } = two
  const { tenantId } = home
  await sql`insert into tenant_quota values (${tenantId}, 'api_requests_per_minute', 0)`
  const [board] = await sql<
    { container_id: string }[]
  >`select container_id from bucket where tenant_id = ${tenantId} and rank = 'a0'`
  const owner = await person(two.daemon, tenantId, { role: 'OWNER' })
  const call: PrivacyHouse['call'] = (who, method, path, body, headers = {}) =>
    two.daemon.call(method, `/api/v1${path}`, {
      token: who.token,
      ...(body === undefined ? {} : { body }),
      headers: { ...(method === 'PATCH' ? { 'content-type': 'application/merge-patch+json' } : {}), ...headers },
    })
  const proven: PrivacyHouse['proven'] = async (who, method, path, body, headers = {}) =>
    call(who, method, path, body, { 'x-service-step-up': await plantProof(two.daemon, who), ...headers })
  return {
    ...{ two, sql, tenantId, owner, call, proven, collectionId: board!.container_id },
    member: (more = {}) => person(two.daemon, tenantId, { role: 'MEMBER', ...more }),
    patch: (who, id, body, isProven = false) =>
      (isProven ? proven : call)(who, 'PATCH', `/privacy/requests/${id}`, body),
    async runJobs() {
      await runPrivacy.run(two.installation, {})
      two.clock.pass(1)
      await runPrivacy.run(two.installation, {})
      // Or the clocks would be a minute apart after sixty of them.
      two.clock.jump(-1)
    },
    close: () => two.close(),
  }
}

/** Opens, previews and grants the erasure of somebody, and lets the wait pass. Answers the request's id. */
export async function grantErasure(
  house: PrivacyHouse,
  who: Person,
  choices: Record<string, unknown> = {},
  isWaitOver = true,
): Promise<string> {
  const opened = await house.proven(who, 'POST', '/privacy/requests', { kind: 'ERASURE' })
  if (opened.status !== 201) throw new Error(`opening answered ${opened.status}: ${opened.text}`)
  const { id } = opened.json
  await house.runJobs()
  const preview = await house.call(house.owner, 'GET', `/privacy/requests/${id}/erasure-preview`)
  if (preview.status !== 200) throw new Error(`the preview answered ${preview.status}: ${preview.text}`)
  const body = { decision: 'GRANTED', choices, plan_hash: preview.json.hash }
  const granted = await house.patch(house.owner, id, body, true)
  if (granted.status !== 200) throw new Error(`granting answered ${granted.status}: ${granted.text}`)
  if (isWaitOver)
    await house.sql`update privacy_request set executes_at = now() - interval '2 minutes' where id = ${id}`
  return id
}
