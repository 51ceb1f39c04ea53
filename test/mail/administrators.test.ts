/** Who is told of a password opening, in which words, and how often. Spec: Password opening, "administrators told". */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { sweepExpired } from '../../src/core/areas/auth/sign-in/jobs.ts'
import { endForgottenOpenings } from '../../src/core/areas/tenants/jobs.ts'
import { openPassword } from '../../src/core/areas/tenants/password-opening.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { type Mailing, mailing } from '../kit/mailing.ts'
import { type SmtpRelay, smtpRelay } from '../kit/smtp-relay.ts'

const patience = { timeout: 20_000 }
let relay: SmtpRelay
let house: Mailing
beforeAll(async () => {
  relay = await smtpRelay()
  house = await mailing({
    SVC_SMTP_URL: `smtp://127.0.0.1:${relay.port}`,
    SVC_MAIL_FROM: 'Acme Workspaces <svc@mail.example>',
  })
})
afterAll(async () => {
  await house.end()
  await relay.close()
})

/** All of the workspace's mails, once each of its jobs has ended. */
async function mailsOf(tenantId: string, addresses: readonly string[]) {
  await expect.poll(() => house.states(tenantId, 'send_mail'), patience).toEqual(addresses.map(() => 'completed'))
  return addresses.flatMap((address) => relay.takenBy(address))
}

/** The address of somebody whose only role is a group's. */
async function ofGroup(tenantId: string, role: 'ADMIN' | 'MEMBER'): Promise<string> {
  const { oracle } = house.test
  const email = await house.account(tenantId, { role: 'VIEWER' })
  const groupId = randomUUIDv7()
  await oracle`insert into account_group (tenant_id, id, name, name_fold) values (${tenantId}, ${groupId}, ${groupId}, ${groupId})`
  await oracle`insert into membership (tenant_id, id, group_id, role) values (${tenantId}, ${randomUUIDv7()}, ${groupId}, ${role})`
  await oracle`insert into group_member (tenant_id, group_id, account_id) select tenant_id, ${groupId}, id from account where email = ${email}`
  await oracle`update account set group_ids = array[${groupId}::uuid] where email = ${email}`
  return email
}

