/**
 * Mails that have not gone: which are listed, what is shown of them, and what sending one again does. Over a real SMTP
 * server, as an operator and at the database. docs/decisions/0371.
 */
import { randomUUIDv7 } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { jobs } from '../../src/core/app/jobs.ts'
import { mailNames } from '../../src/core/areas/mail/kinds.ts'
import type { Mail } from '../../src/core/contract/mail/operations.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { mailJobs } from '../../src/core/kernel/database/queue-schema.ts'
import { type Callers, callers, joinedWorkspace, modes, type Person } from '../kit/accounts.ts'
import { type Mailing, mailing } from '../kit/mailing.ts'
import { type SmtpRelay, smtpRelay } from '../kit/smtp-relay.ts'

const { listMails, resendMail, inviteAccount, listJournal, resetPassword, forgetPassword } = operations
const patience = { timeout: 20_000 }

let relay: SmtpRelay
let house: Mailing
let who: Callers
let owner: Person
beforeAll(async () => {
  relay = await smtpRelay()
  house = await mailing({
    SVC_SMTP_URL: `smtp://127.0.0.1:${relay.port}`,
    SVC_PUBLIC_URL: 'https://{slug}.work.example',
    SVC_INVITE_MAILS_PER_HOUR: '1000',
  })
  who = await callers(house.test)
})
afterAll(async () => {
  await who.close()
  await house.end()
  await relay.close()
})
beforeEach(async () => {
  owner = await joinedWorkspace(house.test)
  // The mail that asks the owner to confirm the address, which may be on its way.
  await house.test.oracle`delete from pgboss.job where data ->> 'tenantId' = ${owner.tenantId}`
})
afterEach(() => {
  relay.refusals = {}
})

const later = () => '451 4.3.0 later'
const noMailbox = () => '550 5.1.1 no such mailbox'

/** Invites somebody by mail; answers the account and its address. */
async function invited() {
  const email = `${randomUUIDv7()}@new.example`
  const { account } = await who
    .as(owner.session.access_token)
    .call(inviteAccount, { body: { email, deliver: 'MAIL', role: 'MEMBER' } })
  return { id: account.id, email }
}

/** A row of the queue that no worker takes: its attempt is in ten years. */
async function planted(
  more: Partial<{ name: string; state: string; kind: string; at: string; tenantId: string }> = {},
) {
  const { name = 'send_mail', state = 'created', kind = 'password_opened', at = new Date().toISOString() } = more
  const data = {
    tenantId: more.tenantId ?? owner.tenantId,
    accountId: owner.accountId,
    noticeId: randomUUIDv7(),
    name: kind,
    at,
  }
  const [row] = await house.test.oracle<{ id: string }[]>`
    insert into pgboss.job (name, data, state, retry_limit, created_on, start_after, policy)
    values (${name}, ${house.test.oracle.json(data)}, ${state}::pgboss.job_state, 16, ${at}, now() + interval '10 years', 'standard') returning id`
  return row!.id
}

const stateOf = async (id: string) =>
  (await house.test.oracle<{ state: string }[]>`select state::text as state from pgboss.job where id = ${id}`)[0]?.state

