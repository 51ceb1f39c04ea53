/**
 * One mail to one person, made from a notice about the workspace, in the workspace's language
 * and time zone. The text and the HTML have the same content.
 *
 * Text that people wrote (names, a reason) is made harmless here: it stays on one line, cannot
 * change the writing direction of the text around it, and is escaped in HTML. nodemailer
 * encodes the headers.
 *
 * The Message-ID consists of the ids of the notice, the account and, where it has several, the address, so a mail that is sent twice
 * after a crash has the same Message-ID.
 */

import type { NotificationCategory } from '../../contract/notifications/categories.ts'
import type { Sender } from '../../kernel/config/mail-settings.ts'
import { kindOf, type MailName } from './kinds.ts'
import { frames } from './texts/frame.ts'
import { languageOf } from './texts/language.ts'
import { notificationLines } from './texts/notification.ts'

/** The event that the mail reports. It happened in one workspace at one moment. */
export interface Notice {
  readonly id: string
  readonly name: MailName
  /** The moment that the mail states, e.g. the end of an opening, or when it was closed. ISO 8601. */
  readonly at: string
  /** From the trail's entry: the requester and the reason in the requester's words, or what else the kind reads. */
  readonly params?: Readonly<Record<string, unknown>> | undefined
  /** The target of the mail's link, for a kind with a link. */
  readonly link?: string
  /** What was told of, a line each, for the mails of notifications. */
  readonly lines?: readonly {
    readonly category: NotificationCategory
    readonly values: Readonly<Record<string, string>>
  }[]
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
  /** Where an account gets the mail at each of its addresses: this one. */
  readonly addressId?: string | undefined
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
    ...(notice.lines ?? []).map((line) =>
      filled(notificationLines[language][line.category], { ...values, ...cleaned(line.values) }),
    ),
    ...(kind.namesRequester && notice.params
      ? [`${frame.requester}: ${worded('requester')}`, `${frame.reason}: ${worded('reason')}`]
      : []),
  ]
  const link = notice.link === undefined ? undefined : { label: filled(action ?? '', values), url: notice.link }
  const warning = { account: frame.notYou, administrators: frame.unexpected, operators: frame.stolen }[kind.to]
  const closing = kind.warns ? [filled(warning, values)] : []
  const footer = filled(frame[kind.to], values)
  return {
    id: [notice.id, recipient.accountId, recipient.addressId].filter((part) => part !== undefined).join('.'),
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

const cleaned = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, oneLine(value)]))

/** Fills a template in one pass, so that a name that looks like a placeholder stays a name. */
const filled = (template: string, values: Readonly<Record<string, string>>) =>
  template.replace(/\{([a-z_]+)\}/g, (placeholder, name: string) => values[name] ?? placeholder)

/** Replaces line breaks, other control characters and characters that change the writing direction. Joiners stay. */
const oneLine = (text: string) =>
  text.replace(/[\p{Cc}\p{Zl}\p{Zp}\s\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu, ' ').trim()

/** The reader's mail program would decode a text that looks like an encoded word (RFC 2047). */
const inHeader = (text: string) => text.replaceAll('=?', '= ?')

/** E.g. `4. März 2030 um 14:00 MEZ`. Always the Gregorian calendar, even if the locale's extensions name another. */
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

/** The page loads nothing: it has no style sheet and no picture. `paragraphs` are already HTML. */
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
