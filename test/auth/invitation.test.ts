/** Invitations: a token that lets one account in, once. Spec: decisions 2. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endInvitation } from '../../src/core/areas/auth/sign-in/jobs.ts'
import type { Answer } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { mintToken } from '../../src/core/kernel/values/token.ts'
import { type Callers, callers } from '../kit/accounts.ts'
import type { Caller } from '../kit/callers.ts'
import { password, type TestInstallation, testInstallation } from '../kit/installation.ts'

const { inspectInvitation, redeemInvitation, getOwnAccount, signIn } = operations

let own: TestInstallation
let who: Callers
let anybody: Caller
beforeAll(async () => {
  own = await testInstallation()
  who = await callers(own)
  anybody = who.as()
})
afterAll(async () => {
  await who.close()
  await own.close()
})

type Made = Answer<typeof operations.provisionTenant>
const redeem = ({ redemption_token }: Made, more: object = {}) =>
  anybody.call(redeemInvitation, { body: { token: redemption_token, password, ...more } })
const invalid = { code: 'auth.invitation_invalid', status: 410, params: {} }

test('its holder sees what it is for, and looking does not use it up', async () => {
  const made = await own.provision()
  for (let n = 0; n < 3; n += 1)
    expect(await anybody.call(inspectInvitation, { body: { token: made.redemption_token } })).toEqual({
      workspace: { slug: made.tenant.slug, display_name: made.tenant.display_name },
      email: made.owner.email,
      expires_at: made.redemption_expires_at,
    })
})

test('redeemed, the owner is active, signed in, and can sign in again', async () => {
  const made = await own.provision()
  const session = await redeem(made, { display_name: 'Now Known' })
  expect(await who.as(session.access_token).call(getOwnAccount)).toMatchObject({
    id: made.owner.account_id,
    state: 'ACTIVE',
    role: 'OWNER',
    is_operator: false,
    display_name: 'Now Known',
  })
  const again = await anybody.call(signIn, { body: { workspace: made.tenant.slug, email: made.owner.email, password } })
  expect(again.session_id).not.toBe(session.session_id)
})

test('a name given at provisioning stays unless another is given', async () => {
  const made = await own.provision(undefined, { owner_display_name: 'Given' })
  const { access_token } = await redeem(made)
  expect((await who.as(access_token).call(getOwnAccount)).display_name).toBe('Given')
})

test('it serves once: afterwards it is as unknown as any', async () => {
  const made = await own.provision()
  await redeem(made)
  await expect(redeem(made)).rejects.toMatchObject(invalid)
  await expect(anybody.call(inspectInvitation, { body: { token: made.redemption_token } })).rejects.toMatchObject(
    invalid,
  )
})

test.each([2, 20])('of %i at once one gets in', async (crowd) => {
  const made = await own.provision()
  const outcomes = await Promise.allSettled(Array.from({ length: crowd }, () => redeem(made)))
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  for (const outcome of outcomes) if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject(invalid)
  const { id } = made.tenant
  expect(await own.oracle`select 1 from session where tenant_id = ${id}`).toHaveLength(1)
  expect(
    await own.oracle`select 1 from audit_entry where tenant_id = ${id} and action = 'account.joined'`,
  ).toHaveLength(1)
  expect(
    await own.oracle`select 1 from outbox_event where tenant_id = ${id} and type like '%account.joined.v1'`,
  ).toHaveLength(1)
})

describe('unknown, used, expired and garbage answer alike', () => {
  test.each([
    ['never minted', mintToken('invitation').token],
    ['of another kind', mintToken('session').token],
    ['with a wrong checksum', `${mintToken('invitation').token.slice(0, -1)}!`],
    ['one letter', 'x'],
    ['SQL', "' or 1=1 --"],
    ['200 letters', 'ä'.repeat(200)],
  ])('%s', async (_, token) => {
    await expect(anybody.call(inspectInvitation, { body: { token } })).rejects.toMatchObject(invalid)
    await expect(anybody.call(redeemInvitation, { body: { token, password } })).rejects.toMatchObject(invalid)
  })

  test('expired, by the database’s clock', async () => {
    const made = await own.provision()
    await own.oracle`update invitation set expires_at = now() where tenant_id = ${made.tenant.id}`
    await expect(redeem(made)).rejects.toMatchObject(invalid)
    await expect(anybody.call(inspectInvitation, { body: { token: made.redemption_token } })).rejects.toMatchObject(
      invalid,
    )
    const [dayAhead, now] = [own.oracle`now() + interval '1 day'`, own.oracle`now()`]
    for (const issued of [dayAhead, now]) {
      await own.oracle`
        update invitation set expires_at = now() + interval '2 days', created_at = ${issued} where tenant_id = ${made.tenant.id}`
      // A clock that falls back does not let it live longer.
      if (issued === dayAhead) await expect(redeem(made)).rejects.toMatchObject(invalid)
    }
    expect((await redeem(made)).access_token).toMatch(/^svcs_/)
  })
})

test.each(['x9-kq', 'elevenchars', 'x'.repeat(1025)])(
  'the password %j is refused, and the invitation still serves',
  async (bad) => {
    const made = await own.provision()
    await expect(redeem(made, { password: bad })).rejects.toMatchObject({
      code: 'request.invalid',
      errors: [{ pointer: '/password' }],
    })
    expect((await redeem(made)).access_token).toMatch(/^svcs_/)
  },
)

describe('the job that ends it', () => {
  const rows = (made: Made) => own.oracle`select 1 from invitation where tenant_id = ${made.tenant.id}`
  const run = (made: Made, id: string) =>
    endInvitation.run(own.installation, { tenantId: made.tenant.id, invitationId: id })
  const idOf = async (made: Made) =>
    (await own.oracle<{ id: string }[]>`select id from invitation where tenant_id = ${made.tenant.id}`)[0]!.id

  test('come early, it leaves the invitation to its holder', async () => {
    const made = await own.provision()
    await run(made, await idOf(made))
    expect((await redeem(made)).access_token).toMatch(/^svcs_/)
  })

  test('come in time, it removes it and says so once, however often it runs', async () => {
    const made = await own.provision()
    const id = await idOf(made)
    await own.oracle`update invitation set expires_at = now() where tenant_id = ${made.tenant.id}`
    await Promise.all([run(made, id), run(made, id), run(made, id)])
    await run(made, id)
    expect(await rows(made)).toHaveLength(0)
    expect(
      await own.oracle`select 1 from audit_entry where tenant_id = ${made.tenant.id} and action = 'invitation.expired'`,
    ).toHaveLength(1)
    expect(
      await own.oracle`select 1 from outbox_event where tenant_id = ${made.tenant.id} and type like '%invitation.expired.v1'`,
    ).toHaveLength(1)
  })

  test('of one that was redeemed it removes nothing', async () => {
    const made = await own.provision()
    const id = await idOf(made)
    await redeem(made)
    await own.oracle`update invitation set expires_at = now() where tenant_id = ${made.tenant.id}`
    await run(made, id)
    expect(await rows(made)).toHaveLength(1)
  })
})
