/**
 * How mail is sent: over SMTP through the operator's relay, or without one into a folder.
 *
 *    SVC_SMTP_URL    smtp[s]://[user:password@]host[:port][?tls=off|offered|require]
 *    SVC_MAIL_FROM   address, or: Name <address>
 *
 * `smtps` uses TLS from the first byte. `smtp` begins in clear and uses STARTTLS: if the relay
 * offers it, or always if there is a password to protect. With TLS, the certificate is always
 * checked. A password never crosses the network in clear.
 *
 * Spec: decisions 6, Process interface; docs/decisions/0050.
 */
import { join } from 'node:path'

export interface Relay {
  readonly host: string
  readonly port: number
  /** `implicit`: from the first byte; the others are about STARTTLS. */
  readonly tls: 'implicit' | 'require' | 'offered' | 'off'
  readonly login: { readonly user: string; readonly password: string } | undefined
}

export interface Sender {
  readonly name: string
  readonly address: string
}

export interface MailSettings {
  /** Undefined: mails are written to `folder`. */
  readonly relay: Relay | undefined
  readonly folder: string
  readonly from: Sender
}

type Fault = { readonly fault: string }

const submissionPort = 587
const implicitTlsPort = 465
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|::1)$/

/** Reads `SVC_SMTP_URL`. A fault never quotes the URL, which holds a password. */
export function readRelay(text: string): Relay | Fault {
  const url = URL.parse(text)
  if (!url || (url.protocol !== 'smtp:' && url.protocol !== 'smtps:'))
    return { fault: 'must be smtp://[user:password@]host[:port] or smtps://…' }
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  if (!/^[a-z0-9._:-]{1,253}$/.test(host)) return { fault: 'has no host' }
  if ((url.pathname !== '' && url.pathname !== '/') || url.hash !== '')
    return { fault: 'must end after the port; write a / in a password as %2F and a # as %23' }
  const login = loginOf(url)
  if (login && 'fault' in login) return login
  const tls = tlsOf(url, host, login !== undefined)
  if (typeof tls === 'object') return tls
  return { host, port: Number(url.port) || (tls === 'implicit' ? implicitTlsPort : submissionPort), tls, login }
}

function loginOf({ username, password }: URL): Relay['login'] | Fault {
  if (username === '' && password === '') return undefined
  if (username === '' || password === '') return { fault: 'must have both user and password, or neither' }
  try {
    return { user: decodeURIComponent(username), password: decodeURIComponent(password) }
  } catch {
    return { fault: 'must write a % in user or password as %25' }
  }
}

function tlsOf({ protocol, searchParams }: URL, host: string, hasPassword: boolean): Relay['tls'] | Fault {
  const names = [...searchParams.keys()]
  if (names.length > 1 || names.some((name) => name !== 'tls')) return { fault: 'takes no parameter except tls' }
  const asked = searchParams.get('tls')
  if (protocol === 'smtps:') return asked === null ? 'implicit' : { fault: 'takes tls only with smtp://' }
  switch (asked) {
    case null:
      return hasPassword ? 'require' : 'offered'
    case 'require':
      return 'require'
    case 'offered':
    case 'off':
      return hasPassword && !loopback.test(host)
        ? { fault: `would send the password in clear with tls=${asked}; use tls=require or smtps://` }
        : asked
    default:
      return { fault: 'takes tls=off, tls=offered or tls=require' }
  }
}

/** Whether mail can be sent to the address: it has the form of our accounts' addresses, and cannot end a header or a command. */
export const isMailable = (address: string) =>
  address.length <= 254 && /^[^\s\p{C}<>()[\]\\,;:"@]+@[^\s\p{C}<>()[\]\\,;:"@]+$/u.test(address)

/** Reads `SVC_MAIL_FROM`: an address, or `Name <address>`. */
export function readSender(text: string): Sender | Fault {
  const named = /^(?<name>[^<>\p{C}]{1,200}?)\s*<(?<address>[^<>]+)>$/u.exec(text.trim())?.groups
  const address = named?.['address'] ?? text.trim()
  if (!isMailable(address)) return { fault: 'must be an address, or: Name <address>' }
  return { name: named?.['name']?.trim().replace(/^"(.*)"$/, '$1') ?? 'svc', address }
}

/** The folder for a workspace's mail without a relay; it is removed with the workspace. */
export const mailFolderOf = ({ folder }: MailSettings, tenantId: string) => join(folder, tenantId)

/** The place to which mail goes, for people; without the login. */
export const placeOf = ({ relay, folder }: MailSettings) =>
  relay ? `${relay.host.includes(':') ? `[${relay.host}]` : relay.host}:${relay.port}` : folder
