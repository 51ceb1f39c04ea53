/**
 * One mail to one person: subject, text and HTML that say the same, made from a notice
 * about the workspace in the workspace's language and time zone.
 *
 * What people wrote (names, a reason) is made harmless here: it stays on its line, cannot
 * turn the direction of what surrounds it, and is escaped in HTML. Headers are encoded by
 * nodemailer.
 *
 * The Message-ID names the notice and the account, so a mail that is sent twice after a
 * crash is recognised as the same one.
 */
import type { Sender } from './settings.ts'
import { type NoticeName, textsFor } from './templates.ts'

/** What is told: something that happened in one workspace at one moment. */
export interface Notice {
  readonly id: string
  readonly name: NoticeName
  /** What the mail is about: the end of an opening, or the moment it was closed. ISO 8601. */
  readonly at: string
  /** Who asked for it and why, in his own words, where the notice has that. */
  readonly asked?: { readonly requester: string; readonly reason: string } | undefined
}

/** The workspace that the notice is about. */
export interface Place {
  readonly display_name: string
  readonly default_locale: string
  readonly default_time_zone: string
}

export interface Recipient {
  readonly accountId: string
  readonly name: string | null
  readonly address: string
}

export interface Mail {
  /** Between the angle brackets of the Message-ID, up to the @; also the name of its file. */
  readonly id: string
  readonly from: Sender
  readonly to: { readonly name: string; readonly address: string }
  readonly subject: string
  readonly text: string
  readonly html: string
}

export function composeMail(notice: Notice, place: Place, recipient: Recipient, from: Sender): Mail {
  const { language, texts } = textsFor(place.default_locale)
  const values = { workspace: oneLine(place.display_name), moment: momentIn(place, language, notice.at) }
  const { subject, says } = texts[notice.name]
  const paragraphs = [
    ...says.map((sentence) => filled(sentence, values)),
    ...(notice.asked
      ? [`${texts.requester}: ${oneLine(notice.asked.requester)}`, `${texts.reason}: ${oneLine(notice.asked.reason)}`]
      : []),
    ...(notice.name === 'password_opened' ? [texts.unexpected] : []),
  ]
  const footer = filled(texts.footer, values)
  return {
    id: `${notice.id}.${recipient.accountId}`,
    from,
    to: { name: inHeader(oneLine(recipient.name ?? '')), address: recipient.address },
    subject: inHeader(filled(subject, values)),
    text: `${[...paragraphs, `-- \n${footer}`].join('\n\n')}\n`,
    html: page(language, filled(subject, values), paragraphs, footer),
  }
}

/** Fills a template in one pass, so that a name that looks like a placeholder stays a name. */
const filled = (template: string, values: Readonly<Record<'workspace' | 'moment', string>>) =>
  template.replace(/\{(workspace|moment)\}/g, (_, name: 'workspace' | 'moment') => values[name])

/** On one line: no line breaks or other control characters, none that turn the direction of writing. Joiners stay. */
const oneLine = (text: string) =>
  text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim()

/** A text that looks like an encoded word (RFC 2047) would be decoded by the reader's program. */
const inHeader = (text: string) => text.replaceAll('=?', '= ?')

/** E.g. `4. März 2030 um 14:00 MEZ`; in the Gregorian calendar, whatever the locale's extensions say. */
function momentIn(place: Place, language: string, at: string): string {
  const { baseName, language: own } = new Intl.Locale(place.default_locale)
  return new Intl.DateTimeFormat(own === language ? baseName : language, {
    timeZone: place.default_time_zone,
    calendar: 'gregory',
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
  }).format(new Date(at))
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) => entities[sign] ?? '')

/** No style sheet, no picture, no link: nothing to load and nothing to click. */
const page = (language: string, title: string, paragraphs: readonly string[], footer: string) =>
  `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><title>${escaped(title)}</title></head>
<body style="font-family: sans-serif; line-height: 1.5; max-width: 40em">
${paragraphs.map((paragraph) => `<p>${escaped(paragraph)}</p>`).join('\n')}
<p style="color: #666; font-size: small">${escaped(footer)}</p>
</body>
</html>
`
