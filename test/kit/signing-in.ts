/** Signing in through a provider over the API, as an application's page does it. */
import type { Answered, TestDaemon } from './daemon.ts'
import { type OidcProvider, redirectUri } from './oidc-provider.ts'

export interface Starting {
  readonly workspace: string
  readonly provider_id: string
  readonly invitation_token?: string
}

export const start = (daemon: TestDaemon, body: Starting): Promise<Answered> =>
  daemon.call('POST', '/api/v1/auth/oidc:start', { body: { redirect_uri: redirectUri, ...body } })

export const finish = (daemon: TestDaemon, body: object): Promise<Answered> =>
  daemon.call('POST', '/api/v1/auth/oidc:callback', { body })

/** From the button to the answer of :callback; a start that is refused is answered as it is. */
export async function signInThrough(daemon: TestDaemon, provider: OidcProvider, body: Starting): Promise<Answered> {
  const started = await start(daemon, body)
  if (started.status !== 201) return started
  const { code, state, iss } = await provider.browse(started.json.authorization_url)
  return finish(daemon, { flow_token: started.json.flow_token, code, state, iss })
}

/** The account of a session. */
export const whoIs = async (daemon: TestDaemon, { json }: Answered) =>
  (await daemon.call('GET', '/api/v1/accounts/me', { token: json.access_token })).json
