/**
 * Delivers one mail: to the operator's relay over SMTP, or as an .eml file into the folder.
 *
 * The relay is named in the operator's own environment, as the database is, so the egress
 * guard does not stand before it: it may well be private. Nothing that a workspace or an
 * operator of the API writes can choose where this connects.
 *
 * What a relay answers quotes addresses, so nothing of it leaves this module but numbers.
 * Loads nodemailer (50 ms) when the first mail goes. Spec: docs/decisions/0050.
 */
import { join } from 'node:path'
import type { SMTPTransportOptions } from 'nodemailer/lib/smtp-transport'
import { isMailable, type MailSettings, type Relay } from '../../kernel/config/mail-settings.ts'
import { JobGivenUp } from '../../kernel/transaction/runnable-job.ts'
import { writeWhole } from '../../kernel/values/write-whole.ts'
import type { Mail } from './message.ts'

/** A mail that did not go. Its message names no address; trying again may help. */
class MailFailure extends Error {
  override readonly name = 'MailFailure'
  readonly code: string
  constructor(says: string, code: string) {
    super(says)
    this.code = code
  }
}

/** Throws MailFailure, or JobGivenUp where the mailbox does not exist; a full disk throws what it throws. */
export async function deliver(settings: MailSettings, mail: Mail): Promise<void> {
  if (!isMailable(mail.to.address)) throw new JobGivenUp('the address of the account cannot be written in a mail')
  await (settings.relay ? sendTo(settings.relay, mail) : writeTo(settings.folder, mail))
}

/** Connects and signs in to the relay, and sends nothing. Throws MailFailure. */
export async function tryRelay(relay: Relay): Promise<void> {
  const { createTransport } = await import('nodemailer')
  const transport = createTransport(optionsOf(relay))
  try {
    await transport.verify()
  } catch (error) {
    throw failureOf(error)
  } finally {
    transport.close()
  }
}

async function sendTo(relay: Relay, mail: Mail): Promise<void> {
  const { createTransport } = await import('nodemailer')
  const transport = createTransport(optionsOf(relay))
  try {
    await transport.sendMail(partsOf(mail))
  } catch (error) {
    throw failureOf(error)
  } finally {
    transport.close()
  }
}

const connectMs = 10_000
const silentMs = 60_000

function optionsOf({ host, port, tls, login }: Relay): SMTPTransportOptions {
  return {
    host,
    port,
    secure: tls === 'implicit',
    requireTLS: tls === 'require',
    ignoreTLS: tls === 'off',
    connectionTimeout: connectMs,
    greetingTimeout: connectMs,
    socketTimeout: silentMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    ...(login ? { auth: { user: login.user, pass: login.password } } : {}),
  }
}

/** The envelope is ours, not read from the headers: one mail has one recipient, whatever a name looks like. */
const partsOf = ({ id, from, to, subject, text, html }: Mail) => ({
  from: { ...from },
  to: { ...to },
  envelope: { from: from.address, to: [to.address] },
  messageId: `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
  subject,
  text,
  html,
  // Nobody's out-of-office answers it (RFC 3834).
  headers: { 'Auto-Submitted': 'auto-generated' },
  xMailer: false as const,
  disableFileAccess: true,
  disableUrlAccess: true,
})

interface RelayError {
  readonly code?: string
  readonly command?: string
  readonly response?: string
  readonly responseCode?: number
}

function failureOf(error: unknown): MailFailure | JobGivenUp {
  const { code = 'ESMTP', command = 'CONN', response, responseCode } = error as RelayError
  const step = /^[A-Z0-9 -]{1,30}$/.test(command) ? command : 'a command'
  if (responseCode === undefined) return new MailFailure(`the relay was not reached (at ${step})`, code)
  const says = `the relay answered ${responseCode} to ${step}`
  return step === 'RCPT TO' && isAboutTheMailbox(response) ? new JobGivenUp(says) : new MailFailure(says, code)
}

/**
 * No such mailbox (5.1.x) or one that takes nothing (5.2.x, RFC 3463). Any other refusal may
 * be about us (no relaying, a wrong password, a sender it does not know): an operator mends
 * that, and the mail goes.
 */
const isAboutTheMailbox = (response = '') => /^5\d\d[ -]5\.[12]\.\d/.test(response)

/** Under a name that is the mail's own: a second attempt writes the same file. */
async function writeTo(folder: string, mail: Mail): Promise<void> {
  const { createTransport } = await import('nodemailer')
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  const { message } = await composer.sendMail(partsOf(mail))
  await writeWhole(join(folder, `${mail.id}.eml`), message as Buffer)
}
