/** A flood of sign-ins waits for itself: who is signed in steps up beside it, and a stranger from elsewhere signs in. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestDaemon, testDaemon } from '../kit/daemon.ts'
import { type Source, source } from '../kit/from-source.ts'
import { type Home, setUp } from '../kit/people.ts'

let daemon: TestDaemon
let home: Home
const sources: Source[] = []
beforeAll(async () => {
  daemon = await testDaemon()
  home = await setUp(daemon)
})
afterAll(async () => {
  for (const one of sources) one.close()
  await daemon.close()
})

function from(address: string): Source {
  const opened = source(daemon.address, address, 100)
  sources.push(opened)
  return opened
}

const wrong = (n: number, workspace = 'home') => ({ workspace, email: `nobody-${n}@home.example`, password: 'a guess' })

/** Begins 32 guesses from one address and, once some wait, does `work`; answers how many guesses were heard before it was done. */
async function amid(flood: Source, workspace: (n: number) => string, work: () => Promise<{ status: number }>) {
  let heard = 0
  let first = () => {}
  const begun = new Promise<void>((resolve) => {
    first = resolve
  })
  const guesses = Array.from({ length: 32 }, async (_, n) => {
    const { status } = await flood.post('/auth/sessions', wrong(n, workspace(n)))
    heard += 1
    first()
    return status
  })
  await begun
  const before = heard
  const { status } = await work()
  const between = heard - before
  return { status, between, guesses: await Promise.all(guesses) }
}

const stepUp = () =>
  daemon.call('POST', '/api/v1/auth/step-up', { token: home.session, body: { password: home.password } })
const signIn = (by: Source) =>
  by.post('/auth/sessions', { workspace: 'home', email: home.email, password: home.password })

test('who is signed in steps up before the flood is through', async () => {
  const { status, between, guesses } = await amid(from('127.0.0.2'), () => 'home', stepUp)
  expect(status).toBe(201)
  expect(between, 'guesses heard meanwhile').toBeLessThanOrEqual(8)
  expect(new Set(guesses)).toEqual(new Set([401]))
})

test('another address signs in before the flood is through, in the workspace that is flooded', async () => {
  const elsewhere = from('127.0.0.3')
  const { status, between } = await amid(
    from('127.0.0.2'),
    () => 'home',
    () => signIn(elsewhere),
  )
  expect(status).toBe(201)
  expect(between).toBeLessThanOrEqual(8)
})

test('and where the flood names another workspace each time', async () => {
  const elsewhere = from('127.0.0.3')
  const { status, between } = await amid(
    from('127.0.0.2'),
    (n) => `unknown-${n}`,
    () => signIn(elsewhere),
  )
  expect(status).toBe(201)
  expect(between).toBeLessThanOrEqual(8)
})

test('more guesses of one address than may wait are told so, and nobody else is', async () => {
  const flood = from('127.0.0.2')
  const elsewhere = from('127.0.0.3')
  const guesses = Promise.all(Array.from({ length: 100 }, (_, n) => flood.post('/auth/sessions', wrong(n))))
  const [step, entered] = await Promise.all([stepUp(), signIn(elsewhere)])
  expect([step.status, entered.status]).toEqual([201, 201])
  const refused = (await guesses).filter(({ status }) => status === 503)
  expect(refused.length).toBeGreaterThan(16)
  expect(refused[0]?.json.code).toBe('service.unavailable')
  expect(refused[0]?.headers['retry-after']).toBe('1')
})
