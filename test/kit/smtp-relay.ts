/** A relay for tests: a real SMTP server on loopback that keeps what it accepted, and refuses what the test says. */
import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A mail as the relay received it: the envelope, the bytes, and what a mail program reads in them. */
export interface Received {
  readonly from: string
  readonly to: readonly string[]
  readonly raw: string
  readonly mail: Email
}

/** What the relay answers instead of accepting, e.g. `451 4.3.0 later`. */
export interface Refusals {
  recipient?: (address: string) => string | undefined
  message?: () => string | undefined
}

export interface SmtpRelay {
  readonly port: number
  /** Accepted mails. */
  readonly taken: Received[]
  /** Mails that were received completely and then refused. */
  readonly refused: Received[]
  /** Logins that it received. */
  readonly logins: { readonly user: string | undefined; readonly isSecure: boolean }[]
  /** Connections so far. */
  connections: number
  refusals: Refusals
  takenBy(address: string): Received[]
  close(): Promise<void>
}

export async function smtpRelay(options: SMTPServerOptions = {}): Promise<SmtpRelay> {
  const relay = { taken: [], refused: [], logins: [], connections: 0, refusals: {} } as Omit<
    SmtpRelay,
    'port' | 'close' | 'takenBy'
  >
  const refusal = (line: string) => Object.assign(new Error(line.slice(4)), { responseCode: Number(line.slice(0, 3)) })

  const server = new SMTPServer({
    authOptional: true,
    disableReverseLookup: true,
    disabledCommands: ['STARTTLS'],
    onConnect(_session, done) {
      relay.connections += 1
      done()
    },
    onAuth({ username }, { secure }, done) {
      relay.logins.push({ user: username, isSecure: secure })
      done(null, { user: username ?? '' })
    },
    onRcptTo({ address }, _session, done) {
      const line = relay.refusals.recipient?.(address)
      done(line === undefined ? null : refusal(line))
    },
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        const raw = Buffer.concat(chunks)
        const received: Received = {
          from: envelope.mailFrom ? envelope.mailFrom.address : '',
          to: envelope.rcptTo.map(({ address }) => address),
          raw: raw.toString('latin1'),
          mail: await PostalMime.parse(raw),
        }
        const line = relay.refusals.message?.()
        ;(line === undefined ? relay.taken : relay.refused).push(received)
        done(line === undefined ? null : refusal(line))
      })
    },
    ...options,
  })
  server.on('error', () => {}) // a client that disconnects does not matter to the test
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return Object.assign(relay, {
    port: (server.server.address() as AddressInfo).port,
    takenBy: (address: string) => relay.taken.filter(({ to }) => to.includes(address)),
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  })
}
