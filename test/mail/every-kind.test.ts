/** Every kind of mail there is reaches a real relay, in every language, as text and HTML; and what a link promises is kept. */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { performForAnswer } from '../../src/core/app/perform.ts'
import { tellAccount, tellAdministrators } from '../../src/core/areas/mail/jobs.ts'
import { kindOf, mailNames } from '../../src/core/areas/mail/kinds.ts'
import { languages } from '../../src/core/areas/mail/texts/language.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { anyone } from '../../src/core/kernel/values/actor.ts'
import { type Callers, callers, joinedWorkspace, type Person } from '../kit/accounts.ts'
import { codeAt, enroll, forget } from '../kit/authenticator.ts'
import { password } from '../kit/installation.ts'
import { type Mailing, mailing } from '../kit/mailing.ts'
import { type SmtpRelay, smtpRelay } from '../kit/smtp-relay.ts'

const patience = { timeout: 150_000 }
const longest = 180_000
let relay: SmtpRelay
let house: Mailing
let who: Callers
beforeAll(async () => {
  relay = await smtpRelay()
  house = await mailing({
    SVC_SMTP_URL: `smtp://127.0.0.1:${relay.port}`,
    SVC_MAIL_FROM: 'Acme Workspaces <svc@mail.example>',
  })
  who = await callers(house.test)
})
afterAll(async () => {
  await who.close()
  await house.end()
  await relay.close()
})

const subjects = (address: string) => relay.takenBy(address).map(({ mail }) => mail.subject ?? '')
const english = (name: (typeof mailNames)[number], workspace: string) =>
  kindOf(name).texts.en.subject.replace('{workspace}', workspace)

/** Queued as a rule would, in a transaction of the workspace. */
const tell = (tenantId: string, accountId: string, name: (typeof mailNames)[number]) =>
  house.test.installation.transaction({ kind: 'SYSTEM', job: 'test' }, { tenantId }, async (ctx) => {
    const noticeId = await ctx.audit('test.told', { params: { requester: 'Ruth', reason: 'a reason' } })
    const at = new Date().toISOString()
    if (kindOf(name).to !== 'administrators') await tellAccount(ctx, { tenantId, accountId, noticeId, name, at })
    else await ctx.enqueue(tellAdministrators, { tenantId, noticeId, name, at })
  })

describe('in every language', () => {
  const readers = new Map<string, string>()
  /** All of them in one language, and two in every other: what the rest says is message.test.ts's to hold. */
  const kindsIn = (language: string) => {
    const at = (languages as readonly string[]).indexOf(language)
    return at === 0 ? mailNames : mailNames.filter((_, index) => index % 6 === at % 6)
  }
  beforeAll(async () => {
    for (const language of languages) {
      const tenantId = await house.workspace({ locale: language, displayName: 'Acme' })
      const address = await house.account(tenantId)
      readers.set(language, address)
      for (const name of kindsIn(language)) await tell(tenantId, address.split('@')[0] ?? '', name)
    }
  }, longest)

  test.each(languages)(
    '%s: what is told arrives, with a subject, a text and an HTML part of its own',
    async (language) => {
      const address = readers.get(language) ?? ''
      const { length } = kindsIn(language)
      await expect.poll(() => relay.takenBy(address).length, patience).toBe(length)
      const mails = relay.takenBy(address)
      expect(new Set(mails.map(({ mail }) => mail.subject)).size).toBe(length)
      expect(new Set(mails.map(({ mail }) => mail.messageId)).size).toBe(length)
      for (const { mail } of mails) {
        expect(mail.text?.length).toBeGreaterThan(50)
        expect(mail.html).toContain(`<html lang="${language}">`)
        expect(`${mail.subject}${mail.text}${mail.html}`).not.toMatch(/\{[a-z_]+\}/)
      }
    },
    longest,
  )
})

