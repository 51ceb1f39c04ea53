/** A workspace whose rules a test sets, and whose nights it brings about. */
import { randomBytes, randomUUIDv7 } from 'node:crypto'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { archiveDone } from '../../src/core/areas/items/done.ts'
import { sweepTrash } from '../../src/core/areas/items/trash/sweep.ts'
import { runRulesJob } from '../../src/core/areas/retention-runs/nightly.ts'
import type { RetentionRule, RetentionRun, RuleKind } from '../../src/core/contract/retention/rules.ts'
import { type Desk, openDesk } from '../items/desk.ts'
import type { Answered } from '../kit/daemon.ts'
import { plantProof } from '../kit/proofs.ts'
import { type TestClock, testClock } from '../kit/two-ways.ts'

interface Place {
  readonly collectionId: string
}

export interface RuleDesk extends Pick<Desk, 'ask' | 'people' | 'tenantId' | 'close'> {
  readonly sql: Desk['daemon']['db']['sql']
  readonly clock: TestClock
  rules(): Promise<RetentionRule[]>
  rule(kind: RuleKind): Promise<RetentionRule>
  /** As the OWNER, with a proof. */
  put(kind: RuleKind, days: number, more?: object): Promise<Answered>
  set(kind: RuleKind, days: number, more?: object): Promise<RetentionRule>
  hashOf(kind: RuleKind, days: number): Promise<string>
  runs(): Promise<RetentionRun[]>
  /** The params of entries of the trail, the oldest first. */
  trail(action: string): Promise<unknown[]>
  /** The data of events, the oldest first. */
  events(name: string): Promise<Record<string, unknown>[]>
  /** Mails of a kind that wait. */
  mails(name: string): Promise<number>
  /** A collection with items. */
  items(count: number): Promise<Place>
  /** They have been in the trash for so many days. */
  trashed(place: Place, days: number): Promise<void>
  done(place: Place, days: number): Promise<void>
  /** A token that was revoked so many days ago. */
  revoked(days: number, accountId?: string): Promise<string>
  disabled(days: number): Promise<string>
  /** The nightly run, behind readings of clocks that agree. */
  night(): Promise<void>
  sweep(): Promise<void>
  /** As it was in the beginning. */
  clear(): Promise<void>
}

export async function ruleDesk(): Promise<RuleDesk> {
  const desk = await openDesk()
  const { ask, tenantId, people, daemon } = desk
  const { sql } = daemon.db
  const clock = testClock()
  const config = { ...daemon.config, purgeSettleSeconds: 0 }
  const booted = await bootInstallation(config, { works: false, applicationName: 'svc test', clock })
  const { installation } = booted
  const accountId = people.VIEWER.accountId
  const twice = async (job: { run(on: typeof installation, payload: Record<string, never>): Promise<void> }) => {
    await job.run(installation, {})
    await job.run(installation, {})
  }

  const own: RuleDesk = {
    ...{ ask, tenantId, people, sql, clock },
    rules: async () => (await ask('GET /retention/rules')).json.data,
    rule: async (kind) => (await own.rules()).find((rule) => rule.kind === kind)!,
    async put(kind, days, more = {}) {
      const headers = { 'x-service-step-up': await plantProof(sql, people.OWNER) }
      return ask(`PUT /retention/rules/${kind}`, { days, ...more }, { headers })
    },
    async set(kind, days, more) {
      const { status, json, text } = await own.put(kind, days, more)
      if (status !== 200) throw new Error(`${status} ${text}`)
      return json
    },
    hashOf: async (kind, days) => (await ask(`GET /retention/rules/${kind}/preview?days=${days}`)).json.hash,
    runs: async () => (await ask('GET /retention/runs')).json.data,
    async trail(action) {
      const rows = await sql`
        select params from audit_entry where tenant_id = ${tenantId} and action = ${action} order by at, id`
      return rows.map(({ params }) => params)
    },
    async events(name) {
      const rows = await sql`
        select body from outbox_event where tenant_id = ${tenantId} and type = ${`svc.${name}.v1`} order by id`
      return rows.map(({ body }) => JSON.parse(body).data)
    },
    async mails(name) {
      const [row] =
        await sql`select count(distinct data ->> 'noticeId')::int as count from pgboss.job where data ->> 'name' = ${name}`
      return row?.['count']
    },
    async items(count) {
      const { collectionId } = await desk.shelf(1)
      for (let n = 0; n < count; n += 1) await desk.item({ container_id: collectionId })
      return { collectionId }
    },
    async trashed({ collectionId }, days) {
      await sql`
        update item set deleted_at = now() - make_interval(secs => ${days * 86_400}), kept_since = now() - interval '10 years'
        where container_id = ${collectionId}`
    },
    async done({ collectionId }, days) {
      const at = sql`now() - make_interval(secs => ${days * 86_400 + 60})`
      await sql`
        update item set state = 'DONE', completed_at = ${at}, updated_at = ${at} where container_id = ${collectionId}`
    },
    async revoked(days, of = accountId) {
      const id = randomUUIDv7()
      await sql`
        insert into credential (tenant_id, id, account_id, kind, hash, last4, name, scopes, revoked_at)
        values (${tenantId}, ${id}, ${of}, 'PERSONAL', ${randomBytes(32)}, 'xxxx', 'old', '', now() - make_interval(days => ${days}, mins => 1))`
      return id
    },
    async disabled(days) {
      const id = randomUUIDv7()
      await sql`
        insert into account (tenant_id, id, kind, state, state_before, disabled_at, email, email_fold)
        values (${tenantId}, ${id}, 'PERSON', 'DISABLED', 'ACTIVE', now() - make_interval(days => ${days}, mins => 1), ${`${id}@x.example`}, ${`${id}@x.example`})`
      return id
    },
    night: () => twice(runRulesJob),
    async sweep() {
      await twice(sweepTrash)
      await twice(archiveDone)
    },
    async clear() {
      await sql`delete from retention_rule`
      await sql`delete from retention_run`
      await sql`delete from audit_entry where action like 'retention%'`
      await sql`delete from outbox_event where type like '%retention%'`
      await sql`delete from pgboss.job where data ->> 'name' like 'retention%'`
      await sql`delete from legal_hold`
      await sql`delete from account_restriction`
      await sql`delete from privacy_request`
      await sql`delete from credential where name = 'old'`
      await sql`update item set purged_at = now(), deleted_at = coalesce(deleted_at, now()) where purged_at is null`
      await sql`update container set purged_at = now() where deleted_at is not null and purged_at is null`
    },
    async close() {
      await booted.close()
      await desk.close()
    },
  }
  return own
}
