/**
 * T-15 for what stands above the guard: a name that answers outside when it is vetted and inside when it is connected to
 * leads neither the OpenID client nor a model's adapter into the private network.
 */

import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:net'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { exchangeWith } from '../../../src/core/areas/ai/exchange.ts'
import { type Egress, openEgress } from '../../../src/core/kernel/egress/client.ts'
import { nothingReleased, type Resolve } from '../../../src/core/kernel/egress/guard.ts'
import { authorizationUrl, discover, redeem } from '../../../src/core/kernel/egress/oidc.ts'

let hits = 0
let canary: Server
let port = 0
beforeAll(async () => {
  canary = createServer((socket) => {
    hits += 1
    socket.destroy()
  })
  await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve))
  port = (canary.address() as AddressInfo).port
})
afterAll(() => new Promise<void>((resolve) => void canary.close(() => resolve())))
beforeEach(() => {
  hits = 0
})

/** Outside for the first `honest` questions, inside from then on. */
const rebinding = (honest: number): Resolve => {
  let asked = 0
  return async () => {
    asked += 1
    return asked <= honest ? ['93.184.216.34'] : ['127.0.0.1']
  }
}

const client = () => ({
  issuer: `https://idp.example:${port}`,
  clientId: 'svc',
  clientSecret: 'shared',
  manyIssuers: false,
  answerMs: 2_000,
})
const binding = { state: 's', nonce: 'n', verifier: 'v'.repeat(43) }
const brought = { redirectUri: 'https://app.example/in', code: 'c', state: 's', iss: undefined }
const model = () => ({ base_url: `https://model.example:${port}/v1`, apiKey: 'key' })

const clients: Readonly<Record<string, (egress: Egress) => Promise<unknown>>> = {
  'discovery of an issuer': (egress) => discover(egress, client()),
  'the beginning of a sign-in': (egress) => authorizationUrl(egress, client(), 'https://app.example/in', binding),
  'the end of a sign-in': (egress) => redeem(egress, client(), brought, binding),
  'a question to a model': (egress) => exchangeWith(egress, model(), 2_000)('/chat/completions', {}),
}

test.each(Object.entries(clients))('%s goes nowhere inside', async (_, call) => {
  for (let round = 0; round < 20; round += 1) {
    const egress = openEgress({ release: nothingReleased, own: [], resolve: rebinding(1) })
    await expect(call(egress)).rejects.toThrow()
    await egress.close()
  }
  expect(hits).toBe(0)
})

test('the canary is hit where the operator has released it, so that the names above do lead there', async () => {
  const release = { ...nothingReleased, names: new Set(['idp.example', 'model.example']) }
  for (const call of Object.values(clients)) {
    const before = hits
    const egress = openEgress({ release, own: [], resolve: rebinding(0) })
    await expect(call(egress)).rejects.toThrow()
    await egress.close()
    expect(hits).toBeGreaterThan(before)
  }
})
