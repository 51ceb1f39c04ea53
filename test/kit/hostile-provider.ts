/**
 * A provider on loopback that lies as a test tells it: in its metadata, or in its answer to a code.
 * By default it is honest, which every test with it shows first.
 */
import { createHmac } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type CryptoKey,
  exportJWK,
  type GenerateKeyPairResult,
  generateKeyPair,
  type JWK,
  type JWTPayload,
  SignJWT,
} from 'jose'
import { closed } from './oidc-provider.ts'

export interface HostileProvider {
  readonly issuer: string
  /** False members of the metadata. */
  metadata: Partial<Record<string, unknown>>
  /** Paths with a wrong answer. */
  answers: Map<string, (response: ServerResponse) => void>
  /** False claims of the ID token. */
  claims: Record<string, unknown>
  /** The token itself, made by the test. */
  forge: ((tools: ForgersTools) => Promise<string>) | undefined
  /** The published keys, instead of the one right key. */
  keys: readonly unknown[] | undefined
  /** How the token is signed; by default RS256 with the published key. */
  signature: 'right' | 'none' | 'other key' | 'HS256' | 'broken'
  /** The nonce that the authorization request wants to find in the token. */
  nonce: string
  readonly requests: string[]
  /** Honest again. */
  reset(): void
  close(): Promise<void>
}

/** The tools to forge a token: the published key, other keys and, for comparison, the right key. */
export interface ForgersTools {
  readonly claims: JWTPayload
  readonly published: JWK
  readonly own: GenerateKeyPairResult
  readonly other: GenerateKeyPairResult
  sign(header: Record<string, unknown>, key: CryptoKey | Uint8Array, claims?: JWTPayload): Promise<string>
}

export const hostileClient = 'svc'

export async function hostileProvider(): Promise<HostileProvider> {
  const [own, other] = await Promise.all([generateKeyPair('RS256', extractable), generateKeyPair('RS256', extractable)])
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'own', alg: 'RS256', use: 'sig' }
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    provider.requests.push(`${request.method} ${path}`)
    const instead = provider.answers.get(path)
    if (instead) return instead(response)
    if (path === '/.well-known/openid-configuration') return json(response, { ...metadata(), ...provider.metadata })
    if (path === '/jwks') return json(response, { keys: provider.keys ?? [jwk] })
    if (path === '/token')
      return void token().then((id_token) =>
        json(response, { access_token: 'a', token_type: 'Bearer', expires_in: 60, id_token }),
      )
    response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const metadata = () => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'none', 'HS256'],
  })

  async function token(): Promise<string> {
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      iss: issuer,
      aud: hostileClient,
      sub: 'mallory',
      iat: now,
      exp: now + 60,
      nonce: provider.nonce,
      email: 'ann@acme.example',
      email_verified: true,
      ...provider.claims,
    } as JWTPayload
    if (provider.forge) return provider.forge({ claims, published: jwk, own, other, sign: signed(claims) })
    switch (provider.signature) {
      case 'none':
        return `${coded({ alg: 'none', typ: 'JWT' })}.${coded(claims)}.`
      case 'HS256':
        return new SignJWT(claims)
          .setProtectedHeader({ alg: 'HS256', kid: 'own' })
          .sign(Buffer.from(JSON.stringify(jwk)))
      case 'other key':
        return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'own' }).sign(other.privateKey)
      case 'broken': {
        const right = await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'own' }).sign(own.privateKey)
        const [header, , signature] = right.split('.')
        return `${header}.${coded({ ...claims, sub: 'somebody else' })}.${signature}`
      }
      case 'right':
        return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'own' }).sign(own.privateKey)
    }
  }

  const honest = () => ({
    metadata: {},
    answers: new Map(),
    claims: {},
    forge: undefined,
    keys: undefined,
    signature: 'right' as const,
    nonce: '',
  })
  const provider: HostileProvider = {
    issuer,
    ...honest(),
    requests: [],
    reset() {
      Object.assign(provider, honest())
      provider.requests.length = 0
    },
    close: () => closed(server),
  }
  return provider
}

const extractable = { extractable: true }

/** Signs what a library would refuse to sign: exactly as the header says. */
const signed =
  (claims: JWTPayload): ForgersTools['sign'] =>
  async (header, key, said = claims) => {
    const content = `${coded(header)}.${coded(said)}`
    const bytes = Buffer.from(content)
    if (key instanceof Uint8Array) return `${content}.${createHmac('sha256', key).update(bytes).digest('base64url')}`
    const { name } = key.algorithm
    const how = name === 'ECDSA' ? { name, hash: 'SHA-256' } : { name }
    return `${content}.${Buffer.from(await crypto.subtle.sign(how, key, bytes)).toString('base64url')}`
  }

export const coded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
