/**
 * A provider on loopback that lies as it is told to: in its metadata, or in what it answers
 * to a code. Told nothing, it is honest, which every test with it shows first.
 */
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { closed } from './oidc-provider.ts'

export interface HostileProvider {
  readonly issuer: string
  /** What the metadata says instead, or how it is sent. */
  metadata: Partial<Record<string, unknown>>
  /** How a path is answered instead of as it should be. */
  answers: Map<string, (response: ServerResponse) => void>
  /** What the ID token says instead. */
  claims: Record<string, unknown>
  /** How it is signed: RS256 by the key that is published, where nothing is said. */
  signature: 'right' | 'none' | 'other key' | 'HS256' | 'broken'
  /** What the authorization request asked to find in the token. */
  nonce: string
  readonly requests: string[]
  /** Honest again. */
  reset(): void
  close(): Promise<void>
}

export const hostileClient = 'svc'

export async function hostileProvider(): Promise<HostileProvider> {
  const [own, other] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')])
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'own', alg: 'RS256', use: 'sig' }
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0] ?? ''
    provider.requests.push(`${request.method} ${path}`)
    const instead = provider.answers.get(path)
    if (instead) return instead(response)
    if (path === '/.well-known/openid-configuration') return json(response, { ...metadata(), ...provider.metadata })
    if (path === '/jwks') return json(response, { keys: [jwk] })
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

  const honest = () => ({ metadata: {}, answers: new Map(), claims: {}, signature: 'right' as const, nonce: '' })
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

const coded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

function json(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}
