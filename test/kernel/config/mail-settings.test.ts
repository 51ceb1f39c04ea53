/** What SVC_SMTP_URL and SVC_MAIL_FROM may say, and what is refused before anything starts. Spec: decisions 6. */
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/core/kernel/config/config.ts'
import { isMailable, placeOf, readRelay, readSender } from '../../../src/core/kernel/config/mail-settings.ts'
import { ConfigurationError } from '../../../src/core/kernel/values/configuration-error.ts'

describe('SVC_SMTP_URL', () => {
  const login = { user: 'svc', password: 'p' }
  test.each([
    ['smtp://mail.example', { host: 'mail.example', port: 587, tls: 'offered', login: undefined }],
    ['smtp://mailpit:1025/?tls=off', { host: 'mailpit', port: 1025, tls: 'off', login: undefined }],
    ['smtp://svc:p@mail.example:25', { host: 'mail.example', port: 25, tls: 'require', login }],
    ['smtps://svc:p@mail.example', { host: 'mail.example', port: 465, tls: 'implicit', login }],
    ['smtp://svc:p@127.0.0.1:25?tls=off', { host: '127.0.0.1', port: 25, tls: 'off', login }],
    ['smtp://[::1]:25', { host: '::1', port: 25, tls: 'offered', login: undefined }],
    ['smtps://a%40b:%25%2F@h', { host: 'h', port: 465, tls: 'implicit', login: { user: 'a@b', password: '%/' } }],
  ])('%s is read', (text, relay) => expect(readRelay(text)).toEqual(relay))

  test.each([
    ['mail.example:25', 'must be smtp://'],
    ['http://mail.example', 'must be smtp://'],
    ['smtp://', 'has no host'],
    ['smtp://svc@mail.example', 'both user and password'],
    ['smtp://svc:s3cret@mail.example/path', 'must end after the port'],
    ['smtp://svc:s3cret@mail.example#more', 'must end after the port'],
    ['smtp://svc:s3cret%@mail.example', '%25'],
    ['smtp://svc:s3cret@mail.example?tls=off', 'in clear'],
    ['smtp://svc:s3cret@mail.example?tls=offered', 'in clear'],
    ['smtps://svc:s3cret@mail.example?tls=off', 'only with smtp://'],
    ['smtp://mail.example?tls.rejectUnauthorized=false', 'no parameter except tls'],
    ['smtp://mail.example?tls=yes', 'tls=off'],
  ])('%s stops the start in one line that shows no password', (text, says) => {
    const start = () => readConfig({ SVC_SMTP_URL: text })
    expect(start).toThrow(ConfigurationError)
    expect(start).toThrow(says)
    expect(start).not.toThrow('s3cret')
  })

  test('says where mail goes, without the login', () => {
    const { mail } = readConfig({ SVC_SMTP_URL: 'smtp://svc:s3cret@[::1]:2525' })
    expect(placeOf(mail)).toBe('[::1]:2525')
    expect(placeOf(readConfig({ SVC_DATA_DIR: '/srv/svc' }).mail)).toBe('/srv/svc/mail')
  })
})

describe('SVC_MAIL_FROM', () => {
  test.each([
    ['svc@mail.example', { name: 'svc', address: 'svc@mail.example' }],
    ['Acme Workspaces <svc@mail.example>', { name: 'Acme Workspaces', address: 'svc@mail.example' }],
    ['"Acme, Inc." <svc@mail.example>', { name: 'Acme, Inc.', address: 'svc@mail.example' }],
  ])('%s is read', (text, sender) => expect(readSender(text)).toEqual(sender))

  test.each([['svc'], ['a@b, c@d'], ['Acme <svc@mail.example> more'], ['A\r\nBcc: <svc@mail.example>'], ['<>']])(
    '%j stops the start',
    (text) => expect(() => readConfig({ SVC_MAIL_FROM: text })).toThrow('must be an address, or: Name <address>'),
  )

  test('may be left out', () => {
    expect(readConfig({}).mail.from.address).toBe('svc@localhost')
    expect(readConfig({ SVC_BASE_DOMAIN: 'work.example' }).mail.from.address).toBe('svc@work.example')
  })
})

test.each([
  ['ada@people.example', true],
  ["o'hara+x@people.example", true],
  ['a@b@c', false],
  ['a b@c', false],
  ['a@b,c@d', false],
  ['a@b>\r\nRCPT TO:<c@d', false],
  ['a@b\u0000', false],
])('%j is an address for one mailbox: %s', (address, is) => expect(isMailable(address)).toBe(is))
