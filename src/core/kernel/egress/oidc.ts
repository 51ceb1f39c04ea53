/**
 * OpenID Connect as a relying party, over the guarded client.
 *
 *    issuer ─discover▶ metadata ─authorizationUrl▶ (browser) ─redeem▶ code → ID token → claims
 *
 * openid-client implements the protocol. This module adds: every request goes through the
 * guard, follows no redirect, and has a size limit and a deadline; every endpoint of the
 * metadata is vetted before anything is stored; metadata may only be about its own issuer;
 * the signature of the ID token is checked with the provider's keys, although the token
 * comes directly from the provider.
 *
 * Spec: Admin: identity providers, rule 2; T-17.
 */
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
} from 'openid-client'
import type { Response as Answer } from 'undici'
import type { Egress } from './client.ts'
import { EgressRefused, portOf } from './guard.ts'

/** Our registration as a client of an issuer. */
export interface OidcClient {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string | undefined
  /** One configuration stands for many directories, each of which signs as its own issuer. */
  readonly manyIssuers: boolean
  /** How long each of its answers may take, in ms. */
  readonly answerMs: number
}

/** The three values that bind a sign-in to one browser. */
export interface Binding {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** What the browser brought back. */
export interface Brought {
  readonly redirectUri: string
  readonly code: string
  readonly state: string
  readonly iss: string | undefined
}

export type Claims = Readonly<Record<string, unknown>> & { readonly iss: string; readonly sub: string }

/** The provider did not answer, or not correctly. */
class OidcFailure extends Error {
  override readonly name = 'OidcFailure'
  readonly reason: OidcReason
  constructor(reason: OidcReason, cause?: unknown) {
    super(`the identity provider failed: ${reason}`, { cause })
    this.reason = reason
  }
}
type OidcReason = 'unreachable' | 'timeout' | 'too_large' | 'issuer' | 'metadata' | 'refused'

const answerBytes = 256 * 1024
const metadataMs = 300_000
/** How long a failed provider is not called again, however many sign-ins begin. */
const failureMs = 5_000
const mostDocuments = 1000

/** Discovers the issuer anew and vets all its endpoints. Throws EgressRefused, OidcFailure. */
export async function discover(egress: Egress, client: OidcClient): Promise<void> {
  documentsOf(egress).delete(egress.readUrl(client.issuer).href)
  await vetEndpoints(egress, await configured(egress, client))
}

/** Where the browser goes to sign in; `isFresh`: also where the provider knows the person still. Throws EgressRefused, OidcFailure. */
export async function authorizationUrl(
  egress: Egress,
  client: OidcClient,
  redirectUri: string,
  { state, nonce, verifier }: Binding,
  { isFresh = false }: { readonly isFresh?: boolean } = {},
): Promise<string> {
  const configuration = await configured(egress, client)
  const url = buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope: namesGroups(configuration) ? 'openid email profile groups' : 'openid email profile',
    state,
    nonce,
    code_challenge: await calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...(isFresh ? { prompt: 'login', max_age: '0' } : {}),
  })
  return url.href
}

/** Trades the code for claims about who signed in. Throws EgressRefused, OidcFailure. */
export async function redeem(
  egress: Egress,
  client: OidcClient,
  { redirectUri, code, state, iss }: Brought,
  binding: Binding,
): Promise<Claims> {
  const configuration = await configured(egress, client)
  const url = new URL(redirectUri)
  for (const [name, value] of Object.entries({ code, state, iss }))
    if (value !== undefined) url.searchParams.set(name, value)
  const tokens = await told(
    authorizationCodeGrant(configuration, url, {
      expectedState: binding.state,
      expectedNonce: binding.nonce,
      pkceCodeVerifier: binding.verifier,
      idTokenExpected: true,
    }),
  )
  const claims = tokens.claims()
  if (!claims || !isMeantForUs(claims, client.clientId)) throw new OidcFailure('refused')
  const isWhole = claims['email'] !== undefined && (claims['groups'] !== undefined || !namesGroups(configuration))
  if (isWhole || configuration.serverMetadata().userinfo_endpoint === undefined) return claims
  const more = await told(fetchUserInfo(configuration, tokens.access_token, claims.sub))
  // Only the signed token says when the person signed in.
  return { ...more, ...claims, auth_time: claims.auth_time }
}

/** Whether the provider has a scope for the groups of a person; others say them without, or not at all. */
const namesGroups = (configuration: Configuration): boolean =>
  configuration.serverMetadata().scopes_supported?.includes('groups') === true

/**
 * Checks that the library omits. A token that was issued to another party is refused even if we are its only audience
 * (OpenID Connect Core, 3.1.3.7). A subject has 1 to 255 characters (2): if a provider gave everybody an empty subject,
 * all people would share one account.
 */
const isMeantForUs = ({ azp, sub }: { readonly azp?: unknown; readonly sub: string }, clientId: string) =>
  (azp === undefined || azp === clientId) && sub.length >= 1 && sub.length <= 255 && isStorable(sub)

/** Whether the database can store it as text. */
const isStorable = (text: string) => text.isWellFormed() && !text.includes('\u0000')

