/**
 * All that lets somebody in for a while, as it was issued just now, or so that it ended an hour ago; each with a call that tells
 * whether it still lets its person in. For tests that set the clock of the database.
 */
import { randomUUIDv7 } from 'node:crypto'
import type postgres from 'postgres'
import { endConfirmation } from '../../src/core/areas/auth/addresses/ending-confirmation.ts'
import { endStartPassword } from '../../src/core/areas/auth/password/start-password.ts'
import { endInvitation, sweepExpired } from '../../src/core/areas/auth/sign-in/jobs.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import { password } from './installation.ts'
import { storedPassword } from './people.ts'

export interface WayIn {
  readonly what: string
  isOpen(): Promise<boolean>
}

interface Ground {
  /** As superuser. */
  readonly sql: postgres.Sql
  readonly installation: Installation
  /** Of a daemon. */
  readonly address: string
  /** The workspace `first`. */
  readonly tenantId: string
}

/** When it was issued, where its life is `life`; its end is that much later. */
type IssuedAt = (life: string) => postgres.PendingQuery<postgres.Row[]>

/** Makes one of each. `isOver`: they ended an hour ago, and the jobs that note this have run. */
export const openWaysIn =
  (ground: Ground) =>
  async (isOver: boolean): Promise<WayIn[]> => {
    const { sql, installation } = ground
    const at: IssuedAt = (life) => (isOver ? sql`now() - ${life}::interval - interval '1 hour'` : sql`now()`)
    const made = [
      await invitation(ground, at),
      await startPassword(ground, at),
      await addressLink(ground, at),
      await identityLink(ground, at),
      await reset(ground, at),
      await challenge(ground, at),
      await token(ground, at, 'SESSION'),
      await token(ground, at, 'REFRESH'),
      await token(ground, at, 'PERSONAL'),
    ]
    if (isOver) for (const { end } of made) await end?.()
    if (isOver) await sweepExpired.run(installation, {})
    return made
  }

interface Made extends WayIn {
  /** The job that notes its end. */
  readonly end?: () => Promise<unknown>
}

async function invitation({ sql, installation, address, tenantId }: Ground, at: IssuedAt): Promise<Made> {
  const { token, hash } = mintToken('invitation')
  const invitationId = randomUUIDv7()
  await sql`
    insert into invitation (tenant_id, id, account_id, hash, created_at, expires_at)
    values (${tenantId}, ${invitationId}, ${await stranger(sql, tenantId, 'INVITED')}, ${hash}, ${at('14 days')}, ${at('14 days')} + interval '14 days')`
  return {
    what: 'an invitation',
    isOpen: async () => (await post(address, '/auth/invitations:inspect', { token })).status === 200,
    end: () => endInvitation.run(installation, { tenantId, invitationId }),
  }
}

async function startPassword({ sql, installation, address, tenantId }: Ground, at: IssuedAt): Promise<Made> {
  const name = `n${randomUUIDv7()}`
  const accountId = await stranger(sql, tenantId, 'INVITED', name)
  await sql`
    update account set password_hash = ${await storedPassword(password)}, password_changed_at = ${at('7 days')}, start_password_until = ${at('7 days')} + interval '7 days'
    where id = ${accountId}`
  return {
    what: 'a start password',
    isOpen: async () =>
      (await post(address, '/auth/sessions', { workspace: 'first', email: name, password })).code ===
      'auth.password_expired',
    end: () => endStartPassword.run(installation, { tenantId, accountId }),
  }
}

async function addressLink({ sql, installation, address, tenantId }: Ground, at: IssuedAt): Promise<Made> {
  const accountId = await stranger(sql, tenantId, 'ACTIVE')
  const signedIn = await sessionOf(sql, tenantId, accountId)
  const { token, hash } = mintToken('addressConfirmation')
  const [addressId, confirmationId] = [randomUUIDv7(), randomUUIDv7()]
  const email = `${addressId}@new.example`
  await sql`
    insert into account_address (tenant_id, id, account_id, email, email_fold, ends_at)
    values (${tenantId}, ${addressId}, ${accountId}, ${email}, ${email}, now() + interval '60 days')`
  await sql`
    insert into address_confirmation (tenant_id, id, account_id, address_id, email_fold, makes_primary, is_asked, hash, created_at, expires_at)
    values (${tenantId}, ${confirmationId}, ${accountId}, ${addressId}, ${email}, false, true, ${hash}, ${at('1 day')}, ${at('1 day')} + interval '1 day')`
  return {
    what: 'the link of an address',
    isOpen: async () => (await post(address, '/auth/address:confirm', { token }, await signedIn())).status === 200,
    end: () => endConfirmation.run(installation, { tenantId, confirmationId }),
  }
}

async function identityLink({ sql, address, tenantId }: Ground, at: IssuedAt): Promise<Made> {
  const signedIn = await sessionOf(sql, tenantId, await stranger(sql, tenantId, 'ACTIVE'))
  const [provider, { token, hash }] = [randomUUIDv7(), mintToken('link')]
  await sql`
    insert into identity_provider (tenant_id, id, issuer, client_id, kind, provisioning, position, allowed_email_domains, allowed_directories)
    values (${tenantId}, ${provider}, 'https://sso.example', 'svc', 'GENERIC', 'INVITED_ONLY', 0, '[]', '[]')`
  await sql`insert into provider_switch (tenant_id, provider_scope, provider_id) values (${tenantId}, ${tenantId}, ${provider})`
  await sql`
    insert into sign_in_link (tenant_id, id, hash, provider_id, issuer, subject, issued_at, expires_at)
    values (${tenantId}, ${randomUUIDv7()}, ${hash}, ${provider}, 'https://sso.example', ${provider}, ${at('10 minutes')}, ${at('10 minutes')} + interval '10 minutes')`
  return {
    what: 'a link of an identity',
    isOpen: async () =>
      (await post(address, '/auth/sessions:link', { link_token: token }, await signedIn())).status === 200,
  }
}

