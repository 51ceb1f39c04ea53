/** What each of the four operations refuses that say how a provider is reached, over HTTP (people 4, N22; the specification's lists). */
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Answered } from '../../kit/daemon.ts'
import { type Person, person, workspace } from '../../kit/people.ts'
import { plantProof } from '../../kit/proofs.ts'
import { type ProvingHouse, provingHouse } from '../../kit/proving-house.ts'

let house: ProvingHouse
let owner: Person
beforeAll(async () => {
  house = await provingHouse()
  owner = await person(house.ways.daemon, await workspace(house.ways.daemon, 'refusing'))
})
afterAll(() => house.close())

const ways = [
  { name: 'POST /identity-providers', path: '/identity-providers', isNew: true, who: () => owner },
  { name: 'PUT /identity-providers/{providerId}', path: '/identity-providers', isNew: false, who: () => owner },
  {
    name: 'POST /admin/identity-providers',
    path: '/admin/identity-providers',
    isNew: true,
    who: () => house.ways.operator,
  },
  {
    name: 'PUT /admin/identity-providers/{providerId}',
    path: '/admin/identity-providers',
    isNew: false,
    who: () => house.ways.operator,
  },
] as const

test.each(ways)('$name refuses what nobody can sign in by', async ({ path, isNew, who }) => {
  const usual = { issuer: house.real.issuer, client_id: 'svc' }
  const call = async (method: string, url: string, body: object): Promise<Answered> =>
    house.ways.daemon.call(method, `/api/v1${url}`, {
      token: who().token,
      body,
      headers: { 'x-service-step-up': await plantProof(house.ways.sql, who()) },
    })
  const made = isNew ? undefined : await call('POST', path, usual)
  const send = (more: object) =>
    made ? call('PUT', `${path}/${made.json.id}`, { ...usual, ...more }) : call('POST', path, { ...usual, ...more })
  const refusals = [
    [{ enabled: false }, 409, 'identity_provider.withdraw_instead'],
    [{ kind: 'PRESET_ONE' }, 422, 'identity_provider.kind_mismatch'],
    [{ issuer: 'http://10.0.0.1/x' }, 422, 'egress.forbidden'],
    [{ issuer: 'http://127.0.0.1:9/' }, 422, 'identity_provider.discovery_failed'],
  ] as const
  for (const [more, status, code] of refusals) {
    const answer = await send(more)
    expect([more, answer.status, answer.json.code]).toEqual([more, status, code])
  }
})

test('one whose offer has ended is switched on by nobody', async () => {
  const { operator, daemon, sql } = house.ways
  const call = async (path: string, who: Person, body: object) =>
    daemon.call('POST', `/api/v1${path}`, {
      token: who.token,
      body,
      headers: { 'x-service-step-up': await plantProof(sql, who) },
    })
  const { id } = (await call('/admin/identity-providers', operator, { issuer: house.real.issuer, client_id: 'svc' }))
    .json
  const over = { withdraw_at: new Date().toISOString(), confirm_count: 0 }
  expect((await call(`/admin/identity-providers/${id}:withdraw`, operator, over)).json.state).toBe('ENDED')
  const answer = await call(`/identity-providers/${id}:offer`, owner, { offered: true })
  expect([answer.status, answer.json.code]).toEqual([409, 'identity_provider.already_withdrawn'])
})
