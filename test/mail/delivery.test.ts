/** The two ways a mail leaves: to a relay, under the TLS that its URL asks for, or into the folder. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import PostalMime from 'postal-mime'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Mail } from '../../src/core/areas/mail/message.ts'
import { deliver, tryRelay } from '../../src/core/areas/mail/transport.ts'
import { mailFolderOf, type Relay, readRelay } from '../../src/core/kernel/config/mail-settings.ts'
import { JobGivenUp } from '../../src/core/kernel/transaction/runnable-job.ts'
import { mailing } from '../kit/mailing.ts'
import { type SmtpRelay, smtpRelay } from '../kit/smtp-relay.ts'

const from = { name: 'svc', address: 'svc@mail.example' }
const mail: Mail = {
  id: 'notice.account',
  from,
  to: { name: 'Ada', address: 'ada@people.example' },
  subject: 'Grüße',
  text: 'Text',
  html: '<p>HTML</p>',
}
let folder: string
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'svc-mail-')), 'mail')
})
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }))

describe('to a relay', () => {
  let relay: SmtpRelay
  afterEach(() => relay.close())
  const at = (url: (port: number) => string) => readRelay(url(relay.port)) as Relay
  const send = (url: (port: number) => string) => deliver({ relay: at(url), folder, from }, mail)

  test('with a password, only over TLS: one that offers none never sees it', async () => {
    relay = await smtpRelay()
    const url = (port: number) => `smtp://svc:s3cret@127.0.0.1:${port}`
    await expect(send(url)).rejects.toMatchObject({ name: 'MailFailure' })
    await expect(send(url)).rejects.not.toThrow('s3cret')
    expect(relay.connections).toBeGreaterThan(0)
    expect(relay.logins).toEqual([])
    expect(relay.taken).toEqual([])
  })

  test('on this machine a password may go without TLS, when the URL says so', async () => {
    relay = await smtpRelay({ allowInsecureAuth: true })
    await send((port) => `smtp://svc:s3cret@127.0.0.1:${port}?tls=off`)
    expect(relay.logins).toEqual([{ user: 'svc', isSecure: false }])
    expect(relay.taken).toHaveLength(1)
  })

  test.each([
    ['STARTTLS that is offered', { disabledCommands: [] }, 'smtp://127.0.0.1:%'],
    ['STARTTLS that is required', { disabledCommands: [] }, 'smtp://127.0.0.1:%?tls=require'],
    ['TLS from the first byte', { disabledCommands: [], secure: true }, 'smtps://127.0.0.1:%'],
  ])('%s: a certificate that nobody vouches for is refused', async (_, options, url) => {
    relay = await smtpRelay(options)
    await expect(send((port) => url.replace('%', String(port)))).rejects.toThrow('the relay was not reached')
    expect(relay.taken).toEqual([])
  })

  test('the same relay takes it when the URL asks for no TLS', async () => {
    relay = await smtpRelay({ disabledCommands: [] })
    await send((port) => `smtp://127.0.0.1:${port}?tls=off`)
    expect(relay.taken[0]?.mail).toMatchObject({
      subject: 'Grüße',
      text: 'Text\n',
      messageId: '<notice.account@mail.example>',
    })
  })

  test('it is tried without a mail', async () => {
    relay = await smtpRelay()
    await tryRelay(at((port) => `smtp://127.0.0.1:${port}`))
    expect([relay.connections, relay.taken.length]).toEqual([1, 0])
    await relay.close()
    await expect(tryRelay(at((port) => `smtp://127.0.0.1:${port}`))).rejects.toThrow('the relay was not reached')
    relay = await smtpRelay()
  })

  test('an address that would be two is sent to nobody', async () => {
    relay = await smtpRelay()
    const to = { name: '', address: 'a@b.example>, <c@d.example' }
    const relayed = deliver({ relay: at((port) => `smtp://127.0.0.1:${port}`), folder, from }, { ...mail, to })
    await expect(relayed).rejects.toThrow(JobGivenUp)
    expect(relay.connections).toBe(0)
  })
})

describe('without a relay', () => {
  test('it is a file that nobody else can read, and one file however often it is written', async () => {
    const mask = process.umask(0)
    try {
      await deliver({ relay: undefined, folder, from }, mail)
      await deliver({ relay: undefined, folder, from }, mail)
    } finally {
      process.umask(mask)
    }
    expect(readdirSync(folder)).toEqual(['notice.account.eml'])
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    const file = join(folder, 'notice.account.eml')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    const read = await PostalMime.parse(readFileSync(file))
    expect(read).toMatchObject({ subject: 'Grüße', text: 'Text\n', messageId: '<notice.account@mail.example>' })
    expect(read.html).toContain('<p>HTML</p>')
    expect(read.to).toEqual([mail.to])
  })

  test('an opening is told into the data folder', async () => {
    const house = await mailing({})
    try {
      const id = await house.workspace({ locale: 'ja', zone: 'Asia/Tokyo' })
      const address = await house.account(id)
      await house.open(id)
      await expect.poll(() => house.states(id, 'send_mail'), { timeout: 20_000 }).toEqual(['completed'])
      const own = mailFolderOf(house.test.installation.config.mail, id)
      const written = readdirSync(own)
      expect(written).toHaveLength(1)
      const read = await PostalMime.parse(readFileSync(join(own, written[0]!)))
      expect(read.to?.[0]?.address).toBe(address)
      expect(read.subject).toBe('パスワードでのサインインが可能になりました: Acme')
    } finally {
      await house.end()
    }
  })
})
