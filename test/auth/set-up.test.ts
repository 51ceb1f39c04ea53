/** The first run: once, by whoever holds the token. Spec: decisions 2, First run. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { offerSetUp } from '../../src/core/app/boot.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { anyone } from '../../src/core/kernel/values/actor.ts'
import { httpCaller } from '../kit/callers.ts'
import { startDaemon, type TestDaemon } from '../kit/http-server.ts'
import { password, type TestInstallation, testInstallation } from '../kit/installation.ts'

const { setUpInstallation, getOwnAccount, listOperators, createToken, stepUp, listTenants } = operations

let own: TestInstallation
let daemon: TestDaemon
const closing: (() => Promise<void>)[] = []
beforeEach(async () => {
  own = await testInstallation()
  daemon = await startDaemon(own.installation)
  closing.push(daemon.close, own.close)
})
afterAll(async () => {
  for (const close of closing) await close()
})

const body = (set_up_token: string, slug = 'first') => ({
  set_up_token,
  workspace: { slug, display_name: 'First' },
  owner: { email: 'ops@first.example', display_name: 'Olive', password },
})

const http = (token?: string) => httpCaller(daemon.url, token)
const tenants = () => own.oracle`select slug from tenant`

test('the holder of the token gets a workspace, an owner who is an operator, and a session', async () => {
  const token = await offerSetUp(own.installation)
  const made = await http().call(setUpInstallation, { body: body(token!) })
  expect(made.tenant).toMatchObject({ slug: 'first', display_name: 'First' })

  const person = http(made.session.access_token)
  expect(await person.call(getOwnAccount)).toMatchObject({
    id: made.account_id,
    state: 'ACTIVE',
    role: 'OWNER',
    is_operator: true,
    email: 'ops@first.example',
    display_name: 'Olive',
    workspace: { id: made.tenant.id, slug: 'first' },
    addresses: [{ email: 'ops@first.example', is_primary: true, confirmed_at: expect.any(String) }],
  })
  expect((await own.asRecovery(listOperators)).data.map(({ account_id }) => account_id)).toEqual([made.account_id])
  expect((await own.oracle`select action from journal order by id`).map((row) => row['action'] as string)).toEqual([
    'tenant.provisioned',
    'operator.added',
    'installation.set_up',
  ])
  expect(await own.oracle`select name from bucket`).toHaveLength(3)
})

test('from there the whole way to an operator’s token: step-up, token, first admin call', async () => {
  const token = await offerSetUp(own.installation)
  const { session } = await http().call(setUpInstallation, { body: body(token!) })
  const person = http(session.access_token)
  const minted = { name: 'ops', scopes: ['admin:tenants' as const] }
  await expect(person.call(createToken, { body: minted })).rejects.toMatchObject({
    code: 'auth.step_up_required',
    status: 401,
  })
  const proof = await person.call(stepUp, { body: { password, operation: 'createToken' } })
  const made = await person.call(createToken, { body: minted, stepUp: proof.step_up_token })
  expect((await http(made.token).call(listTenants)).data).toHaveLength(1)
  await expect(person.call(listTenants)).rejects.toMatchObject({ code: 'auth.scope_required' })
})

test('it happens once, whatever the token and whichever way', async () => {
  const token = await offerSetUp(own.installation)
  await http().call(setUpInstallation, { body: body(token!) })
  const over = { code: 'installation.already_set_up', status: 409 }
  await expect(http().call(setUpInstallation, { body: body(token!, 'second') })).rejects.toMatchObject(over)
  await expect(http().call(setUpInstallation, { body: body('a wrong one', 'second') })).rejects.toMatchObject(over)
  await expect(own.asRecovery(setUpInstallation, { body: body('not asked for', 'second') })).rejects.toMatchObject(over)
  expect(await offerSetUp(own.installation)).toBe(undefined)
  expect([...(await tenants())]).toEqual([{ slug: 'first' }])
})

test('of 6 at once one succeeds', async () => {
  const token = await offerSetUp(own.installation)
  const outcomes = await Promise.allSettled(
    Array.from({ length: 6 }, (_, n) => http().call(setUpInstallation, { body: body(token!, `first-${n}`) })),
  )
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const outcome of outcomes)
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'installation.already_set_up' })
  expect(await tenants()).toHaveLength(1)
  expect(await own.oracle`select 1 from operator`).toHaveLength(1)
})

test('a wrong token, and any token before one was offered, are unauthenticated and make nothing', async () => {
  const refused = { code: 'auth.unauthenticated', status: 401 }
  await expect(http().call(setUpInstallation, { body: body('none was offered') })).rejects.toMatchObject(refused)
  const first = await offerSetUp(own.installation)
  await expect(http().call(setUpInstallation, { body: body('a wrong one') })).rejects.toMatchObject(refused)
  const second = await offerSetUp(own.installation)
  await expect(http().call(setUpInstallation, { body: body(first!) })).rejects.toMatchObject(refused) // every start makes a new one
  expect(await tenants()).toHaveLength(0)
  expect((await http().call(setUpInstallation, { body: body(second!) })).account_id).toMatch(/-/)
})

test('the operator may have chosen the token', async () => {
  const chosen = await testInstallation({ env: { SVC_SETUP_TOKEN: 'sixteen letters or more' } })
  closing.push(chosen.close)
  expect(await offerSetUp(chosen.installation)).toBe('sixteen letters or more')
  const { performForAnswer } = await import('../../src/core/app/perform.ts')
  const made = await performForAnswer(chosen.installation, setUpInstallation, anyone, {
    body: body('sixteen letters or more'),
  })
  expect(made.tenant.slug).toBe('first')
})

describe('a refused body', () => {
  test.each([
    ['/workspace/slug', { workspace: { slug: 'admin', display_name: 'x' } }],
    ['/workspace/slug', { workspace: { slug: 'No', display_name: 'x' } }],
    ['/owner/password', { owner: { email: 'a@b.example', display_name: 'x', password: 'elevenchars' } }],
    ['/owner/password', { owner: { email: 'a@b.example', display_name: 'x', password: 'x'.repeat(1025) } }],
  ])('at %s (%j) leaves the installation to be set up', async (pointer, more) => {
    const token = await offerSetUp(own.installation)
    await expect(http().call(setUpInstallation, { body: { ...body(token!), ...more } })).rejects.toMatchObject({
      code: 'request.invalid',
      errors: [{ pointer }],
    })
    expect(await tenants()).toHaveLength(0)
    expect((await http().call(setUpInstallation, { body: body(token!) })).tenant.slug).toBe('first')
  })
})

test('where the operator at the database made a workspace first, its name is taken', async () => {
  await own.provision('first')
  const token = await offerSetUp(own.installation)
  const setUp = (slug: string) => http().call(setUpInstallation, { body: body(token ?? '', slug) })
  await expect(setUp('first')).rejects.toMatchObject({ code: 'admin.slug_taken', status: 409 })
  expect((await setUp('second')).tenant.slug).toBe('second')
})

test('where it is the only one that there may be, no other is made', async () => {
  const single = await testInstallation({ env: { SVC_MODE: 'single' } })
  const served = await startDaemon(single.installation)
  closing.push(served.close, single.close)
  const token = await offerSetUp(single.installation)
  await single.provision('first')
  await expect(
    httpCaller(served.url).call(setUpInstallation, { body: body(token ?? '', 'second') }),
  ).rejects.toMatchObject({ code: 'admin.multi_mode_required', status: 409 })
  expect(await single.oracle`select slug from tenant`).toEqual([{ slug: 'first' }])
})
