/** People: how they sign in, and what they may do. */
import { randomUUIDv7 } from 'node:crypto'
import { type Release, readRelease } from '../../../src/core/kernel/egress/guard.ts'
import { mintToken } from '../../../src/core/kernel/values/token.ts'
import { codeAt } from '../../kit/authenticator.ts'
import { type OidcProvider, oidcProvider, redirectUri } from '../../kit/oidc-provider.ts'
import { told } from '../../notifications/telling-kit.ts'
import { password, type Scene } from './scene.ts'

const next = 'a longer walk along the river'
const address = { workspace: 'acme', email: 'ada@acme.example' }

/** What the examples reach is on this machine, and a delivery has one attempt. */
export const near = { egress: readRelease('127.0.0.0/8') as Release, webhookRetrySeconds: [0] }

export async function auth(scene: Scene): Promise<void> {
  await sessions(scene)
  await passwords(scene)
  await confirmation(scene)
  await tokens(scene)
  await secondFactor(scene)
  await providers(scene)
}

async function sessions({ show, ask, session, ada, grace }: Scene): Promise<void> {
  const signedIn = await show('signIn', { body: { ...address, password } }, null)
  await show('listSessions', { size: 2 })
  await show('refreshSession', { body: { refresh_token: signedIn.refresh_token } }, null)
  await show('endSession', { sessionId: session.session_id })
  const { access_token: token } = await ask('signIn', { body: { ...address, password } }, null)
  await ask('signIn', { body: { ...address, password } }, null)
  await show('revokeOtherSessions', { body: { tokens: false } }, { ...ada, token })
  await ask(
    'replaceSettings',
    { body: { legal: { terms_url: 'https://acme.example/terms', terms_version: '2027-01' } } },
    grace,
  )
  await show('agreeToTerms', { body: { terms_version: '2027-01' } }, { ...ada, token })
  await show('signOut', {}, { ...ada, token })
}

async function passwords({ show, ask, sql, ada, tenantId, grace }: Scene): Promise<void> {
  await show('checkPassword', { body: { password: 'acme2027', names: ['Acme'] } }, null)
  await show('forgetPassword', { body: address }, null)
  const { token, hash } = mintToken('passwordReset')
  await sql`
    insert into password_reset (tenant_id, id, account_id, hash, expires_at)
    values (${tenantId}, ${randomUUIDv7()}, ${ada.accountId}, ${hash}, now() + interval '1 hour')`
  await show('resetPassword', { body: { token, password: next } }, null)
  await ask('replaceSettings', { body: { sign_in: { password_max_age_days: { value: 90 } } } }, grace)
  await sql`update account set password_changed_at = now() - interval '91 days' where id = ${ada.accountId}`
  await show('signInWithNewPassword', { body: { ...address, password: next, new_password: password } }, null)
  await ask('replaceSettings', { body: {} }, grace)
  const { access_token } = await ask('signIn', { body: { ...address, password } }, null)
  const session = { ...ada, token: access_token }
  await show('changePassword', { body: { current_password: password, new_password: next } }, session)
  await ask('changePassword', { body: { current_password: next, new_password: password } }, session)
  await show('getSignInRules', { workspace: 'acme' }, null)
}

/** The link of a mail, which no job sends in this story. */
async function confirmation({ show, ask, ada, sql }: Scene): Promise<void> {
  const { access_token: token } = await ask('signIn', { body: { ...address, password } }, null)
  const minted = mintToken('addressConfirmation')
  await ask('addAddress', { accountId: ada.accountId, body: { email: 'ada@lovelace.example' } })
  await sql`update address_confirmation set hash = ${minted.hash} where email_fold = 'ada@lovelace.example'`
  await show('confirmAddress', { body: { token: minted.token } }, { ...ada, token })
}

async function tokens({ show, inHours }: Scene): Promise<void> {
  const made = await show('createToken', {
    body: { name: 'Nightly report', scopes: ['workspace:read'], expires_at: inHours(24 * 20) },
  })
  await show('listTokens', { size: 2 })
  await show('revokeToken', { tokenId: made.id })
  await show('createServiceAccount', {
    body: { name: 'CRM', role: 'MEMBER', scopes: ['workspace:read', 'workspace:write'], expires_at: inHours(24 * 20) },
  })
  await show('listServiceAccounts', { size: 2 })
}

