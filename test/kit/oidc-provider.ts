/**
 * A real OpenID provider on loopback, and a browser that signs in at it.
 *
 * A test names a person: `person(sub, claims)`. This person passes login and consent without a
 * page, as with an open session.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type Configuration } from 'oidc-provider'

export const redirectUri = 'https://app.example/signed-in'

export interface OidcProvider {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** The person who signs in from now on, and the claims of the provider. */
  person(sub: string, claims?: Readonly<Record<string, unknown>>): void
  /** Follows the address as a browser does, until the redirect back to us; answers the members of that address. */
  browse(authorizationUrl: string): Promise<Record<string, string>>
  /** Requests so far, as `GET /path`. */
  readonly requests: string[]
  close(): Promise<void>
}

export async function oidcProvider(
  settings: { readonly claimsInIdToken?: boolean; readonly auth?: 'client_secret_post' } = {},
): Promise<OidcProvider> {
  const people = new Map<string, Readonly<Record<string, unknown>>>()
  let signedIn = 'nobody'
  const requests: string[] = []
  let handle: (...args: Parameters<Parameters<typeof createServer>[1] & object>) => void = () => {}
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url?.split('?')[0]}`)
    handle(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const [clientId, clientSecret] = ['svc', 'a secret that both sides know: with a colon, a+plus and 50%']

  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: settings.auth ?? 'client_secret_basic',
      },
    ],
    ...(settings.auth ? { clientAuthMethods: [settings.auth] } : {}),
    conformIdTokenClaims: !settings.claimsInIdToken,
    claims: { openid: ['sub', 'hd', 'tid'], email: ['email', 'email_verified'], profile: ['name'], groups: ['groups'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    findAccount: (_, sub) => ({ accountId: sub, claims: async () => ({ sub, ...people.get(sub) }) }),
    async loadExistingGrant(context) {
      const { client, session, params } = context.oidc
      const grant = new context.oidc.provider.Grant({
        clientId: client?.clientId ?? '',
        accountId: session?.accountId ?? '',
      })
      grant.addOIDCScope(String(params?.['scope'] ?? 'openid'))
      await grant.save()
      return grant
    },
  } satisfies Configuration)
  const callback = provider.callback()
  handle = (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void callback(request, response)
    void provider.interactionFinished(request, response, { login: { accountId: signedIn } })
  }

  return {
    issuer,
    clientId,
    clientSecret,
    requests,
    person(sub, claims = {}) {
      people.set(sub, claims)
      signedIn = sub
    },
    browse: (address) => browse(address),
    close: () => closed(server),
  }
}

const mostHops = 10

/** A new browser each time: cookies, redirects, and nothing else. */
async function browse(address: string): Promise<Record<string, string>> {
  const cookies = new Map<string, string>()
  let next = address
  for (let hop = 0; hop < mostHops; hop += 1) {
    if (next.startsWith(redirectUri)) return Object.fromEntries(new URL(next).searchParams)
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(next, { redirect: 'manual', headers: cookie === '' ? {} : { cookie } })
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      cookies.set(name, value)
    }
    const location = answer.headers.get('location')
    if (location === null) throw new Error(`the provider answered ${answer.status}: ${await answer.text()}`)
    next = new URL(location, next).href
  }
  throw new Error('the provider sends the browser round in circles')
}

export const closed = (server: Server) =>
  new Promise<void>((resolve) => {
    server.closeAllConnections()
    server.close(() => resolve())
  })
