/** A collection of its own with people in each role, and requests to the structure operations over HTTP. */
import { randomUUIDv7 } from 'node:crypto'
import type { Answer, Operation } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import type { Problem } from '../../src/core/contract/problem.ts'
import type { Role } from '../../src/core/contract/vocabulary.ts'
import { type Callers, callers, liftRate, plantAccount, plantToken, redeem } from '../kit/accounts.ts'
import type { Caller } from '../kit/callers.ts'
import { type SentArgs, type TestInstallation, testInstallation } from '../kit/installation.ts'
import { meeting } from '../kit/meeting.ts'

export interface Board {
  readonly own: TestInstallation
  readonly who: Callers
  readonly tenantId: string
  readonly hubId: string
  readonly containerId: string
  readonly ownerId: string
  readonly owner: Caller
  /** Another workspace of the same installation. */
  readonly foreign: { readonly tenantId: string; readonly containerId: string; readonly owner: Caller }
  /** Somebody of the workspace in a role, with the scopes that writing takes. */
  somebody(role: Role): Promise<Caller & { readonly token: string; readonly accountId: string }>
  /** A collection without buckets or labels. */
  collection(name?: string): Promise<string>
  /** Items of a bucket, in their order, made past the rules. */
  plantItems(containerId: string, bucketId: string | null, count: number): Promise<string[]>
  /** Lets calls that write in a container meet: all of them wait for it before any of them goes on. */
  meeting<T>(containerId: string, calls: readonly (() => Promise<T>)[]): Promise<T[]>
  /** What the trail says of one thing, oldest first. */
  trail(subjectId: string): Promise<{ action: string; params: Record<string, unknown> }[]>
  /** The events of one thing, oldest first: name and data. */
  events(path: string): Promise<{ type: string; data: Record<string, unknown> }[]>
  close(): Promise<void>
}

export async function openBoard(): Promise<Board> {
  const own = await testInstallation({ poolSize: 20 })
  const who = await callers(own)
  const made = await own.provision()
  const others = await own.provision()
  const { oracle } = own
  for (const { tenant } of [made, others]) await liftRate(own, tenant.id)
  const tenantId = made.tenant.id
  return {
    own,
    who,
    tenantId,
    hubId: made.hub_id,
    containerId: made.collection_id,
    ownerId: made.owner.account_id,
    owner: who.as((await redeem(own, made)).access_token),
    foreign: {
      tenantId: others.tenant.id,
      containerId: others.collection_id,
      owner: who.as((await redeem(own, others)).access_token),
    },
    async somebody(role) {
      const planted = await plantAccount(own, tenantId, role)
      const { token } = await plantToken(own, planted, { scopes: ['workspace:read', 'workspace:write'] })
      return { ...who.as(token), token, accountId: planted.accountId }
    },
    async collection(name = 'A board') {
      const id = randomUUIDv7()
      await oracle`
        insert into container (tenant_id, id, kind, parent_id, name, rank)
        values (${tenantId}, ${id}, 'COLLECTION', ${made.hub_id}, ${name}, ${id})`
      return id
    },
    async plantItems(containerId, bucketId, count) {
      const rows = await oracle<{ id: string }[]>`
        insert into item (tenant_id, id, container_id, bucket_id, type, title, rank, created_by)
        select ${tenantId}, gen_random_uuid(), ${containerId}, ${bucketId}, 'TASK', 'Item ' || n, 'd' || lpad(n::text, 4, '0'), ${made.owner.account_id}
        from generate_series(1, ${count}) n returning id, rank`
      if (bucketId !== null)
        await oracle`
          insert into bucket_tally as t (tenant_id, bucket_id, items) values (${tenantId}, ${bucketId}, ${count})
          on conflict (tenant_id, bucket_id) do update set items = t.items + excluded.items`
      return rows.map(({ id }) => id)
    },
    meeting: (containerId, calls) =>
      meeting(
        oracle,
        (tx) => tx`select 1 from container where id = ${containerId} for no key update`,
        calls.length,
        () => Promise.all(calls.map((call) => call())),
      ),
    trail: (subjectId) => oracle<{ action: string; params: Record<string, unknown> }[]>`
      select action, params from audit_entry where subject_id = ${subjectId} order by id`,
    async events(path) {
      const rows = await oracle<{ body: string }[]>`
        select body from outbox_event where body::jsonb ->> 'subject' = ${path} order by id`
      return rows.map(({ body }) => JSON.parse(body) as { type: string; data: Record<string, unknown> })
    },
    async close() {
      await who.close()
      await own.close()
    },
  }
}

/** What a refused call answers: code, status, and each member that is wrong. */
export async function refusalOf<O extends Operation>(caller: Caller, operation: O, ...sent: SentArgs<O>) {
  const outcome = await caller.call(operation, ...sent).then(
    (answer) => ({ answered: answer }),
    ({ code, status, params, errors }: Problem) => ({
      code,
      status,
      ...(Object.keys(params).length > 0 ? { params } : {}),
      ...(errors ? { errors: errors.map((error) => `${error.pointer ?? error.parameter} ${error.code}`) } : {}),
    }),
  )
  return outcome
}

/** The names of a container's buckets from the left. */
export const bucketNames = async (caller: Caller, containerId: string) =>
  (await caller.call(operations.listBuckets, { containerId })).data.map(({ name }) => name)

/** Buckets of these names, from the left. */
export async function bucketsNamed(caller: Caller, containerId: string, names: readonly string[]) {
  const made: Answer<typeof operations.createBucket>[] = []
  for (const name of names) made.push(await caller.call(operations.createBucket, { containerId, body: { name } }))
  return made
}