describe('an opening', () => {
  test('is told to each active owner and administrator of the workspace, to nobody else, and to each alone', async () => {
    const [id, other] = [await house.workspace({ displayName: 'Acme & Sons' }), await house.workspace()]
    const told = [await house.account(id), await house.account(id, { role: 'ADMIN' })]
    const untold = [
      await house.account(id, { role: 'MEMBER' }),
      await house.account(id, { role: 'COMMENTER' }),
      await house.account(id, { role: 'VIEWER' }),
      await house.account(id, { role: 'ADMIN', state: 'DISABLED' }),
      await house.account(id, { role: 'OWNER', state: 'INVITED' }),
      await house.account(other, { role: 'OWNER' }),
    ]
    await house.account(id, { role: 'ADMIN', kind: 'SERVICE' })
    told.push(await ofGroup(id, 'ADMIN'))
    untold.push(await ofGroup(id, 'MEMBER'))
    await house.open(id)

    const mails = await mailsOf(id, told)
    expect(mails.map(({ to }) => to)).toEqual(told.map((address) => [address]))
    expect(untold.flatMap((address) => relay.takenBy(address))).toEqual([])
    for (const { from, mail } of mails) {
      expect(from).toBe('svc@mail.example')
      expect(mail.from).toMatchObject({ name: 'Acme Workspaces', address: 'svc@mail.example' })
      expect(mail.subject).toBe('Password sign-in is open: Acme & Sons')
      expect(mail.text).toContain('Requested by: Ruth')
      expect(mail.text).toContain('Reason: their provider is down')
      expect(mail.html).toContain('Acme &amp; Sons')
      expect(mail.headers.find(({ key }) => key === 'auto-submitted')?.value).toBe('auto-generated')
    }
    expect(new Set(mails.map(({ mail }) => mail.messageId)).size, 'each mail is its own').toBe(told.length)
  })

  test('that was closed is told once, and a close of nothing to nobody', async () => {
    const id = await house.workspace()
    const address = await house.account(id)
    await house.close(id)
    await house.open(id)
    await house.close(id)
    await house.close(id)
    const mails = await mailsOf(id, [address, address]).then(() => relay.takenBy(address))
    expect(mails.map(({ mail }) => mail.subject).sort()).toEqual([
      'Password sign-in is closed: Acme',
      'Password sign-in is open: Acme',
    ])
    expect(mails.find(({ mail }) => mail.subject?.includes('closed'))?.mail.text).not.toContain('Ruth')
    expect(await house.states(id, 'tell_administrators')).toEqual(['completed', 'completed'])
  })

  test('that has ended is told when its job removes it', async () => {
    const id = await house.workspace()
    await house.open(id)
    await expect.poll(() => house.states(id, 'tell_administrators'), patience).toEqual(['completed'])
    const address = await house.account(id) // after the first mail, so that there is one
    await house.test.oracle`
      update password_opening set opened_at = '2026-01-01T00:00:00Z', until = '2026-01-02T03:04:00Z' where tenant_id = ${id}`
    await house.hurry(id)
    const [only] = await mailsOf(id, [address])
    expect(only?.mail.subject).toBe('Password sign-in has ended: Acme')
    expect(only?.mail.text).toMatch(/January 2, 2026.* 3:04\sAM UTC/)
  })

  test.each([
    ['after the sweep', sweepExpired, 'keeps its job'],
    ['by the hourly look for such, if its job has failed', endForgottenOpenings, 'lost its job'],
  ])('that ended long ago is told %s', async (_, hourly, job) => {
    const id = await house.workspace()
    await house.open(id)
    await expect.poll(() => house.states(id, 'tell_administrators'), patience).toEqual(['completed'])
    const address = await house.account(id)
    const { oracle, installation } = house.test
    if (job === 'lost its job')
      await oracle`delete from pgboss.job where name = 'end_password_opening' and data ->> 'tenantId' = ${id}`
    await oracle`
      update password_opening set opened_at = '2026-01-01T00:00:00Z', until = '2026-01-02T03:04:00Z' where tenant_id = ${id}`
    await hourly.run(installation, {})
    await house.hurry(id)
    expect((await mailsOf(id, [address])).map(({ mail }) => mail.subject)).toEqual(['Password sign-in has ended: Acme'])
  })

  test('is told in the workspace’s language and time zone', async () => {
    const id = await house.workspace({ locale: 'de-AT', zone: 'Europe/Vienna' })
    const address = await house.account(id)
    await house.open(id)
    const [only] = await mailsOf(id, [address])
    expect(only?.mail.subject).toBe('Anmeldung mit Passwort ist offen: Acme')
    expect(only?.mail.text).toContain('Angefordert von: Ruth')
    expect(only?.mail.html).toContain('<html lang="de">')
    const [opening] = await house.test.oracle<{ until: Date }[]>`
      select until from password_opening where tenant_id = ${id}`
    const there = new Intl.DateTimeFormat('de-AT', { hour: '2-digit', minute: '2-digit', timeZone: 'Europe/Vienna' })
    expect(only?.mail.text).toMatch(new RegExp(`Bis .* um ${there.format(opening?.until)} (MEZ|MESZ) darf`))
  })

  test('is told to nobody when its transaction does not commit', async () => {
    const id = await house.workspace()
    const address = await house.account(id)
    const body = { hours: 24, requester: 'Ruth', reason: 'their provider is down' }
    const undone = house.test.installation.transaction(recoveryActor(), {}, async (ctx) => {
      await openPassword(ctx, { tenantId: id, body } as never)
      throw new Error('after the rule')
    })
    await expect(undone).rejects.toThrow('after the rule')
    expect(await house.states(id, 'tell_administrators')).toEqual([])

    await house.open(id)
    expect(await mailsOf(id, [address]), 'only the one that committed').toHaveLength(1)
  })

  test('is not told to somebody who stopped administering before the mail went', async () => {
    const id = await house.workspace()
    const [gone, stays] = [await house.account(id, { role: 'ADMIN' }), await house.account(id)]
    relay.refusals = { recipient: (address) => (address === gone ? '450 4.2.0 later' : undefined) }
    await house.open(id)
    await expect.poll(() => house.states(id, 'send_mail'), patience).toEqual(['completed', 'retry'])
    relay.refusals = {}
    await house.test
      .oracle`update membership set role = 'MEMBER' where tenant_id = ${id} and account_id = (select id from account where email = ${gone})`
    await house.hurry(id)
    expect((await mailsOf(id, [gone, stays])).map(({ to }) => to)).toEqual([[stays]])
  })
})

