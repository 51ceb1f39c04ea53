/** Short words for tests about groups, over a workspace with accounts of every role. */
import { randomUUIDv7 } from 'node:crypto'
import type { Group } from '../../src/core/contract/groups/operations.ts'
import type { Role } from '../../src/core/contract/vocabulary.ts'
import { type Board, openBoard } from '../containers/board.ts'
import type { Answered } from '../kit/daemon.ts'
import type { Person } from '../kit/people.ts'

export interface Party extends Board {
  /** A group with these members; made by the OWNER. */
  group(members?: readonly Person[], more?: object): Promise<Group>
  /** Gives the group a role, in a container or on the workspace. Answers the id of the membership. */
  give(
    group: { readonly id: string },
    role: Role,
    container?: { readonly id: string } | null,
    as?: Person,
  ): Promise<string>
  add(group: { readonly id: string }, who: Person, as?: Person): Promise<Answered>
  remove(group: { readonly id: string }, who: Person, as?: Person): Promise<Answered>
  /** What the account is, as it sees itself; 401 where its credential serves no more. */
  me(who: Person): Promise<{ readonly status: number; readonly role: Role | null | undefined }>
  /** Credentials and sessions of the account that are alive. */
  alive(who: Person): Promise<number>
  /** Takes the own role on the workspace, so that what is left is a group's. */
  strip(who: Person): Promise<Person>
}

export async function openParty(config: Parameters<typeof openBoard>[0] = {}): Promise<Party> {
  const board = await openBoard(config)
  const { sql } = board.daemon.db
  const ok = (answered: Answered, status: number): Answered => {
    if (answered.status !== status) throw new Error(`${answered.status} ${answered.text}`)
    return answered
  }
  return {
    ...board,
    async group(members = [], more = {}) {
      const member_ids = members.map(({ accountId }) => accountId)
      const made = await board.ask('POST /groups', {
        name: `Group ${randomUUIDv7()}`,
        ...(members.length && { member_ids }),
        ...more,
      })
      return ok(made, 201).json
    },
    async give(group, role, container = null, as = board.people.OWNER) {
      const body = { group_id: group.id, role, container_id: container?.id ?? null }
      return ok(await board.ask('POST /memberships', body, { as }), 201).json.id
    },
    add: (group, who, as) => board.ask(`PUT /groups/${group.id}/members/${who.accountId}`, undefined, as ? { as } : {}),
    remove: (group, who, as) =>
      board.ask(`DELETE /groups/${group.id}/members/${who.accountId}`, undefined, as ? { as } : {}),
    async me(who) {
      const { status, json } = await board.ask('GET /accounts/me', undefined, { as: who })
      return { status, role: json?.role }
    },
    async alive({ accountId }) {
      const [row] = await sql<{ count: number }[]>`
        select ((select count(*) from credential where account_id = ${accountId} and revoked_at is null)
                + (select count(*) from session where account_id = ${accountId} and revoked_at is null)
                + (select count(*) from invitation where account_id = ${accountId} and used_at is null))::int as count`
      return row!.count
    },
    async strip(who) {
      await sql`delete from membership where account_id = ${who.accountId}`
      return who
    },
  }
}
