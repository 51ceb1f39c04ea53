/**
 * Every place of every operation where an id is sent, and the ids of somebody else that are sent there.
 *
 * Nothing here is written per operation: the places come from the declarations, the ids from every
 * table that has some. An operation or a table that is added is probed without another line.
 */
import type { Sql } from 'postgres'
import { needsStepUp, type Operation } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { type JsonSchema, openSchemas } from '../../src/daemon/openapi-schemas.ts'
import { withValue, writables } from '../kit/bodies.ts'
import type { Answered, TestDaemon } from '../kit/daemon.ts'
import type { Person } from '../kit/people.ts'
import { plantProof } from '../kit/proofs.ts'

export interface Place {
  readonly operation: Operation
  readonly where: 'path' | 'query' | 'body'
  /** The name of the parameter, or the member's path. */
  readonly path: readonly string[]
}

/** Ids by what the contract calls them (`container`, `account`, …), one or more of each. */
export type Ids = ReadonlyMap<string, readonly string[]>

const served: readonly Operation[] = Object.values(operations)

/** Operations whose caller is somebody of a workspace, or who may be. */
const ofPeople = served.filter(({ needs }) => needs.caller !== 'anyone')

export const nameOf = ({ operation, where, path }: Place) => `${operation.id} ${where} ${path.join('.')}`

function uuidMembers(query: Operation['query']): string[] {
  if (!query) return []
  const { properties = {} } = openSchemas().of(query, 'input') as JsonSchema
  return Object.entries(properties)
    .filter(([, schema]) => JSON.stringify(schema).includes('"format":"uuid"'))
    .map(([name]) => name)
}

function uuidNodes(operation: Operation): (readonly string[])[] {
  const writable = writables.find((candidate) => candidate.operation.id === operation.id)
  return (writable?.nodes ?? [])
    .filter(({ schema }) => schema['format'] === 'uuid' || isListOfIds(schema))
    .map(({ path }) => path)
}

const isListOfIds = ({ type, items }: JsonSchema & { readonly items?: unknown }) =>
  type === 'array' && JSON.stringify(items).includes('"format":"uuid"')

export const places: readonly Place[] = ofPeople.flatMap((operation) => [
  ...Object.keys(operation.params?.shape ?? {})
    .filter((name) => name.endsWith('Id'))
    .map((name): Place => ({ operation, where: 'path', path: [name] })),
  ...uuidMembers(operation.query).map((name): Place => ({ operation, where: 'query', path: [name] })),
  ...uuidNodes(operation).map((path): Place => ({ operation, where: 'body', path })),
])

/** Tables whose rows the contract calls by another name than the database. */
const called: Readonly<Record<string, string>> = {
  identity_provider: 'provider',
  webhook_subscription: 'webhook',
  webhook_delivery: 'delivery',
  custom_field: 'field',
  backup_target: 'target',
  credential: 'token',
  account_group: 'group',
  outbox_event: 'event',
  legal_hold: 'hold',
  privacy_request: 'request',
}

/** The newest ids of every table with rows of the workspace, by the name that paths use. */
export async function idsOf(sql: Sql, tenantId: string, narrowed = ''): Promise<Map<string, string[]>> {
  const tables = await sql<{ name: string }[]>`
    select c.table_name as name from information_schema.columns c join pg_class t on t.relname = c.table_name and t.relkind in ('r', 'p')
    where c.table_schema = 'public' and c.column_name in ('tenant_id', 'id') and c.data_type = 'uuid'
    group by c.table_name having count(*) = 2 order by 1`
  const ids = new Map<string, string[]>([['tenant', [tenantId]]])
  for (const { name } of tables) {
    const rows = await sql
      .unsafe<{ id: string }[]>(`select id from "${name}" where tenant_id = $1 ${narrowed} order by id desc limit 2`, [
        tenantId,
      ])
      .catch(() => [])
    if (rows.length > 0)
      ids.set(
        called[name] ?? name,
        rows.map(({ id }) => id),
      )
  }
  return ids
}

/** What a member or parameter is about, where its name does not say it. */
const about: Readonly<Record<string, string>> = {
  parent: 'container',
  collection: 'container',
  subject: 'container',
  actor: 'account',
  handler: 'account',
}

/** What a place is about: `container` for `containerId`, `before_container_id` and `collection_id`. */
export function kindOf({ path }: Pick<Place, 'path'>): string {
  const bare = (path.at(-1) ?? '').replace(/_ids?$|Id$/, '').replace(/^before_|^newcomer_/, '')
  return about[bare] ?? bare
}

/** Sends the operation with `id` at the place, and at the other places of its path what is the caller's own. */
export async function probe(daemon: TestDaemon, place: Place, id: string, who: Person, own: Ids): Promise<Answered> {
  const { operation, where, path } = place
  const url = operation.path.replace(/\{(\w+)\}/g, (_, name: string) =>
    where === 'path' && name === path[0] ? id : (own.get(kindOf({ path: [name] }))?.[0] ?? wordFor(name)),
  )
  const query = where === 'query' ? `?${path[0]}=${id}` : ''
  const sample = writables.find((candidate) => candidate.operation.id === operation.id)?.sample
  const node = writables
    .find((candidate) => candidate.operation.id === operation.id)
    ?.nodes.find((candidate) => candidate.path === path)
  const value = node?.types.has('array') ? [id] : id
  const body = where === 'body' ? withValue(ownBody(place, sample, own), path, value) : sample
  return daemon.call(operation.method, `/api/v1${url}${query}`, {
    token: who.token,
    ...(body === undefined ? {} : { body }),
    // One that serves any operation, so that a probe gets as far as its rule.
    ...(needsStepUp(operation, body) ? { headers: { 'x-service-step-up': await plantProof(daemon.db.sql, who) } } : {}),
  })
}

/** Names in a path that are no ids. */
const wordFor = (name: string) => (name.endsWith('Id') ? '0190c9d2-7a3b-7cde-8f01-000000000000' : 'none')

/** The sample with the caller's own things wherever an id is sent, so that only the place probed is somebody else's. */
function ownBody(place: Place, sample: unknown, own: Ids): unknown {
  const writable = writables.find(({ operation }) => operation.id === place.operation.id)
  return uuidNodes(place.operation).reduce<unknown>((body, path) => {
    const id = own.get(kindOf({ path }))?.[0]
    if (id === undefined) return body
    const isList = writable?.nodes.find((node) => node.path === path)?.types.has('array')
    return withValue(body, path, isList ? [id] : id)
  }, sample)
}