describe('a relay that refuses', () => {
  test('for now is asked again, later each time; what goes in the end is recognisably the same mail', async () => {
    const id = await house.workspace()
    const address = await house.account(id)
    relay.refusals = { message: () => '451 4.3.0 try later' }
    await house.open(id)
    await expect.poll(() => house.states(id, 'send_mail'), patience).toEqual(['retry'])
    const waits = async () => {
      const [row] = await house.test.oracle<[{ seconds: number }]>`
        select extract(epoch from start_after - now())::float as seconds from pgboss.job where name = 'send_mail' and data ->> 'tenantId' = ${id}`
      return row.seconds
    }
    expect(await waits(), 'it does not come back at once').toBeGreaterThan(5)
    relay.refusals = {}
    await house.hurry(id)
    const [sent] = await mailsOf(id, [address])
    const [first] = relay.refused.filter(({ to }) => to.includes(address))
    expect(first?.mail.messageId).toMatch(/^<[0-9a-f-]{36}\.[0-9a-f-]{36}@mail\.example>$/)
    expect(sent?.mail.messageId).toBe(first?.mail.messageId)
    expect(relay.takenBy(address)).toHaveLength(1)
  })

  test('a mailbox for good is not asked again, the others have theirs, and the log names no address', async () => {
    const id = await house.workspace()
    const [unknown, known] = [await house.account(id), await house.account(id)]
    relay.refusals = {
      recipient: (address) => (address === unknown ? `550 5.1.1 <${address}> no such user here` : undefined),
    }
    await house.open(id)
    await expect.poll(() => house.states(id, 'send_mail'), patience).toEqual(['completed', 'failed'])
    relay.refusals = {}
    expect(relay.takenBy(known)).toHaveLength(1)
    expect(house.log()).toContain('the relay answered 550 to RCPT TO')
    expect(house.log()).not.toContain('@people.example')
    const outputs = await house.test
      .oracle`select data, output from pgboss.job where name in ('send_mail', 'tell_administrators')`
    expect(JSON.stringify(outputs), 'and neither does the queue').not.toContain('@')
    expect(JSON.stringify(outputs)).not.toContain('Ruth')
  })

  test('us, not the mailbox, is asked again: an operator can mend that', async () => {
    const id = await house.workspace()
    const address = await house.account(id)
    relay.refusals = { recipient: () => '554 5.7.1 relay access denied' }
    await house.open(id)
    await expect.poll(() => house.states(id, 'send_mail'), patience).toEqual(['retry'])
    relay.refusals = {}
    await house.hurry(id)
    expect(await mailsOf(id, [address])).toHaveLength(1)
  })
})

describe('what people wrote', () => {
  test.each([
    ['a header', 'Ada\r\nBcc: victim@evil.example'],
    ['another recipient', '"Ada" <victim@evil.example>, Eve'],
    ['an encoded header', '=?utf-8?q?Ada=0D=0ABcc:_victim@evil.example?='],
    ['mark-up', '</title><script>alert(1)</script><img src="http://evil.example/x">'],
    ['another direction', 'Ada \u202e gnp.exe \u2066'],
    ['a long name', 'Ünternehmen für Straßenbau 道路建設 🏗️ '.repeat(5)],
    ['a placeholder', '{moment} {workspace}'],
  ])('%s is only ever text', async (_, name) => {
    const id = await house.workspace({ displayName: name })
    const address = await house.account(id, { name: name })
    await house.open(id, { requester: name, reason: name })
    const [only] = await mailsOf(id, [address])
    expect(only?.to).toEqual([address])
    const { headers, to, subject = '', text = '', html = '' } = only!.mail
    expect(headers.map(({ key }) => key).sort()).toEqual([
      'auto-submitted',
      'content-type',
      'date',
      'from',
      'message-id',
      'mime-version',
      'subject',
      'to',
    ])
    expect(to).toHaveLength(1)
    expect(to?.[0]).toMatchObject({ address })
    const plain = name
      .replace(/[\s\u202e\u2066]+/g, ' ')
      .replace('=?', '= ?')
      .trim()
    expect(subject).toBe(`Password sign-in is open: ${plain}`)
    expect(text).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/)
    expect(html).not.toMatch(/<script|<img/)
    expect(only!.raw.split('\r\n').every((line) => line.length <= 998)).toBe(true)
    expect(text).not.toMatch(/^Bcc/m)
  })
})
