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

import type { Sender } from '../../kernel/config/mail-settings.ts'
import { kindOf, type MailName } from './kinds.ts'
import { frames } from './texts/frame.ts'
import { languageOf } from './texts/language.ts'

/** What is told: something that happened in one workspace at one moment. */
export interface Notice {
  readonly id: string
  readonly name: MailName
  /** What the mail is about: the end of an opening, or the moment it was closed. ISO 8601. */
  readonly at: string
  /** What the trail's entry says of it: who asked for it and why, in his own words, or what else the kind reads. */
  readonly params?: Readonly<Record<string, unknown>> | undefined
  /** Where the mail's link leads, for a kind that has one. */
  readonly link?: string
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
  const kind = kindOf(notice.name)
  const language = languageOf(place.default_locale)
  const frame = frames[language]
  const { subject, says, action } = kind.texts[language]
  const worded = (name: string) => oneLine(String(notice.params?.[name] ?? ''))
  const values = {
    ...Object.fromEntries((kind.reads ?? []).map((name) => [name, worded(name)])),
    workspace: oneLine(place.display_name),
    moment: momentIn(place, language, notice.at),
  }
  const paragraphs = [
    ...says.map((sentence) => filled(sentence, values)),
    ...(kind.namesRequester && notice.params
      ? [`${frame.requester}: ${worded('requester')}`, `${frame.reason}: ${worded('reason')}`]
      : []),
  ]
  const link = notice.link === undefined ? undefined : { label: filled(action ?? '', values), url: notice.link }
  const warning = { account: frame.notYou, administrators: frame.unexpected, operators: frame.stolen }[kind.to]
  const closing = kind.warns ? [filled(warning, values)] : []
  const footer = filled(frame[kind.to], values)
  return {
    id: `${notice.id}.${recipient.accountId}`,
    from,
    to: { name: inHeader(oneLine(recipient.name ?? '')), address: recipient.address },
    subject: inHeader(filled(subject, values)),
    text: `${[...paragraphs, ...(link ? [`${link.label}:\n${link.url}`] : []), ...closing, `-- \n${footer}`].join('\n\n')}\n`,
    html: page(
      language,
      filled(subject, values),
      [
        ...paragraphs.map(escaped),
        ...(link ? [`<a href="${escaped(link.url)}">${escaped(link.label)}</a>`] : []),
        ...closing.map(escaped),
      ],
      footer,
    ),
  }
}

/** Fills a template in one pass, so that a name that looks like a placeholder stays a name. */
const filled = (template: string, values: Readonly<Record<string, string>>) =>
  template.replace(/\{([a-z_]+)\}/g, (placeholder, name: string) => values[name] ?? placeholder)

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

/** No style sheet and no picture: nothing to load. Paragraphs are mark-up already. */
const page = (language: string, title: string, paragraphs: readonly string[], footer: string) =>
  `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><title>${escaped(title)}</title></head>
<body style="font-family: sans-serif; line-height: 1.5; max-width: 40em">
${paragraphs.map((paragraph) => `<p>${paragraph}</p>`).join('\n')}
<p style="color: #666; font-size: small">${escaped(footer)}</p>
</body>
</html>
`
