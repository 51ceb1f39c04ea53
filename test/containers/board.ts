/** A workspace with accounts of every role, and short words for what the tests of containers do in it. */
import { randomUUIDv7 } from 'node:crypto'
import type { Container } from '../../src/core/contract/containers/operations.ts'
import { type Role, roles } from '../../src/core/contract/vocabulary.ts'
import type { Config } from '../../src/core/kernel/config/config.ts'
import { type Answered, type Sending, type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Person, person, setUp } from '../kit/people.ts'

export interface Board {
  readonly daemon: TestDaemon
  readonly tenantId: string
  readonly people: Readonly<Record<Role, Person>>
  /** One request; the path begins behind `/api/v1`, the OWNER asks unless somebody else is named. */
  ask(request: `${string} /${string}`, body?: unknown, more?: Sending & { readonly as?: Person }): Promise<Answered>
  hub(members?: object, as?: Person): Promise<Container>
  collection(hub: { readonly id: string }, members?: object, as?: Person): Promise<Container>
  /** Somebody without any membership: the gate answers 401 until `grant` gives one in a container. */
  guest(): Promise<Person>
  grant(container: { readonly id: string } | null, who: Person, role: Role): Promise<void>
  /** The names of a hub's collections, or of the hubs, in the order that the account sees. */
  order(hub: { readonly id: string } | null, as?: Person): Promise<string[]>
  /** How much the workspace has of what a refused call must not leave behind. */
  traces(): Promise<string>
  close(): Promise<void>
}

export async function openBoard(config: Partial<Config> = {}): Promise<Board> {
  const daemon = await testDaemon({ config })
  const { tenantId } = await setUp(daemon)
  const { sql } = daemon.db
  await sql`insert into tenant_quota values (${tenantId}, 'api_requests_per_minute', 0)`
  const people = Object.fromEntries(
    await Promise.all(roles.map(async (role) => [role, await person(daemon, tenantId, { role })] as const)),
  ) as Record<Role, Person>

  const ask: Board['ask'] = (request, body, { as = people.OWNER, ...more } = {}) => {
    const [method = '', path] = request.split(' ')
    return daemon.call(method, `/api/v1${path}`, { token: as.token, ...(body === undefined ? {} : { body }), ...more })
  }
  const made = async (body: object, as?: Person) => {
    const { status, json, text } = await ask('POST /containers', body, as ? { as } : {})
    if (status !== 201) throw new Error(`${status} ${text}`)
    return json as Container
  }
  let count = 0
  const nextName = () => {
    count += 1
    return `c${count}`
  }
  return {
    daemon,
    tenantId,
    people,
    ask,
    hub: (members, as) => made({ kind: 'HUB', name: nextName(), ...members }, as),
    collection: ({ id }, members, as) => made({ kind: 'COLLECTION', parent_id: id, name: nextName(), ...members }, as),
    async guest() {
      const who = await person(daemon, tenantId)
      await sql`delete from membership where tenant_id = ${tenantId} and account_id = ${who.accountId}`
      return who
    },
    async grant(container, who, role) {
      await sql`
        insert into membership (tenant_id, id, account_id, container_id, role)
        values (${tenantId}, ${randomUUIDv7()}, ${who.accountId}, ${container?.id ?? null}, ${role})
        on conflict on constraint membership_once do update set role = ${role}`
    },
    async order(hub, as) {
      const { json } = await ask(
        `GET /containers?size=200${hub ? `&parent_id=${hub.id}` : '&kind=HUB'}`,
        undefined,
        as ? { as } : {},
      )
      const found = json.data as Container[]
      const sorted = [...found].sort((a, b) => a.position - b.position)
      if (sorted.some(({ position }, at) => position !== at)) throw new Error('positions are no 0..n-1')
      return sorted.map(({ name }) => name)
    },
    async traces() {
      const [row] = await sql`
        select (select count(*) from container where tenant_id = ${tenantId}) as containers,
               (select sum(version) from container where tenant_id = ${tenantId}) as versions,
               (select count(*) from membership where tenant_id = ${tenantId}) as memberships,
               (select count(*) from audit_entry where tenant_id = ${tenantId}) as entries,
               (select count(*) from outbox_event where tenant_id = ${tenantId}) as events`
      return JSON.stringify(row)
    },
    close: () => daemon.close(),
  }
}

/** An answer without what differs from request to request. */
export const bare = ({ status, text }: Answered) => `${status} ${text.replace(/urn:uuid:[0-9a-f-]+/, '')}`
