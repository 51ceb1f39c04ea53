/** Workspaces with people who have passwords, sessions and an honest and a lying provider: for tests of how somebody proves who it is. */
import { randomUUIDv7 } from 'node:crypto'
import { identityProviderOperations as admin } from '../../src/core/contract/providers/offered.ts'
import type { Role } from '../../src/core/contract/vocabulary.ts'
import { type Release, readRelease } from '../../src/core/kernel/egress/guard.ts'
import { caseFold } from '../../src/core/kernel/values/case-fold.ts'
import type { Answered } from './daemon.ts'
import { type HostileProvider, hostileClient, hostileProvider } from './hostile-provider.ts'
import { type OidcProvider, oidcProvider, redirectUri } from './oidc-provider.ts'
import { storedPassword, workspace } from './people.ts'
import { plantProof } from './proofs.ts'
import { finish } from './signing-in.ts'
import { type TwoWays, twoWays } from './two-ways.ts'

export const password = 'correct horse battery staple'

export interface Place {
  readonly id: string
  readonly slug: string
  /** The installation's, and the workspace's own; both on. */
  readonly offered: string
  readonly own: string
}

export interface Somebody {
  readonly tenantId: string
  readonly accountId: string
  readonly email: string
  readonly token: string
  readonly sessionId: string
}

/** What the browser brought back, with the token that its session kept. */
export interface Back {
  readonly flow_token: string
  readonly code: string
  readonly state: string
  readonly iss?: string
}

export interface ProvingHouse {
  readonly ways: TwoWays
  readonly real: OidcProvider
  readonly hostile: HostileProvider
  place(): Promise<Place>
  /** An account with a password and a session. */
  somebody(at: Place, role?: Role): Promise<Somebody>
  signIn(at: Place, email: string): Promise<Answered>
  post(path: string, body: object, token?: string, stepUp?: string): Promise<Answered>
  /** From the button back to us, at the honest provider, as this person. */
  comeBack(at: Place, provider: string, sub: string, more?: { purpose?: string; claims?: object }): Promise<Back>
  /** The same at the lying provider, with these claims in the ID token. */
  comeBackLying(at: Place, provider: string, purpose: string, claims: object): Promise<Back>
  /** A link of an identity that the workspace does not admit. */
  linkOf(at: Place, sub: string, provider?: string): Promise<string>
  /** The own provider of the workspace is the lying one. */
  lying(at: Place): Promise<string>
  /** A step-up of the session for one call. */
  proof(who: Somebody): Promise<string>
  close(): Promise<void>
}

export async function provingHouse(): Promise<ProvingHouse> {
  const [real, hostile] = await Promise.all([oidcProvider(), hostileProvider()])
  const ways = await twoWays({ egress: readRelease('127.0.0.0/8') as Release })
  const passwordHash = await storedPassword(password)
  const { sql, daemon } = ways
  let counter = 0

  const post: ProvingHouse['post'] = (path, body, token, stepUp) =>
    daemon.call('POST', `/api/v1${path}`, {
      body,
      ...(token === undefined ? {} : { token }),
      ...(stepUp === undefined ? {} : { headers: { 'x-service-step-up': stepUp } }),
    })
  const switchOn = (tenantId: string, scope: string, id: string) => sql`
    insert into provider_switch (tenant_id, provider_scope, provider_id) values (${tenantId}, ${scope}, ${id})`
  const addOwn = async (tenantId: string, issuer: string, clientId: string) => {
    const id = randomUUIDv7()
    await sql`
      insert into identity_provider (tenant_id, id, issuer, client_id, kind, provisioning, position, allowed_email_domains, allowed_directories)
      values (${tenantId}, ${id}, ${issuer}, ${clientId}, 'GENERIC', 'INVITED_ONLY', 0, '[]', '[]')`
    await switchOn(tenantId, tenantId, id)
    return id
  }
  const begin = (at: Place, provider_id: string, purpose: string) =>
    post('/auth/oidc:start', { workspace: at.slug, provider_id, redirect_uri: redirectUri, purpose })
  const signIn: ProvingHouse['signIn'] = (at, email) => post('/auth/sessions', { workspace: at.slug, email, password })

  return {
    ways,
    real,
    hostile,
    post,
    signIn,
    async place() {
      counter += 1
      const slug = `proving-${counter}`
      const id = await workspace(daemon, slug)
      await sql`insert into tenant_quota values (${id}, 'api_requests_per_minute', 0)`
      const { id: offered } = await ways.call('recovery', admin.createIdentityProvider, {
        body: {
          issuer: real.issuer,
          client_id: real.clientId,
          client_secret: real.clientSecret,
          provisioning: 'INVITED_ONLY',
        },
      })
      await switchOn(id, '00000000-0000-0000-0000-000000000000', offered)
      return { id, slug, offered, own: await addOwn(id, hostile.issuer, hostileClient) }
    },
    async somebody(at, role = 'MEMBER') {
      const accountId = randomUUIDv7()
      const email = `${accountId}@${at.slug}.example`
      await sql`
        insert into account (tenant_id, id, kind, state, email, email_fold, password_hash, password_changed_at)
        values (${at.id}, ${accountId}, 'PERSON', 'ACTIVE', ${email}, ${caseFold(email)}, ${passwordHash}, now())`
      await sql`insert into membership (tenant_id, id, account_id, role) values (${at.id}, ${randomUUIDv7()}, ${accountId}, ${role})`
      const { json } = await signIn(at, email)
      return { tenantId: at.id, accountId, email, token: json.access_token, sessionId: json.session_id }
    },
    async comeBack(at, provider, sub, { purpose = 'SIGN_IN', claims = {} } = {}) {
      real.person(sub, claims as Record<string, unknown>)
      const { json } = await begin(at, provider, purpose)
      const brought = await real.browse(json.authorization_url)
      return { flow_token: json.flow_token, ...(brought as unknown as Omit<Back, 'flow_token'>) }
    },
    async comeBackLying(at, provider, purpose, claims) {
      const { json } = await begin(at, provider, purpose)
      const asked = new URL(json.authorization_url).searchParams
      hostile.nonce = asked.get('nonce') ?? ''
      hostile.claims = { ...claims }
      return { flow_token: json.flow_token, code: 'a code', state: asked.get('state') ?? '' }
    },
    async linkOf(at, sub, provider = at.offered) {
      real.person(sub, {})
      const { json } = await begin(at, provider, 'SIGN_IN')
      const back = await real.browse(json.authorization_url)
      const answer = await finish(daemon, { flow_token: json.flow_token, ...back })
      if (answer.status !== 403) throw new Error(`the callback answered ${answer.text}`)
      return answer.json.params.link_token
    },
    lying: (at) => addOwn(at.id, hostile.issuer, hostileClient),
    proof: ({ tenantId, accountId, sessionId }) => plantProof(sql, { tenantId, accountId, credentialId: sessionId }),
    async close() {
      await ways.close()
      await real.close()
      await hostile.close()
    },
  }
}