async function reset({ sql, address, tenantId }: Ground, at: IssuedAt): Promise<Made> {
  const { token, hash } = mintToken('passwordReset')
  await sql`
    insert into password_reset (tenant_id, id, account_id, hash, created_at, expires_at)
    values (${tenantId}, ${randomUUIDv7()}, ${await stranger(sql, tenantId, 'ACTIVE')}, ${hash}, ${at('1 hour')}, ${at('1 hour')} + interval '1 hour')`
  return {
    what: 'a reset',
    // It is open where the new password is looked at.
    isOpen: async () => (await post(address, '/auth/password:reset', { token, password: 'short' })).status === 422,
  }
}

async function challenge({ sql, address, tenantId }: Ground, at: IssuedAt): Promise<Made> {
  const { token, hash } = mintToken('challenge')
  await sql`
    insert into sign_in_challenge (tenant_id, id, account_id, hash, way, issued_at, expires_at)
    values (${tenantId}, ${randomUUIDv7()}, ${await stranger(sql, tenantId, 'ACTIVE')}, ${hash}, 'PASSWORD', ${at('5 minutes')}, ${at('5 minutes')} + interval '5 minutes')`
  return {
    what: 'a challenge',
    isOpen: async () =>
      (await post(address, '/auth/sessions:verify', { challenge_token: token, totp: '123456' })).code !==
      'auth.challenge_invalid',
  }
}

const lives = { SESSION: '15 minutes', REFRESH: '30 days', PERSONAL: '20 days' } as const

async function token({ sql, address, tenantId }: Ground, at: IssuedAt, kind: keyof typeof lives): Promise<Made> {
  const { token, hash, last4 } = mintToken(
    kind === 'PERSONAL' ? 'personal' : kind === 'SESSION' ? 'session' : 'refresh',
  )
  const accountId = await stranger(sql, tenantId, 'ACTIVE')
  const sessionId = kind === 'PERSONAL' ? null : randomUUIDv7()
  const life = lives[kind]
  if (sessionId !== null)
    await sql`insert into session (tenant_id, id, account_id, created_at) values (${tenantId}, ${sessionId}, ${accountId}, ${at(life)})`
  await sql`
    insert into credential (tenant_id, id, account_id, session_id, kind, hash, last4, name, scopes, created_at, expires_at)
    values (${tenantId}, ${randomUUIDv7()}, ${accountId}, ${sessionId}, ${kind}, ${hash}, ${last4}, ${kind === 'PERSONAL' ? 'ways' : null},
            'workspace:read', ${at(life)}, ${at(life)} + ${life}::interval)`
  return {
    what: `a token of the kind ${kind}`,
    isOpen: async () =>
      kind === 'REFRESH'
        ? (await post(address, '/auth/sessions:refresh', { refresh_token: token })).status === 200
        : (await call(address, '/accounts/me', { headers: { authorization: `Bearer ${token}` } })).status === 200,
  }
}

const post = (address: string, path: string, body: object, headers: Record<string, string> = {}) =>
  call(address, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })

async function call(address: string, path: string, init: RequestInit) {
  const response = await fetch(`${address}/api/v1${path}`, init)
  const answer = (await response.json().catch(() => ({}))) as { code?: string }
  // A jump ends statements as too late; the caller comes again.
  if (response.status === 503) throw new Error('503')
  return { status: response.status, code: answer.code }
}

async function stranger(sql: postgres.Sql, tenantId: string, state: 'INVITED' | 'ACTIVE', name?: string) {
  const id = randomUUIDv7()
  const email = name === undefined ? `${id}@first.example` : null
  await sql`
    insert into account (tenant_id, id, kind, state, email, email_fold, sign_in_name, display_name)
    values (${tenantId}, ${id}, 'PERSON', ${state}, ${email}, ${email}, ${name ?? null}, 'Somebody')`
  await sql`insert into membership (tenant_id, id, account_id, role) values (${tenantId}, ${randomUUIDv7()}, ${id}, 'MEMBER')`
  return id
}

/** A session of the account, days old and whose tokens live for years; its access token, and a proof for the next call. */
async function sessionOf(sql: postgres.Sql, tenantId: string, accountId: string) {
  const id = randomUUIDv7()
  const { token, hash, last4 } = mintToken('session')
  await sql`insert into session (tenant_id, id, account_id) values (${tenantId}, ${id}, ${accountId})`
  await sql`
    insert into credential (tenant_id, id, account_id, session_id, kind, hash, last4, scopes, created_at, expires_at)
    values (${tenantId}, ${randomUUIDv7()}, ${accountId}, ${id}, 'SESSION', ${hash}, ${last4}, 'workspace:read workspace:write workspace:admin',
            now() - interval '2 days', now() + interval '10 years')`
  return async () => {
    const proof = mintToken('stepUp')
    await sql`
      insert into step_up (tenant_id, id, account_id, bearer_id, hash, issued_at, expires_at)
      values (${tenantId}, ${randomUUIDv7()}, ${accountId}, ${id}, ${proof.hash}, now(), now() + interval '5 minutes')`
    return { authorization: `Bearer ${token}`, 'x-service-step-up': proof.token }
  }
}
