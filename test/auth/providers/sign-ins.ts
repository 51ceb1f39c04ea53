/** Workspaces that people sign in to by a real provider, for tests. */
import { randomUUIDv7 } from 'node:crypto'
import { expect } from 'vitest'
import { operations } from '../../../src/core/contract/operations.ts'
import { identityProviderOperations as admin } from '../../../src/core/contract/providers/offered.ts'
import type { Role } from '../../../src/core/contract/vocabulary.ts'
import { type Release, readRelease } from '../../../src/core/kernel/egress/guard.ts'
import { caseFold } from '../../../src/core/kernel/values/case-fold.ts'
import { oidcProvider } from '../../kit/oidc-provider.ts'
import { signInThrough } from '../../kit/signing-in.ts'
import { twoWays } from '../../kit/two-ways.ts'

export interface Workspace {
  readonly id: string
  readonly slug: string
  readonly invitation: string
  readonly ownerEmail: string
}

export type SignIns = Awaited<ReturnType<typeof openSignIns>>

/** `real` says what it knows at its user-info endpoint; `marked` has people with a directory, and says it all in the ID token. */
export async function openSignIns() {
  const real = await oidcProvider()
  const marked = await oidcProvider({ claimsInIdToken: true, auth: 'client_secret_post' })
  const ways = await twoWays({
    egress: readRelease('127.0.0.0/8') as Release,
    providerPresets: [
      {
        kind: 'PRESET_TWO',
        displayName: 'Marked',
        issuer: marked.issuer,
        isIssuer: new RegExp(`^${marked.issuer}$`),
        isPublic: /./,
        directoryClaim: 'tid',
        vouches: ({ email_verified }) => email_verified === true,
      },
    ],
  })

  let counter = 0
  /** A workspace whose owner is invited. */
  async function workspace(): Promise<Workspace> {
    counter += 1
    const slug = `sso-${counter}`
    const ownerEmail = `owner@${slug}.example`
    const { tenant, redemption_token } = await ways.call('recovery', operations.provisionTenant, {
      body: { slug, display_name: slug, owner_email: ownerEmail },
    })
    return { id: tenant.id, slug, invitation: redemption_token, ownerEmail }
  }

  /** One of the installation's that the workspace has on. */
  async function offered({ id }: Workspace, more: object = {}, provider = real): Promise<string> {
    const created = await ways.call('recovery', admin.createIdentityProvider, {
      body: { issuer: provider.issuer, client_id: provider.clientId, client_secret: provider.clientSecret, ...more },
    })
    await ways.sql`
      insert into provider_switch (tenant_id, provider_scope, provider_id)
      values (${id}, '00000000-0000-0000-0000-000000000000', ${created.id})`
    return created.id
  }

  const enter = ({ slug }: Workspace, provider_id: string, more: object = {}, provider = real) =>
    signInThrough(ways.daemon, provider, { workspace: slug, provider_id, ...more })

  async function account({ id }: Workspace, email: string, state = 'ACTIVE', role: Role = 'MEMBER'): Promise<string> {
    const accountId = randomUUIDv7()
    await ways.sql`
      insert into account (tenant_id, id, kind, state, email, email_fold)
      values (${id}, ${accountId}, 'PERSON', ${state}, ${email}, ${caseFold(email)})`
    await ways.sql`insert into membership (tenant_id, id, account_id, role) values (${id}, ${randomUUIDv7()}, ${accountId}, ${role})`
    return accountId
  }

  const trailOf = async ({ id }: Workspace) =>
    (await ways.sql<{ action: string }[]>`select action from audit_entry where tenant_id = ${id} order by id`).map(
      ({ action }) => action,
    )
  const reasonOf = async ({ id }: Workspace) =>
    (
      await ways.sql<{ reason: string }[]>`
      select params ->> 'reason' as reason from audit_entry where tenant_id = ${id} and action = 'sign_in.turned_away' order by id desc limit 1`
    )[0]?.reason
  const expectTurnedAway = async (answer: Awaited<ReturnType<typeof enter>>, at: Workspace, reason: string) => {
    expect([answer.status, answer.json?.code]).toEqual([403, 'auth.not_admitted'])
    expect(await reasonOf(at)).toBe(reason)
  }

  return {
    ways,
    real,
    marked,
    workspace,
    offered,
    enter,
    account,
    trailOf,
    reasonOf,
    expectTurnedAway,
    async close() {
      await ways.close()
      await real.close()
      await marked.close()
    },
  }
}