test('every job that hands a mail to the relay, or queues such a job, is listed', () => {
  const areas = new URL('../../src/core/areas', import.meta.url).pathname
  const files = readdirSync(areas, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const mailing = files
    .map((name) => readFileSync(join(areas, name), 'utf8'))
    .filter((text) => /await deliver\(|ctx\.enqueue\(sendMail/.test(text))
    .flatMap((text) => [...text.matchAll(/defineJob\(\{\n {2}name: '(\w+)'/g)].map(([, name]) => name!))
    .filter((name) => name !== 'sweep_mail_folder')
  expect(mailing.toSorted()).toEqual(mailJobs.toSorted())
  expect(mailJobs.filter((name) => !jobs.some((job) => job.name === name))).toEqual([])
})

test('the kind of each job is one that there is, and can be asked for', async () => {
  const all: readonly (readonly [string, string, object])[] = [
    ['send_mail', 'recovery_code_used', { name: 'recovery_code_used' }],
    ['tell_administrators', 'password_closed', { name: 'password_closed' }],
    ['tell_ai_notice', 'ai_model_changed', {}],
    ['send_invitation', 'invitation', {}],
    ['send_password_reset', 'password_reset', {}],
    ['send_address_confirmation', 'address_confirm', {}],
    ['send_notification', 'notification', { form: 'IMMEDIATE' }],
    ['send_notification', 'digest', { form: 'DAILY' }],
  ]
  expect(new Set(all.map(([job]) => job))).toEqual(new Set(mailJobs))
  for (const [job, kind, more] of all) {
    expect(mailNames).toContain(kind)
    const id = await planted({ name: job })
    await house.test.oracle`
      update pgboss.job set data = data - 'name' || ${house.test.oracle.json(more as never)} where id = ${id}`
    const { data } = await who.recovery.call(listMails, { kind, tenant_id: owner.tenantId })
    expect(data.map((mail) => [mail.id, mail.kind])).toEqual([[id, kind]])
  }
})

// What waits for a worker is asked in one of the two ways.
describe.each(modes)('by %s', (mode) => {
  const list = async (query: object = {}): Promise<Mail[]> =>
    (await who[mode].call(listMails, { tenant_id: owner.tenantId, ...query })).data
  const resend = (mailId: string) => who[mode].call(resendMail, { mailId })

  test.runIf(mode === 'api')(
    'a mail that the relay puts off is tried again, and goes at once when it is sent again',
    async () => {
      relay.refusals.recipient = later
      const { id, email } = await invited()
      await expect.poll(async () => (await list())[0]?.state, patience).toBe('RETRYING')
      const [mail] = await list()
      expect(mail).toMatchObject({
        kind: 'invitation',
        tenant: { id: owner.tenantId, slug: owner.slug },
        account_id: id,
        state: 'RETRYING',
        attempts: 1,
        failed_at: null,
        failure: { reason: 'RELAY_REFUSED', step: 'RCPT TO', status: 451, error: 'EENVELOPE' },
      })
      expect(Date.parse(mail!.next_attempt_at!)).toBeGreaterThan(Date.now() + 5_000)
      relay.refusals = {}
      const due = await resend(mail!.id)
      expect(Date.parse(due.next_attempt_at!)).toBeLessThan(Date.now() + 5_000)
      await expect.poll(() => relay.takenBy(email).length, patience).toBe(1)
      await expect.poll(() => list(), patience).toEqual([])
    },
  )

  test.runIf(mode === 'api')(
    'a mailbox that takes no mail ends it; sending it again is one more attempt, with a new link',
    async () => {
      relay.refusals.recipient = noMailbox
      const { email } = await invited()
      await expect.poll(async () => (await list())[0]?.state, patience).toBe('FAILED')
      const [mail] = await list({ state: 'FAILED' })
      expect(mail).toMatchObject({
        next_attempt_at: null,
        failed_at: expect.any(String),
        failure: { reason: 'MAILBOX_REFUSED', step: 'RCPT TO', status: 550, error: null },
      })
      await resend(mail!.id)
      await expect.poll(async () => (await list())[0], patience).toMatchObject({ state: 'FAILED', attempts: 2 })
      relay.refusals = {}
      await resend(mail!.id)
      await expect.poll(() => relay.takenBy(email).length, patience).toBe(1)
      expect(relay.takenBy(email)[0]!.mail.text).toContain('/join#svci_')
    },
  )

  test.runIf(mode === 'recovery')('what had its last attempt gets one more, and a day for it', async () => {
    const id = await planted({ state: 'failed' })
    await house.test.oracle`
      update pgboss.job set retry_count = 16, started_on = now(), completed_on = now(), keep_until = now() - interval '1 hour'
      where id = ${id}`
    relay.refusals.recipient = later
    expect(await resend(id)).toMatchObject({ state: 'RETRYING', attempts: 17, failed_at: null })
    await expect.poll(() => stateOf(id), patience).not.toBe('retry')
    const [row] = await house.test
      .oracle`select retry_limit, keep_until > now() as is_kept from pgboss.job where id = ${id}`
    expect(row).toMatchObject({ retry_limit: 17, is_kept: true })
  })

  test.runIf(mode === 'recovery')('a mail that waits is due now, and has lost no attempt', async () => {
    const id = await planted()
    expect(await resend(id)).toMatchObject({ state: 'WAITING', attempts: 0, failure: null })
    await expect.poll(() => stateOf(id), patience).toBe('completed')
  })

  test('the journal says who sent which mail again, and nothing of the reader but the id', async () => {
    const id = await planted({ state: 'failed' })
    await resend(id)
    const { data } = await who.recovery.call(listJournal, { size: 1 })
    expect(data[0]).toMatchObject({
      action: 'mail.resent',
      actor: { kind: mode === 'api' ? 'ACCOUNT' : 'RECOVERY' },
      tenant: { id: owner.tenantId, slug: owner.slug },
      subject: { kind: 'mail', id },
      params: { kind: 'password_opened', account_id: owner.accountId, had_failed: true },
    })
  })

  test.runIf(mode === 'api')('no address, no name and no token is shown', async () => {
    relay.refusals.recipient = () => `550 5.1.1 <${owner.email}> unknown svci_token`
    const { email } = await invited()
    await expect.poll(async () => (await list())[0]?.state, patience).toBe('FAILED')
    const shown = JSON.stringify([await list(), await resend((await list())[0]!.id)])
    for (const secret of [email, '@', 'svci_', 'svcr_', owner.email]) expect(shown).not.toContain(secret)
  })

  test('filters: state, kind and workspace, together or alone', async () => {
    const other = await joinedWorkspace(house.test)
    const [waits, failed, reset, elsewhere] = [
      await planted({ at: '2026-01-01T08:00:00Z' }),
      await planted({ at: '2026-01-01T09:00:00Z', state: 'failed' }),
      await planted({ at: '2026-01-01T10:00:00Z', name: 'send_password_reset', kind: 'ignored' }),
      await planted({ tenantId: other.tenantId }),
    ]
    const ids = async (query: object) => (await list(query)).map(({ id }) => id)
    expect(await ids({})).toEqual([reset, failed, waits])
    expect(await ids({ state: 'FAILED' })).toEqual([failed])
    expect(await ids({ state: 'WAITING' })).toEqual([reset, waits])
    expect(await ids({ kind: 'password_reset' })).toEqual([reset])
    expect(await ids({ kind: 'password_opened', state: 'WAITING' })).toEqual([waits])
    expect(await ids({ kind: 'recovery_code_used' })).toEqual([])
    expect(await ids({ tenant_id: undefined })).toEqual(expect.arrayContaining([waits, elsewhere]))
  })

  test('pages of every size join to the whole, also where several have the same moment', async () => {
    const at = new Date().toISOString()
    for (let n = 0; n < 5; n += 1) await planted({ at })
    const whole = await list()
    expect(whole).toHaveLength(5)
    for (const size of [1, 2, 3]) {
      const seen: Mail[] = []
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const asked = { tenant_id: owner.tenantId, size, ...(cursor ? { cursor } : {}) }
        const page = await who[mode].call(listMails, asked)
        seen.push(...page.data)
        cursor = page.next_cursor
      }
      expect(seen).toEqual(whole)
    }
    const { next_cursor: cursor } = await who[mode].call(listMails, { tenant_id: owner.tenantId, size: 1 })
    await expect(who[mode].call(listMails, { cursor: cursor! })).rejects.toMatchObject({ code: 'cursor.invalid' })
  })

  test('an unknown kind is refused, and not an empty list', async () => {
    await expect(list({ kind: 'invitations' })).rejects.toMatchObject({
      code: 'request.malformed',
      status: 400,
      errors: [{ parameter: 'kind', code: 'value.one_of' }],
    })
  })

  test('a mail that is being sent is refused, and one that is no mail or has gone is not found', async () => {
    const active = await planted({ state: 'active' })
    expect((await list())[0]).toMatchObject({ id: active, state: 'SENDING', next_attempt_at: null })
    await expect(resend(active)).rejects.toMatchObject({ code: 'mail.under_way', status: 409 })
    expect(await stateOf(active)).toBe('active')
    for (const id of [
      await planted({ state: 'completed' }),
      await planted({ state: 'cancelled' }),
      await planted({ name: 'end_password_opening', state: 'failed' }),
      randomUUIDv7(),
    ])
      await expect(resend(id)).rejects.toMatchObject({ code: 'not_found', status: 404 })
  })

  test('a mail to administrators is listed before it is divided among them, to nobody yet', async () => {
    await planted({ name: 'tell_administrators', state: 'failed' })
    await house.test
      .oracle`update pgboss.job set data = data - 'accountId' where data ->> 'tenantId' = ${owner.tenantId}`
    expect((await list())[0]).toMatchObject({ kind: 'password_opened', account_id: null, state: 'FAILED' })
  })

  test('a run that did not end says so, and an unknown failure points to the log', async () => {
    const id = await planted({ state: 'failed' })
    const failureOf = async (output: object) => {
      await house.test
        .oracle`update pgboss.job set output = ${house.test.oracle.json(output as never)} where id = ${id}`
      return (await list())[0]!.failure
    }
    const nothing = { step: null, status: null, error: null }
    expect(await failureOf({ value: { message: 'job timed out' } })).toEqual({ reason: 'INTERRUPTED', ...nothing })
    expect(await failureOf({ name: 'Error', error: 'ENOSPC' })).toEqual({
      reason: 'OTHER',
      ...nothing,
      error: 'ENOSPC',
    })
    expect(await failureOf({ name: 'ZodError' })).toEqual({ reason: 'OTHER', ...nothing })
  })
})

test('a reset that is sent again has a link that works once, and the mail before it none', async () => {
  relay.refusals.message = later
  await who.as().call(forgetPassword, { body: { workspace: owner.slug, email: owner.email } })
  await expect
    .poll(
      async () => (await who.api.call(listMails, { kind: 'password_reset', state: 'RETRYING' })).data.length,
      patience,
    )
    .toBe(1)
  const tokenIn = (text = '') => /set-password#(\S+)/.exec(text)?.[1] ?? ''
  const refused = relay.refused
    .filter(({ to }) => to.includes(owner.email))
    .map(({ mail }) => tokenIn(mail.text))
    .find((found) => found !== '')
  relay.refusals = {}
  const [mail] = (await who.api.call(listMails, { kind: 'password_reset' })).data
  await who.api.call(resendMail, { mailId: mail!.id })
  // The owner, who joined by a token, is asked to confirm the address, too.
  const resets = () => relay.takenBy(owner.email).filter((taken) => tokenIn(taken.mail.text) !== '')
  await expect.poll(() => resets().length, patience).toBeGreaterThan(0)
  const reset = (token: string) =>
    who.as().call(resetPassword, { body: { token, password: 'a new passphrase of hers' } })
  await expect(reset(refused ?? '')).rejects.toMatchObject({ status: 410 })
  await reset(tokenIn(resets()[0]?.mail.text))
})

test('a mail of a workspace that does not exist names none', async () => {
  const id = await planted({ tenantId: randomUUIDv7() })
  const { data } = await who.api.call(listMails, {})
  expect(data.find((mail) => mail.id === id)).toMatchObject({ tenant: null })
  await who.api.call(resendMail, { mailId: id })
  const { data: told } = await who.recovery.call(listJournal, { size: 1 })
  expect(told[0]).toMatchObject({ action: 'mail.resent', tenant: null })
})