async function secondFactor({ show, ask, ada, sql, steady, daemon }: Scene): Promise<void> {
  const { access_token: token } = await ask('signIn', { body: { ...address, password } }, null)
  const session = { ...ada, token }
  steady.hold({ recovery_codes: Array.from({ length: 10 }, (_, at) => `7k2m-q9x4-0hvt-b3r${at}`) })
  const proof = async (operation: string, code?: string) => {
    const body = { password, operation, ...(code === undefined ? {} : { totp: code }) }
    return (await show('stepUp', { body }, session)).step_up_token
  }
  const forget = () => sql`update second_factor set last_step = 0`
  const { secret } = await show('enrollTotp', { stepUp: await proof('enrollTotp') }, session)
  await show('confirmTotp', { body: { code: codeAt(secret) } }, session)
  await forget()
  const other = await show('replaceTotp', { stepUp: await proof('replaceTotp', codeAt(secret)) }, session)
  await show('confirmTotpReplacement', { body: { code: codeAt(other.secret) } }, session)
  await forget()
  await show(
    'regenerateRecoveryCodes',
    { stepUp: await proof('regenerateRecoveryCodes', codeAt(other.secret)) },
    session,
  )
  await forget()
  const asked = await daemon.call('POST', '/api/v1/auth/sessions', { body: { ...address, password } })
  await show(
    'verifySignIn',
    { body: { challenge_token: asked.json.params.challenge_token, totp: codeAt(other.secret) } },
    null,
  )
  await forget()
  const stepUp = await proof('disableSecondFactor', codeAt(other.secret))
  await show('disableSecondFactor', { stepUp, body: {} }, session)
}

async function providers(scene: Scene): Promise<void> {
  const { show, steady } = scene
  const server = await oidcProvider()
  steady.rename(server.issuer, 'https://sso.acme.example')
  try {
    await show('listPresets')
    const configuration = { issuer: server.issuer, client_id: server.clientId, client_secret: server.clientSecret }
    steady.rename(server.clientSecret, 'the secret that the provider gave out')
    const provider = await show('createProvider', {
      body: {
        ...configuration,
        display_name: 'Acme SSO',
        provisioning: 'DOMAINS',
        allowed_email_domains: ['acme.example'],
        newcomer_role: 'MEMBER',
      },
    })
    const at = { providerId: provider.id }
    await show('changeProvider', {
      ...at,
      body: {
        issuer: server.issuer,
        client_id: server.clientId,
        display_name: 'Acme',
        provisioning: 'DOMAINS',
        allowed_email_domains: ['acme.example'],
      },
    })
    await show('offerProvider', { ...at, body: { offered: true } })
    await show('listProviders')
    await show('listAccountsWithoutProvider', { size: 2 })
    server.person('1815', { email: 'charles@acme.example', email_verified: true, name: 'Charles Babbage' })
    const body = { workspace: 'acme', provider_id: provider.id, redirect_uri: redirectUri }
    const started = await show('startOidc', { body }, null)
    const { code = '', state = '', iss = '' } = await server.browse(started.authorization_url)
    steady.rename(code, 'Wq8Zr2Lk5TnVx0')
    steady.rename(state, 'Kq3vR1nTz0')
    await show('finishOidc', { body: { flow_token: started.flow_token, code, state, iss } }, null)
    await returning(scene, server, provider.id)
    await show('removeProvider', at)
    await show('setOnlyProvider', {
      body: { issuer: server.issuer, client_id: server.clientId, display_name: 'Acme SSO' },
    })
    await show('getOnlyProvider')
  } finally {
    await server.close()
  }
}

/** Ada connects an identity, and steps up with it. */
async function returning({ show, ask, steady, ada }: Scene, server: OidcProvider, providerId: string): Promise<void> {
  const { access_token: token } = await ask('signIn', { body: { ...address, password } }, null)
  const session = { ...ada, token }
  const come = async (purpose: 'LINK' | 'STEP_UP') => {
    server.person('1815-ada')
    const body = { workspace: 'acme', provider_id: providerId, redirect_uri: redirectUri, purpose }
    const { authorization_url, flow_token } = await ask('startOidc', { body }, null)
    const { code = '', state = '', iss = '' } = await server.browse(authorization_url)
    steady.rename(code, 'Wq8Zr2Lk5TnVx0')
    steady.rename(state, 'Kq3vR1nTz0')
    return { flow_token, code, state, iss }
  }
  await show('linkIdentity', { body: await come('LINK') }, session)
  const proof = await show(
    'stepUpByProvider',
    { body: { ...(await come('STEP_UP')), operation: 'elevateSession' } },
    session,
  )
  await show('elevateSession', { body: { minutes: 10 }, stepUp: proof.step_up_token }, session)
}

