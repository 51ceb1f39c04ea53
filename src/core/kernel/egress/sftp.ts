/**
 * SFTP to a vetted address, with a known host key.
 *
 * The guarded client opens the connection and passes it to ssh2, which opens none itself.
 * The server must have exactly the registered key; there is no trust on first use. A server
 * that is silent for half a minute is abandoned.
 *
 * Spec: decisions 4, A backup target; 5, Egress guard.
 */
import Client from 'ssh2-sftp-client'
import type { Egress } from './client.ts'

export interface SftpAddress {
  readonly host: string
  readonly port: number
  readonly username: string
  readonly password?: string | undefined
  readonly privateKey?: string | undefined
  /** The server's public key, as SSH encodes it. */
  readonly hostKey: Buffer
}

/** The host key is not the registered one: another server, or an attacker in between. */
export class HostKeyChanged extends Error {
  override readonly name = 'HostKeyChanged'
}

/** A connection that is signed in. */
export interface SftpConnection {
  readonly client: Client
  /** The protocol below the client, for operations that the client does without a limit. */
  readonly requests: Awaited<ReturnType<Client['connect']>>
  /** Ends the session, and destroys the connection if the server does not end it. Waiting requests fail. */
  close(): Promise<void>
}

const readyMs = 10_000
const leaveMs = 2_000

/** Connects and signs in. Throws EgressRefused, HostKeyChanged, or what the connection or ssh2 throws. */
export async function connectSftp(egress: Egress, address: SftpAddress): Promise<SftpConnection> {
  const { username, password, privateKey, hostKey } = address
  const sock = await egress.connect(address.host, address.port)
  const client = new Client('svc', { error: () => {}, end: () => {}, close: () => {} } as never)
  let isOther = false
  try {
    const session = await client.connect({
      sock,
      username,
      ...(password === undefined ? {} : { password }),
      ...(privateKey === undefined ? {} : { privateKey }),
      readyTimeout: readyMs,
      keepaliveInterval: 10_000,
      keepaliveCountMax: 3,
      // The server has a key of each kind, and would otherwise choose one that we do not know.
      algorithms: { serverHostKey: algorithmsOf(hostKey) as never },
      hostVerifier: (key: Buffer) => {
        isOther = !key.equals(hostKey)
        return !isOther
      },
    })
    // A server that violates the protocol fails its own requests, not this process.
    session.on('error', () => {})
    return {
      client,
      requests: session,
      async close() {
        const cut = setTimeout(() => sock.destroy(), leaveMs)
        await client.end().catch(() => {})
        clearTimeout(cut)
      },
    }
  } catch (error) {
    sock.destroy()
    throw isOther || /no matching host key/i.test(String((error as Error).message))
      ? new HostKeyChanged('the server shows another host key', { cause: error })
      : error
  }
}

function algorithmsOf(hostKey: Buffer): string[] {
  const length = hostKey.length >= 4 ? hostKey.readUInt32BE(0) : 0
  const type = hostKey.subarray(4, 4 + length).toString('latin1')
  return type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : [type]
}
