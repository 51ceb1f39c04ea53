/** A forgotten password: a mail with a link that works, once. Over a real SMTP server. Spec: Index, Auth; Admin: workspaces, rule 2. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { endInvitation } from '../../src/core/areas/auth/sign-in/jobs.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { type Callers, callers, joinedWorkspace, type Person } from '../kit/accounts.ts'
import { request } from '../kit/callers.ts'
import { decide, decideNothing } from '../kit/deciding.ts'
import { password } from '../kit/installation.ts'
import { type Mailing, mailing } from '../kit/mailing.ts'
import { meeting } from '../kit/meeting.ts'
import { type SmtpRelay, smtpRelay } from '../kit/smtp-relay.ts'

const { forgetPassword, resetPassword, signIn, getOwnAccount, redeemInvitation } = operations
const patience = { timeout: 20_000 }
const publicUrl = 'https://{slug}.work.example'

let relay: SmtpRelay
let house: Mailing
let who: Callers
beforeAll(async () => {
  relay = await smtpRelay()
  house = await mailing({ SVC_SMTP_URL: `smtp://127.0.0.1:${relay.port}`, SVC_PUBLIC_URL: publicUrl })
  who = await callers(house.test)
})
afterAll(async () => {
  await who.close()
  await house.end()
  await relay.close()
})

const forget = (workspace: string, email: string) =>
  request(who.daemon.url, forgetPassword, { body: { workspace, email } })
const reset = (token: string, secret: string) => who.as().call(resetPassword, { body: { token, password: secret } })
const enter = (of: Person, secret: string) =>
  who.as().call(signIn, { body: { workspace: of.slug, email: of.email, password: secret } })

/** Whoever joined by a token that was handed over is asked to confirm the address, too. */
const mailsTo = (email: string) =>
  relay.takenBy(email).filter(({ mail }) => !mail.subject?.startsWith('Confirm your address'))

/** Asks, waits for the mail, and takes the token out of its link. */
async function mailed(of: Person): Promise<string> {
  const before = mailsTo(of.email).length
  expect((await forget(of.slug, of.email)).status).toBe(204)
  await expect.poll(() => mailsTo(of.email).length, patience).toBe(before + 1)
  const { mail } = mailsTo(of.email).at(-1)!
  const link = /https:\/\/\S+/.exec(mail.text ?? '')?.[0] ?? ''
  expect(link).toMatch(new RegExp(`^https://${of.slug}\\.work\\.example/set-password#svcw_`))
  expect(mail.html).toContain(`href="${link}"`)
  return link.slice(link.indexOf('#') + 1)
}

/** As another minute would: the queue takes one mail a minute for an address. */
const letAMinutePass = () => house.test.oracle`
  update pgboss.job set singleton_on = null where name = 'send_password_reset'`

