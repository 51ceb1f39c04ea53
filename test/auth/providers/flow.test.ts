/** The flow of a sign-in through a real provider: it serves one browser, once, for some minutes. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sweepExpired } from '../../../src/core/areas/auth/sign-in/jobs.ts'
import { redirectUri } from '../../kit/oidc-provider.ts'
import { finish, start } from '../../kit/signing-in.ts'
import { openSignIns, type SignIns } from './sign-ins.ts'

let signIns: SignIns
let ways: SignIns['ways']
let real: SignIns['real']
let workspace: SignIns['workspace']
let offered: SignIns['offered']
beforeAll(async () => {
  signIns = await openSignIns()
  ;({ ways, real, workspace, offered } = signIns)
})
afterAll(() => signIns.close())

describe('a flow', () => {
  const begun = async () => {
    const at = await workspace()
    const providerId = await offered(at, { provisioning: 'ANY' })
    real.person(`flow-${at.slug}`, { email: `f@${at.slug}.example`, email_verified: true })
    const { json } = await start(ways.daemon, { workspace: at.slug, provider_id: providerId })
    const brought = await real.browse(json.authorization_url)
    return { at, providerId, flow_token: json.flow_token as string, brought, url: new URL(json.authorization_url) }
  }

  test('asks with PKCE, a nonce and a state; the database holds none of them', async () => {
    const { url, flow_token } = await begun()
    const sent = Object.fromEntries(url.searchParams)
    expect(sent).toMatchObject({ response_type: 'code', code_challenge_method: 'S256', redirect_uri: redirectUri })
    for (const name of ['state', 'nonce', 'code_challenge']) expect(sent[name]).toMatch(/^[A-Za-z0-9_-]{43}$/)
    const rows = JSON.stringify(await ways.sql`select encode(hash, 'escape') as hash, f.* from sign_in_flow f`)
    for (const secret of [flow_token, sent['state'], sent['nonce']]) expect(rows).not.toContain(secret)
  })

  test('serves once, also where two come at the same moment', async () => {
    const { flow_token, brought } = await begun()
    const answers = await Promise.all(Array.from({ length: 5 }, () => finish(ways.daemon, { flow_token, ...brought })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401, 401])
  })

  test("what somebody else's browser brings opens nothing", async () => {
    const [mine, theirs] = [await begun(), await begun()]
    const answer = await finish(ways.daemon, { flow_token: mine.flow_token, ...theirs.brought })
    expect([answer.status, answer.json.code]).toEqual([401, 'auth.sign_in_failed'])
    const mixed = await finish(ways.daemon, {
      flow_token: theirs.flow_token,
      ...theirs.brought,
      code: mine.brought['code'],
    })
    expect([mixed.status, mixed.json.code]).toEqual([401, 'auth.sign_in_failed'])
  })

  test('that is over, unknown or no flow at all is refused alike', async () => {
    const { flow_token, brought } = await begun()
    await ways.sql`update sign_in_flow set expires_at = now()`
    for (const token of [flow_token, `${flow_token.slice(0, -1)}x`, 'svcf_nothing', 'x'])
      expect((await finish(ways.daemon, { ...brought, flow_token: token })).json.code).toBe('auth.sign_in_failed')
  })

  test('from a clock that went ahead serves nothing, until the clock is there', async () => {
    const { flow_token, brought } = await begun()
    const pass = (days: number) => ways.sql`
      update sign_in_flow set began_at = began_at - make_interval(days => ${days}), expires_at = expires_at - make_interval(days => ${days})`
    await pass(-1)
    expect((await finish(ways.daemon, { ...brought, flow_token })).json.code).toBe('auth.sign_in_failed')
    await pass(1)
    expect((await finish(ways.daemon, { ...brought, flow_token })).status).toBe(201)
  })

  test('is swept once it is over, and not before', async () => {
    const [over, alive] = [await begun(), await begun()]
    await ways.sql`update sign_in_flow set expires_at = now() - interval '1 second' where tenant_id = ${over.at.id}`
    await sweepExpired.run(ways.installation, undefined)
    const left = await ways.sql<{ tenant_id: string }[]>`
      select tenant_id from sign_in_flow where tenant_id in (${over.at.id}, ${alive.at.id})`
    expect(left).toEqual([{ tenant_id: alive.at.id }])
  })

  test('an unknown workspace, a provider it has not on, and one that nobody has answer alike', async () => {
    const { at, providerId } = await begun()
    const other = await workspace()
    for (const body of [
      { workspace: 'nobody-has-this', provider_id: providerId },
      { workspace: other.slug, provider_id: providerId },
      { workspace: at.slug, provider_id: randomUUIDv7() },
    ])
      expect(await start(ways.daemon, body)).toMatchObject({ status: 401, json: { code: 'auth.sign_in_failed' } })
  })

  test.each([
    'http://app.example/x',
    'https://app.example/x?y=1',
    'https://app.example/x#y',
    'https://a:b@app.example/',
    'javascript:alert(1)',
    '/x',
  ])('comes back to a page, not to %s', async (redirect_uri) => {
    const { at, providerId } = await begun()
    const answer = await ways.daemon.call('POST', '/api/v1/auth/oidc:start', {
      body: { workspace: at.slug, provider_id: providerId, redirect_uri },
    })
    expect(answer.json).toMatchObject({ code: 'request.invalid', errors: [{ pointer: '/redirect_uri' }] })
  })

  test('a suspended workspace is not signed in to', async () => {
    const { at, flow_token, brought } = await begun()
    await ways.sql`update tenant set state = 'SUSPENDED', suspended_at = now() where id = ${at.id}`
    expect((await finish(ways.daemon, { flow_token, ...brought })).json.code).toBe('tenant_suspended')
  })
})