async function configured(egress: Egress, client: OidcClient): Promise<Configuration> {
  const url = egress.readUrl(client.issuer)
  const configuration = await told(
    discovery(url, client.clientId, {}, authentication(client.clientSecret), {
      [customFetch]: guardedFetch(egress, url, client.answerMs),
      timeout: client.answerMs / 1000,
      // The guard allows plain http only for hosts that the operator has allowed.
      execute: [enableNonRepudiationChecks, ...(url.protocol === 'http:' ? [allowInsecureRequests] : [])],
    }),
    'metadata',
  )
  const { issuer, authorization_endpoint, token_endpoint, jwks_uri } = configuration.serverMetadata()
  // The library accepts metadata of some hosts for other issuers; here only well-known hosts may do that.
  if (!client.manyIssuers && URL.parse(issuer)?.href !== url.href) throw new OidcFailure('issuer')
  if (!authorization_endpoint || !token_endpoint || !jwks_uri) throw new OidcFailure('metadata')
  egress.readUrl(authorization_endpoint)
  return configuration
}

/**
 * Sends the secret in the header, unless the provider accepts only the body. The header is the default of the standard.
 */
function authentication(secret: string | undefined): ClientAuth {
  if (secret === undefined) return None()
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported
    const isPost = methods?.includes('client_secret_post') && !methods.includes('client_secret_basic')
    return (isPost ? ClientSecretPost(secret) : ClientSecretBasic(secret))(server, ...rest)
  }
}

/**
 * Vets the endpoints that the daemon itself will call. A name that cannot be resolved now is vetted again at every use.
 */
async function vetEndpoints(egress: Egress, configuration: Configuration): Promise<void> {
  const { token_endpoint, jwks_uri, userinfo_endpoint } = configuration.serverMetadata()
  for (const endpoint of [token_endpoint, jwks_uri, userinfo_endpoint]) {
    if (endpoint === undefined) continue
    const url = egress.readUrl(endpoint)
    await egress.vet(url.hostname, portOf(url)).catch((error: unknown) => {
      if (error instanceof EgressRefused) throw error
    })
  }
}

/** The answer with a provider's metadata, or the reason why there is none. */
type Document = Promise<{ readonly status: number; readonly headers: Headers; readonly bytes: Buffer }>

/**
 * Caches metadata for five minutes, so that not every sign-in causes a call. Concurrent callers wait for the same
 * answer. A provider that failed is called again after five seconds.
 */
const documents = new WeakMap<Egress, Map<string, { readonly document: Document; until: number }>>()

function documentsOf(egress: Egress) {
  const known = documents.get(egress) ?? new Map<string, { readonly document: Document; until: number }>()
  documents.set(egress, known)
  return known
}

const isDocument = (address: string) => address.endsWith('/.well-known/openid-configuration')

function documentOf(egress: Egress, issuer: string, read: () => Document): Document {
  const known = documentsOf(egress)
  const kept = known.get(issuer)
  if (kept && performance.now() < kept.until) return kept.document
  if (known.size >= mostDocuments) known.clear()
  const made = { document: read(), until: Number.POSITIVE_INFINITY }
  known.set(issuer, made)
  const keep = (ms: number) => {
    made.until = performance.now() + ms
  }
  made.document.then(
    ({ status }) => keep(status === 200 ? metadataMs : failureMs),
    () => keep(failureMs),
  )
  return made.document
}

const guardedFetch =
  (egress: Egress, issuer: URL, deadlineMs: number): CustomFetch =>
  async (address, { method, headers, body, signal }) => {
    const read = async (): Document => {
      const answer = await egress.fetch(address, {
        method,
        headers,
        body: body as string | undefined as never,
        ...(signal ? { signal } : {}),
        deadlineMs,
      })
      const bytes = await readAtMost(answer, answerBytes)
      return { status: answer.status, headers: new Headers([...answer.headers]), bytes }
    }
    const answer = await (isDocument(address) ? documentOf(egress, issuer.href, read) : read())
    const { status, bytes } = answer
    return new Response(bytes.length === 0 ? null : new Uint8Array(bytes), { status, headers: answer.headers })
  }

async function readAtMost(answer: Answer, most: number): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
    length += piece.length
    if (length > most) throw new OidcFailure('too_large')
    pieces.push(piece)
  }
  return Buffer.concat(pieces)
}

/** Turns an error of the library into ours: the guard's refusal, our limits, the network, or else `what`. */
async function told<T>(work: Promise<T>, what: 'metadata' | 'refused' = 'refused'): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw failureIn(error, what)
  }
}

function failureIn(error: unknown, what: OidcReason): Error {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof EgressRefused || cause instanceof OidcFailure) return cause
    const { name, code } = cause as NodeJS.ErrnoException
    if (name === 'TimeoutError' || code === 'OAUTH_TIMEOUT' || code === 'UND_ERR_CONNECT_TIMEOUT')
      return new OidcFailure('timeout', error)
    if (code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED') return new OidcFailure('issuer', error)
    if (/^(E[A-Z_]+|UND_ERR_[A-Z_]+)$/.test(code ?? '')) return new OidcFailure('unreachable', error)
  }
  if (error instanceof TypeError && error.message === 'fetch failed') return new OidcFailure('unreachable', error)
  return new OidcFailure(what, error)
}
