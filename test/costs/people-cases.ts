/** The plain case of what people do every day: coming in, and looking at each other. Spec: people 9. */
import { randomUUIDv7 } from 'node:crypto'
import { hasherFor } from '../../src/core/areas/auth/password/hashing-lane.ts'
import { hashPassword } from '../../src/core/areas/auth/password/password.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import type { Desk } from '../items/desk.ts'
import { person } from '../kit/people.ts'
import type { PlainCase } from './plain-cases.ts'

const password = 'correct horse battery staple'

export function people({ daemon, tenantId, people: { ADMIN }, ask }: Desk) {
  const { sql } = daemon.db
  const posted = async (path: `/${string}`, body: object) => {
    const { status, json, text } = await ask(`POST ${path}`, body)
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`)
    return json
  }
  /** What somebody with a password says to come in. */
  const wayIn = async () => {
    const { accountId } = await person(daemon, tenantId, {
      passwordHash: await hashPassword(hasherFor(recoveryActor(), ''), password),
    })
    const [found] = await sql<{ email: string; slug: string }[]>`
      select a.email, t.slug from account a join tenant t on t.id = a.tenant_id where a.tenant_id = ${tenantId} and a.id = ${accountId}`
    return { workspace: found!.slug, email: found!.email, password }
  }
  const group = async () => (await posted('/groups', { name: `g${randomUUIDv7()}` })).id as string

  return {
    signIn: {
      request: async () => ['POST /auth/sessions', await wayIn()],
      why: 'looks the account up before the password is checked, which no transaction waits for, and asks again behind it',
    },
    refreshSession: {
      request: async () => {
        const { refresh_token } = await posted('/auth/sessions', await wayIn())
        return ['POST /auth/sessions:refresh', { refresh_token }]
      },
    },
    listAccounts: { request: async () => ['GET /accounts'] },
    getAccount: { request: async () => [`GET /accounts/${ADMIN.accountId}`] },
    listGroupMembers: { request: async () => [`GET /groups/${await group()}/members`] },
    addGroupMember: { request: async () => [`PUT /groups/${await group()}/members/${ADMIN.accountId}`] },
    listNotifications: { request: async () => ['GET /accounts/me/notifications'] },
  } satisfies Record<string, PlainCase>
}