describe('what brings them about', () => {
  const arrived = (person: Person, name: (typeof mailNames)[number]) =>
    expect.poll(() => subjects(person.email), patience).toContain(english(name, `Workspace ${person.slug}`))

  test(
    'a second factor: switched on, a recovery code used, new codes, switched off',
    async () => {
      const ada = await joinedWorkspace(house.test)
      const asAda = who.as(ada.session.access_token)
      const app = await enroll(who, ada)
      await arrived(ada, 'second_factor_on')

      const prove = async (shown: object) =>
        (await asAda.call(operations.stepUp, { body: { password, ...shown } })).step_up_token
      const byRecovery = await prove({ recovery_code: app.codes[0] })
      await arrived(ada, 'recovery_code_used')
      await asAda.call(operations.regenerateRecoveryCodes, { stepUp: byRecovery })
      await arrived(ada, 'recovery_codes_made')
      await forget(house.test)
      await asAda.call(operations.disableSecondFactor, {
        body: {},
        stepUp: await prove({ totp: codeAt(app.secret) }),
      })
      await arrived(ada, 'second_factor_off')

      const all = relay
        .takenBy(ada.email)
        .map(({ raw }) => raw)
        .join()
      for (const secret of [app.secret, ...app.codes]) expect(all).not.toContain(secret)
    },
    longest,
  )

  test('a wrong code that is refused brings no mail, nor does an enrolment that was not confirmed', async () => {
    const ada = await joinedWorkspace(house.test)
    const asAda = who.as(ada.session.access_token)
    const { step_up_token } = await asAda.call(operations.stepUp, { body: { password } })
    await asAda.call(operations.enrollTotp, { stepUp: step_up_token })
    await expect(asAda.call(operations.confirmTotp, { body: { code: '000000' } })).rejects.toBeDefined()
    const jobs = await house.test.oracle`
      select 1 from pgboss.job where name = 'send_mail' and data ->> 'tenantId' = ${ada.tenantId}`
    expect(jobs).toHaveLength(0)
  })

  test('a forgotten password: the link of the mail leads to a page, and its token sets a password once', async () => {
    const ada = await joinedWorkspace(house.test)
    await who.as().call(operations.forgetPassword, { body: { workspace: ada.slug, email: ada.email } })
    await arrived(ada, 'password_reset')
    const mail = relay
      .takenBy(ada.email)
      .find((taken) => taken.mail.subject === english('password_reset', `Workspace ${ada.slug}`))?.mail
    const [link = ''] = /https?:\/\/\S+/.exec(mail?.text ?? '') ?? []
    const [, href = ''] = /href="([^"]+)"/.exec(mail?.html ?? '') ?? []
    expect(href.replaceAll('&amp;', '&'), 'text and HTML lead to the same place').toBe(link)

    // The daemon of this test listens elsewhere than the configuration says: the same path, there.
    const { pathname, hash } = new URL(link)
    const page = await fetch(new URL(pathname, who.daemon.url))
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('/api/v1/auth/password:reset')

    const token = hash.slice(1)
    const reset = (secret: string) => who.as().call(operations.resetPassword, { body: { token, password: secret } })
    await reset('another horse battery staple')
    await expect(reset('a third horse battery staple')).rejects.toMatchObject({ code: 'auth.reset_invalid' })
    const signIn = (secret: string) =>
      performForAnswer(house.test.installation, operations.signIn, anyone, {
        body: { workspace: ada.slug, email: ada.email, password: secret },
      })
    expect((await signIn('another horse battery staple')).session_id).toBeTruthy()
    await expect(signIn(password)).rejects.toMatchObject({ code: 'auth.sign_in_failed' })
    await arrived(ada, 'password_reset_done')
    // Whoever used the link reads the address, which nobody had shown before.
    await arrived(ada, 'address_changed')
  })

  test('a password that makes way for another is told, in a session and at the sign-in', async () => {
    const ada = await joinedWorkspace(house.test)
    const [second, third] = ['another horse battery staple', 'a third horse battery staple']
    const asAda = who.as(ada.session.access_token)
    await asAda.call(operations.changePassword, { body: { current_password: password, new_password: second } })
    await arrived(ada, 'password_changed')
    const told = () =>
      relay.takenBy(ada.email).filter(({ mail }) => mail.subject?.startsWith('Password changed')).length
    expect(told()).toBe(1)
    await house.test.oracle`
      update account set start_password_until = now() + interval '1 day' where tenant_id = ${ada.tenantId} and email = ${ada.email}`
    const body = { workspace: ada.slug, email: ada.email, password: second, new_password: third }
    await who.as().call(operations.signInWithNewPassword, { body })
    await expect.poll(told, { timeout: 10_000 }).toBe(2)
  })

  test('a reset does not get past the second factor', async () => {
    const ada = await joinedWorkspace(house.test)
    const app = await enroll(who, ada)
    await forget(house.test)
    await who.as().call(operations.forgetPassword, { body: { workspace: ada.slug, email: ada.email } })
    await arrived(ada, 'password_reset')
    const raw = relay
      .takenBy(ada.email)
      .map(({ mail }) => mail.text)
      .join()
    const [, token = ''] = /#(svcw_[0-9A-Za-z]+)/.exec(raw) ?? []
    const secret = 'another horse battery staple'
    await who.as().call(operations.resetPassword, { body: { token, password: secret } })
    const body = { workspace: ada.slug, email: ada.email, password: secret }
    await expect(who.as().call(operations.signIn, { body })).rejects.toMatchObject({
      code: 'auth.second_factor_required',
    })
    await who.as().call(operations.signIn, { body: { ...body, totp: codeAt(app.secret) } })
  })

  test('openings: opened, closed, and ended by itself', async () => {
    const ada = await joinedWorkspace(house.test)
    await house.open(ada.tenantId)
    await arrived(ada, 'password_opened')
    await house.close(ada.tenantId)
    await arrived(ada, 'password_closed')
    await house.open(ada.tenantId)
    await house.test.oracle`
      update password_opening set opened_at = now() - interval '2 hours', until = now() - interval '1 second' where tenant_id = ${ada.tenantId}`
    await house.hurry(ada.tenantId)
    await arrived(ada, 'password_ended')
  })
})

test('a mail for an account that is gone meanwhile goes nowhere', async () => {
  const tenantId = await house.workspace()
  await tell(tenantId, randomUUIDv7(), 'second_factor_on')
  await expect.poll(() => house.states(tenantId, 'send_mail'), patience).toEqual(['completed'])
})