describe('the link of the mail', () => {
  test('sets a new password once: every session is over, the lock is lifted, and the person is told', async () => {
    const owner = await joinedWorkspace(house.test)
    await decide(house.test, { sign_in: { password_lockout_attempts: { value: 1 } } })
    await expect(enter(owner, 'not the password')).rejects.toMatchObject({ code: 'auth.sign_in_failed' })
    await expect(enter(owner, password)).rejects.toMatchObject({ code: 'auth.sign_in_locked' })

    const token = await mailed(owner)
    await expect(reset(token, 'elevenchars')).rejects.toMatchObject({
      errors: [{ pointer: '/password', code: 'text.too_short' }],
    })
    await reset(token, 'quite another good password')
    await expect(reset(token, 'quite another good password')).rejects.toMatchObject({
      code: 'auth.reset_invalid',
      status: 410,
    })
    await expect(who.as(owner.session.access_token).call(getOwnAccount)).rejects.toMatchObject({
      code: 'auth.unauthenticated',
    })
    expect((await enter(owner, 'quite another good password')).access_token).toMatch(/^svcs_/)
    await expect
      .poll(() => mailsTo(owner.email).map(({ mail }) => mail.subject), patience)
      .toContainEqual(expect.stringMatching(/^New password set: /))
    await decideNothing(house.test)
  })

  test('of 8 uses that meet one succeeds', async () => {
    const owner = await joinedWorkspace(house.test)
    const token = await mailed(owner)
    const answers = await meeting(
      house.test.oracle,
      (sql) => sql`select 1 from password_reset where account_id = ${owner.accountId} for update`,
      8,
      () =>
        Promise.all(
          Array.from({ length: 8 }, (_, n) =>
            request(who.daemon.url, resetPassword, { body: { token, password: `a good password, number ${n}` } }),
          ),
        ),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array(7).fill(410)])
  })

  test('serves no more once another mail has gone, or an hour has passed', async () => {
    const owner = await joinedWorkspace(house.test)
    const first = await mailed(owner)
    await letAMinutePass()
    const second = await mailed(owner)
    await expect(reset(first, 'quite another good password')).rejects.toMatchObject({ code: 'auth.reset_invalid' })
    await house.test
      .oracle`update password_reset set expires_at = now() where account_id = ${owner.accountId} and used_at is null`
    await expect(reset(second, 'quite another good password')).rejects.toMatchObject({ code: 'auth.reset_invalid' })
    // Nor one from a clock that went ahead.
    await house.test.oracle`
      update password_reset set expires_at = now() + interval '2 days', created_at = now() + interval '1 day' where account_id = ${owner.accountId} and used_at is null`
    await expect(reset(second, 'quite another good password')).rejects.toMatchObject({ code: 'auth.reset_invalid' })
  })

  test('is nowhere but in the mail: no log, no table, no queue holds its token', async () => {
    const owner = await joinedWorkspace(house.test)
    const token = await mailed(owner)
    expect(house.log()).not.toContain(token)
    const tables = await house.test.oracle<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('public', 'pgboss')`
    for (const { name } of tables) {
      const [found] = await house.test.oracle.unsafe<{ n: number }[]>(
        `select count(*)::int as n from ${name} t where position('${token}' in t::text) > 0`,
      )
      expect(found?.n, name).toBe(0)
    }
  })
})

describe('asking', () => {
  test('answers alike for an address that nobody has, and mails nobody', async () => {
    const owner = await joinedWorkspace(house.test)
    const seen = await Promise.all([
      forget(owner.slug, owner.email),
      forget(owner.slug, 'nobody@nowhere.example'),
      forget('no-such-place', owner.email),
    ])
    const alike = seen.map(({ status, body, headers }) =>
      JSON.stringify([status, body, [...headers].filter(([name]) => !['x-request-id', 'date'].includes(name))]),
    )
    expect(new Set(alike).size).toBe(1)
    await expect.poll(() => mailsTo(owner.email).length, patience).toBe(1)
    expect(relay.takenBy('nobody@nowhere.example')).toEqual([])
  })

  test('again and again queues one mail a minute, and sends five an hour', async () => {
    const owner = await joinedWorkspace(house.test)
    await mailed(owner)
    // Four more of this hour, as if they had been sent: one is left to ask for in vain.
    await house.test.oracle`
      insert into password_reset (tenant_id, id, account_id, expires_at)
      select ${owner.tenantId}, gen_random_uuid(), ${owner.accountId}, now() from generate_series(1, 4)`
    for (let n = 0; n < 20; n += 1) await forget(owner.slug, owner.email)
    const states = async () => {
      const jobs = await house.test.oracle<{ state: string }[]>`
        select state::text as state from pgboss.job where name = 'send_password_reset' and data ->> 'tenantId' = ${owner.tenantId}`
      return jobs.map(({ state }) => state)
    }
    // Three, should two minutes begin meanwhile.
    expect((await states()).length).toBeLessThanOrEqual(3)
    const queued = (await states()).length
    await letAMinutePass()
    await forget(owner.slug, owner.email)
    await expect
      .poll(async () => (await states()).filter((state) => state === 'completed').length, patience)
      .toBeGreaterThan(queued)
    expect(mailsTo(owner.email)).toHaveLength(1)
  })

  test('is refused where passwords are not reset by mail, or not used at all; an opening lets it through', async () => {
    const owner = await joinedWorkspace(house.test)
    await decide(house.test, { sign_in: { password_self_service_reset: { value: false, locked: true } } })
    expect(await forget(owner.slug, owner.email)).toMatchObject({
      status: 403,
      body: { code: 'auth.password_reset_disabled' },
    })
    await decide(house.test, { sign_in: { password_enabled: { value: false } } })
    expect(await forget(owner.slug, owner.email)).toMatchObject({
      status: 403,
      body: { code: 'auth.password_disabled' },
    })
    await house.open(owner.tenantId)
    await house.test.oracle`update account set password_hash = null where id = ${owner.accountId}`
    const before = mailsTo(owner.email).length
    expect((await forget(owner.slug, owner.email)).status).toBe(204)
    const mails = () =>
      relay
        .takenBy(owner.email)
        .slice(before)
        .map(({ mail }) => mail.text ?? '')
    await expect.poll(() => mails().filter((text) => text.includes('#svcw_')).length, patience).toBe(1)
    const token = /#(svcw_\S+)/.exec(mails().find((text) => text.includes('#svcw_')) ?? '')?.[1] ?? ''
    await reset(token, 'a password where there was none')
    expect((await enter(owner, 'a password where there was none')).access_token).toMatch(/^svcs_/)
    await decideNothing(house.test)
  })

  test('an account that was invited only gets its invitation by mail; what was handed over still serves', async () => {
    const made = await house.test.provision()
    expect((await forget(made.tenant.slug, made.owner.email)).status).toBe(204)
    await expect.poll(() => relay.takenBy(made.owner.email).length, patience).toBe(1)
    const [taken] = relay.takenBy(made.owner.email)
    expect(taken!.mail.subject).toMatch(/^Invitation: /)
    expect(taken!.mail.text).toMatch(new RegExp(`https://${made.tenant.slug}\\.work\\.example/join#svci_`))
    await who.as().call(redeemInvitation, { body: { token: made.redemption_token, password } })
    const token = /#(svci_\S+)/.exec(taken!.mail.text ?? '')?.[1] ?? ''
    await expect(who.as().call(redeemInvitation, { body: { token, password } })).rejects.toMatchObject({ status: 410 })
  })

  test('an invitation that is mailed once more ends when the one before would have, by a job of its own', async () => {
    const made = await house.test.provision()
    const ends = () => house.test.oracle<{ id: string; is_mailed: boolean; until: string }[]>`
      select id, is_mailed, expires_at::text as until from invitation where tenant_id = ${made.tenant.id} order by created_at`
    await forget(made.tenant.slug, made.owner.email)
    await expect.poll(() => relay.takenBy(made.owner.email).length, patience).toBe(1)
    const [handed, mailed] = await ends()
    expect(mailed).toMatchObject({ is_mailed: true, until: handed?.until })

    await house.test.oracle`update invitation set expires_at = now() where id = ${mailed?.id ?? ''}`
    const [job] = await house.test.oracle`
      select data from pgboss.job where name = 'end_invitation' and data ->> 'invitationId' = ${mailed?.id ?? ''}`
    await endInvitation.run(house.test.installation, job?.['data'])
    expect((await ends()).map(({ id }) => id)).toEqual([handed?.id])
  })
})

describe('the page that a link leads to', () => {
  test.each(['/set-password', '/join', '/confirm-address'])(
    '%s is served, runs the one script that its policy names, and speaks to nobody else',
    async (path) => {
      const answer = await fetch(new URL(path, who.daemon.url))
      const page = await answer.text()
      expect(answer.status).toBe(200)
      const policy = answer.headers.get('content-security-policy') ?? ''
      const script = /<script>([\s\S]*)<\/script>/.exec(page)?.[1] ?? ''
      const digest = Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(script))).toString(
        'base64',
      )
      expect(policy).toContain(`script-src 'sha256-${digest}'`)
      expect(policy).toContain("default-src 'none'")
      expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
      expect(page).not.toMatch(/https?:\/\//)
    },
  )
})