export async function identity(scene: Scene): Promise<void> {
  const { show, sql, ada, alan, tenantId, tokenOf, collectionId } = scene
  await show('changePreferences', {
    accountId: ada.accountId,
    body: { locale: 'en-GB', time_zone: 'Europe/London', week_start: 'MONDAY', client: { theme: 'dark' } },
  })
  const providerId = randomUUIDv7()
  const identityId = randomUUIDv7()
  await sql`
    insert into connected_identity (tenant_id, id, provider_id, account_id, issuer, subject)
    values (${tenantId}, ${identityId}, ${providerId}, ${alan.accountId}, 'https://sso.acme.example', '1912')`
  await show('getOwnAccount')
  await show('disconnectIdentity', { accountId: alan.accountId, identityId })
  await show('listAccounts', { kind: 'PERSON', size: 2 })
  await show('getAccount', { accountId: alan.accountId })
  const invited = await show('inviteAccount', {
    body: { email: 'charles@acme.example', display_name: 'Charles Babbage', role: 'MEMBER', deliver: 'TOKEN' },
  })
  const manager = await tokenOf(tenantId, ada.accountId, ['workspace:read', 'workspace:admin'])
  await show('renewInvitation', { accountId: invited.account.id, body: { deliver: 'TOKEN' } }, manager)
  await addresses(scene)
  await show('disableAccount', { accountId: alan.accountId })
  await show('enableAccount', { accountId: alan.accountId })
  const granted = await show('grantMembership', {
    body: { account_id: alan.accountId, role: 'ADMIN', container_id: collectionId },
  })
  await show('listMemberships', { account_id: alan.accountId })
  await show('removeMembership', { membershipId: granted.id })
  await groups(scene)
  await notifications(scene)
}

async function notifications(scene: Scene): Promise<void> {
  const { show, ask, sql, ada, alan, tenantId, tokenOf, collectionId, daemon } = scene
  const pair = { accountId: ada.accountId, category: 'COMMENTED', channel: 'MAIL' }
  await show('setNotificationPreference', {
    ...pair,
    body: { delivery: 'DAILY', overrides: [{ container_id: collectionId, delivery: 'OFF' }] },
  })
  await show('listNotificationPreferences', { accountId: ada.accountId })
  await sql`update account set state = 'ACTIVE' where id = ${alan.accountId}`
  const other = await tokenOf(tenantId, alan.accountId, ['workspace:read', 'workspace:write'])
  const item = await ask('createItem', { body: { container_id: collectionId, title: 'Write the invitation' } })
  await ask('assignItem', { itemId: item.id, body: { account_id: ada.accountId } }, other)
  await told(daemon)
  const { data } = await show('listNotifications', { unread: 'true', size: 1 })
  await show('markNotifications', { body: { ids: data.map(({ id }) => id) } })
}

/** A second address, and somebody without one. */
async function addresses({ show, ada, sql }: Scene): Promise<void> {
  const email = 'ada@lovelace.example'
  await show('addAddress', { accountId: ada.accountId, body: { email } })
  const [waiting] = await sql<{ id: string }[]>`select id from account_address where email = ${email}`
  await show('removeAddress', { accountId: ada.accountId, addressId: waiting!.id })
  const managed = await show('createManagedAccount', {
    body: { sign_in_name: 'bench-3', display_name: 'Workshop, bench 3', role: 'COMMENTER' },
  })
  await show('issueStartPassword', { accountId: managed.account.id })
  await show('listEmergencyNotices')
}

async function groups({ show, ask, alan, collectionId }: Scene): Promise<void> {
  const group = await show('createGroup', {
    body: { name: 'Design', description: 'Whoever draws', member_ids: [alan.accountId] },
  })
  const at = { groupId: group.id }
  await ask('grantMembership', { body: { group_id: group.id, role: 'MEMBER', container_id: collectionId } })
  await show('getGroup', at)
  await show('listGroups', { q: 'des' })
  await show('listGroupMembers', at)
  await show('updateGroup', { ...at, body: { description: 'Whoever draws and writes' } })
  await show('removeGroupMember', { ...at, accountId: alan.accountId })
  await show('addGroupMember', { ...at, accountId: alan.accountId })
  await show('deleteGroup', at)
}

/** What Acme asks its people, and what Ada says; Alan is restricted for a while. */
export async function consents({ show, ask, alan, grace }: Scene): Promise<void> {
  const title = 'News about Acme'
  const text = 'We mail you about once a month. You can withdraw this at any time.'
  await show('setConsentText', { kind: 'announcements', body: { texts: { en: { title, text } } } })
  await show('giveConsent', { body: { kind: 'announcements', version: 1 } })
  await show('withdrawConsent', { body: { kind: 'announcements' } })
  await show('listConsents')
  await show('setAccountRestriction', { accountId: alan.accountId, body: { restricted: true, ground: 'ACCURACY' } })
  const body = {
    display_name: 'Small and fast',
    processor: 'Models Ltd',
    kind: 'NOOP',
    base_url: 'https://models.example',
    jurisdiction: 'EEA',
  } as const
  const { id } = await ask('offerAiProvider', { body }, grace)
  await ask('chooseAiModel', { modelId: id })
  const { notice } = await show('getAiObjection')
  await show('noteAiNotice', { body: { version: notice.version } })
}
