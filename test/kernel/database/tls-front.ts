/** What PostgreSQL does when it is asked for TLS, in front of a server that has no certificate: one that signs itself. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import type { DatabaseAddress } from '../../../src/core/kernel/database/address.ts'
import { socketOf } from '../../kit/database.ts'

export interface TlsFront {
  readonly port: number
  /** The file of the certificate, for the given names; it is its own authority. */
  readonly certificate: string
  /** How many connections were encrypted so far. */
  secured(): number
  close(): void
}

/** Undefined, with a line on stderr, where there is no openssl to make a certificate. */
export async function tlsFront(behind: DatabaseAddress, names = 'DNS:localhost'): Promise<TlsFront | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-tls-'))
  const [key, certificate] = [join(folder, 'key'), join(folder, 'cert')]
  const subject = ['-subj', '/CN=localhost', '-addext', `subjectAltName=${names}`]
  const files = ['-keyout', key, '-out', certificate]
  const { status } = spawnSync('openssl', [
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1'],
    ...subject,
    ...files,
  ])
  if (status !== 0) {
    process.stderr.write('\nNot shown: connections over TLS (there is no openssl to make a certificate).\n')
    return undefined
  }
  let secured = 0
  const front = createServer((client) => {
    client.once('data', () => {
      client.write('S')
      const inside = new TLSSocket(client, { isServer: true, key: readFileSync(key), cert: readFileSync(certificate) })
      inside.on('secure', () => {
        secured += 1
      })
      const server = connect(socketOf(behind))
      inside.pipe(server).pipe(inside)
      for (const socket of [inside, server]) socket.on('error', () => client.destroy())
    })
    client.on('error', () => client.destroy())
  })
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve))
  return {
    port: (front.address() as AddressInfo).port,
    certificate,
    secured: () => secured,
    close() {
      front.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
