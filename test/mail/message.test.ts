/** What a mail says, in every language there is. */
import { describe, expect, test } from 'vitest'
import { kindOf, type MailName, mailNames } from '../../src/core/areas/mail/kinds.ts'
import { composeMail, type Notice } from '../../src/core/areas/mail/message.ts'
import { languages } from '../../src/core/areas/mail/texts/language.ts'
import { starterContentFor } from '../../src/core/areas/tenants/starter-content.ts'

const recipient = { accountId: '0190c9d2-7a3b-7cde-8f01-000000000001', name: 'Ada', address: 'ada@people.example' }
const from = { name: 'svc', address: 'svc@mail.example' }
const mailOf = (locale: string, name: MailName = 'password_opened', more: Partial<Notice> = {}) =>
  composeMail(
    { id: '0190c9d2-7a3b-7cde-8f01-000000000002', name, at: '2030-03-04T13:00:00Z', ...more },
    { display_name: 'Acme', default_locale: locale, default_time_zone: 'Europe/Vienna' },
    recipient,
    from,
  )

test('there are mails in every language that a workspace starts in', () => {
  expect([...languages].sort()).toEqual(['cs', 'da', 'de', 'en', 'es', 'fr', 'it', 'ja', 'nl', 'pl', 'pt', 'sv'])
  for (const language of languages.filter((one) => one !== 'en'))
    expect(starterContentFor(language)).not.toBe(starterContentFor('en'))
})

describe.each(languages)('in %s', (language) => {
  test.each(mailNames)('%s says when, and in which workspace where it is about one, in text and HTML alike', (name) => {
    const { subject, text, html } = mailOf(language, name, { params: { requester: 'Ruth', reason: 'it is down' } })
    expect(subject.includes('Acme')).toBe(kindOf(name).to !== 'operators')
    const moment = new Intl.DateTimeFormat(language, {
      ...{ timeZone: 'Europe/Vienna', year: 'numeric', month: 'long', day: 'numeric' },
      ...{ hour: 'numeric', minute: '2-digit', timeZoneName: 'short' },
    }).format(new Date('2030-03-04T13:00:00Z'))
    for (const body of [text, html]) {
      expect(body).toContain(moment)
      expect(body.includes('Ruth')).toBe(kindOf(name).namesRequester === true)
      expect(body).not.toMatch(/[{}]/)
    }
    expect(html).toContain(`<html lang="${language}">`)
  })

  test('the kinds differ, and so do the languages', () => {
    expect(new Set(mailNames.map((name) => mailOf(language, name).subject)).size).toBe(mailNames.length)
    const twins = languages.filter((other) => mailOf(other).subject === mailOf(language).subject)
    expect(twins).toEqual([language])
  })
})

test('a region is heeded, an unknown language is English, and a calendar is never anybody’s guess', () => {
  expect(mailOf('de-AT').text).toContain('4. März 2030 um 14:00 MEZ')
  expect(mailOf('en-GB').text).toContain('4 March 2030 at 14:00 CET')
  expect(mailOf('en-US').text).toMatch(/March 4, 2030 at 2:00\sPM GMT\+1/)
  expect(mailOf('th-TH').text).toMatch(/March 4, 2030/)
  expect(mailOf('ja-JP-u-ca-japanese').text).toContain('2030年3月4日')
})

test('a name that joins its signs keeps them', () => {
  const mail = composeMail(
    { id: 'n', name: 'password_closed', at: '2030-03-04T13:00:00Z' },
    { display_name: 'می\u200cخواهم 👩\u200d🚀', default_locale: 'en', default_time_zone: 'UTC' },
    recipient,
    from,
  )
  expect(mail.subject).toContain('می\u200cخواهم 👩\u200d🚀')
})
