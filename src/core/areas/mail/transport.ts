/**
 * Delivers one mail: to the operator's relay over SMTP, or as an .eml file into the folder.
 *
 * The relay is set in the daemon's environment, like the database, so the egress guard does not
 * check it: its address may be private. No call of the API, by a workspace or by an operator,
 * can choose where this module connects.
 *
 * A relay's answer may quote addresses, so only its numbers leave this module.
 * Loads nodemailer (50 ms) with the first mail. Spec: docs/decisions/0050.
 */
import { join } from 'node:path'
import type { SMTPTransportOptions } from 'nodemailer/lib/smtp-transport'
import type { mailFailureReasons } from '../../contract/mail/operations.ts'
import { isMailable, type MailSettings, type Relay } from '../../kernel/config/mail-settings.ts'
import { JobFailure, JobGivenUp } from '../../kernel/transaction/runnable-job.ts'
import { writeWhole } from '../../kernel/values/write-whole.ts'
import type { Mail } from './message.ts'

/** A mail was not sent. The message contains no address. A retry may succeed. */
class MailFailure extends JobFailure {
  override readonly name = 'MailFailure'
  readonly code: string
  constructor(says: string, code: string, told: ToldMail) {
    super(says, { ...told, error: code })
    this.code = code
  }
}

/** What is told of a mail that was not sent (contract/mail); an error of the folder has its code alone. */
interface ToldMail {
  readonly [name: string]: string | number
  readonly reason: Exclude<(typeof mailFailureReasons)[number], 'INTERRUPTED' | 'OTHER'>
}

/** Throws MailFailure, or JobGivenUp if the mailbox cannot receive mail. Errors of the file system pass through. */
export async function deliver(settings: MailSettings, mail: Mail): Promise<void> {
  if (!isMailable(mail.to.address)) {
    const told: ToldMail = { reason: 'ADDRESS_UNUSABLE' }
    throw new JobGivenUp('the address of the account cannot be written in a mail', told)
  }
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

/** The envelope is set here, not read from the headers: one recipient, even if a name contains an address. */
const partsOf = ({ id, from, to, subject, text, html }: Mail) => ({
  from: { ...from },
  to: { ...to },
  envelope: { from: from.address, to: [to.address] },
  messageId: `<${id}@${from.address.slice(from.address.lastIndexOf('@') + 1)}>`,
  subject,
  text,
  html,
  // Prevents automatic replies such as out-of-office notices (RFC 3834).
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
  if (responseCode === undefined)
    return new MailFailure(`the relay was not reached (at ${step})`, code, { reason: 'RELAY_UNREACHABLE', step })
  const says = `the relay answered ${responseCode} to ${step}`
  const told = { step, status: responseCode }
  if (step !== 'RCPT TO' || !isAboutTheMailbox(response))
    return new MailFailure(says, code, { reason: 'RELAY_REFUSED', ...told })
  const refused: ToldMail = { reason: 'MAILBOX_REFUSED', ...told }
  return new JobGivenUp(says, refused)
}

/**
 * The mailbox does not exist (5.1.x) or accepts no mail (5.2.x, RFC 3463). Any other refusal may
 * be caused by our configuration (no relaying, a wrong password, an unknown sender). After an
 * operator has corrected it, a retry succeeds.
 */
const isAboutTheMailbox = (response = '') => /^5\d\d[ -]5\.[12]\.\d/.test(response)

/** The file name is the mail's id: a second attempt writes the same file. */
async function writeTo(folder: string, mail: Mail): Promise<void> {
  const { createTransport } = await import('nodemailer')
  const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' })
  const { message } = await composer.sendMail(partsOf(mail))
  await writeWhole(join(folder, `${mail.id}.eml`), message as Buffer)
}
