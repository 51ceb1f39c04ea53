/**
 * A PostgreSQL as an operator has it: the distribution's own where it is installed (Debian's `postgresql`), otherwise the one
 * of our packages. Freshly made, with passwords, TLS under a private authority, and archiving where a test asks for it.
 */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serverAccount } from '../../src/core/kernel/database/embedded/account.ts'
import { runnableFolder } from '../../src/core/kernel/database/embedded/binaries.ts'
import { freePorts, type Running, runServer } from './outside-server.ts'

/** The newest that the distribution installed; undefined if there is none. */
export const stockPrograms = globSync('/usr/lib/postgresql/*/bin')
  .sort((a, b) => Number(b.split('/')[4]) - Number(a.split('/')[4]))
  .at(0)

export interface StockServer {
  /** Of its programs. */
  readonly bin: string
  readonly port: number
  /** Belongs to the user that runs the server. */
  readonly folder: string
  /** Below `folder`. */
  readonly data: string
  /** The certificate of the authority that signed the server's. */
  readonly authority: string
  /** The variables with which `psql` is a superuser. */
  readonly superuser: Readonly<Record<string, string>>
  /** Runs a program of the server as the user that runs it. */
  run(program: string, ...args: readonly string[]): SpawnSyncReturns<string>
  stop(): Promise<void>
  remove(): Promise<void>
}

/** `archives`: it copies its log to the folder `archive`, so that it can be recovered to any time. */
export async function startStockServer(archives?: 'archiving'): Promise<StockServer> {
  const account = await serverAccount()
  const bin =
    stockPrograms ?? join(await runnableFolder(account, join(tmpdir(), 'svc-binaries'), () => undefined), 'bin')
  const folder = mkdtempSync(join(tmpdir(), 'svc-stock-'))
  chmodSync(folder, 0o711)
  if (account) chownSync(folder, account.uid, account.gid)
  const [port = 0] = await freePorts(1)
  const as = account === undefined ? {} : { uid: account.uid, gid: account.gid }
  const run = (program: string, ...args: readonly string[]) =>
    spawnSync(join(bin, program), args, {
      ...as,
      encoding: 'utf8',
      cwd: folder,
      env: { PATH: process.env['PATH'], ...superuser },
    })
  const must = ({ status, stderr, stdout }: SpawnSyncReturns<string>) => {
    if (status !== 0) throw new Error(`${stderr}${stdout}`)
  }
  const superuser = {
    PGHOST: '127.0.0.1',
    PGPORT: String(port),
    PGUSER: 'postgres',
    PGPASSWORD: 'the superuser of a test',
    PGDATABASE: 'postgres',
  }
  const data = join(folder, 'data')
  const secret = join(folder, 'superuser')
  writeFileSync(secret, superuser.PGPASSWORD)
  const how = [
    '-U',
    'postgres',
    '-A',
    'scram-sha-256',
    `--pwfile=${secret}`,
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
    '--no-sync',
  ]
  must(run('initdb', '-D', data, ...how))
  const tls = join(folder, 'tls')
  mkdirSync(tls)
  certify(tls)
  if (account) chownSync(join(tls, 'server.key'), account.uid, account.gid)
  const archive = join(folder, 'archive')
  if (archives) mkdirSync(archive)
  if (archives && account) chownSync(archive, account.uid, account.gid)
  const own = [
    ...(archives ? archiving(archive) : []),
    `port = ${port}`,
    `listen_addresses = '127.0.0.1'`,
    `unix_socket_directories = '${folder}'`,
    'fsync = off',
  ]
  own.push('ssl = on', `ssl_cert_file = '${tls}/server.crt'`, `ssl_key_file = '${tls}/server.key'`)
  writeFileSync(join(data, 'postgresql.auto.conf'), `${own.join('\n')}\n`)
  let server: Running | undefined = await runServer(join(bin, 'postgres'), ['-D', data], port, folder, as as never)
  const stop = async () => {
    // In order: a server that is killed leaves its children, who use the folder.
    run('pg_ctl', '-D', data, '-m', 'fast', 'stop')
    await server?.stop()
    server = undefined
  }
  return {
    ...{ bin, port, folder, data, superuser, run, stop },
    authority: join(tls, 'authority.crt'),
    async remove() {
      await stop()
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

const archiving = (folder: string) => [
  'wal_level = replica',
  'archive_mode = on',
  `archive_command = 'test ! -f ${folder}/%f && cp %p ${folder}/%f'`,
]

/** A private authority, and a certificate of it for 127.0.0.1. */
function certify(folder: string): void {
  const openssl = (...args: string[]) => {
    const { status, stderr } = spawnSync('openssl', args, { cwd: folder, encoding: 'utf8' })
    if (status !== 0) throw new Error(`openssl: ${stderr}`)
  }
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    'authority.key',
    '-out',
    'authority.crt',
    '-days',
    '2',
    '-subj',
    '/CN=Authority',
  )
  openssl('req', ...key, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=127.0.0.1')
  writeFileSync(join(folder, 'names'), 'subjectAltName=IP:127.0.0.1\n')
  const signing = [
    '-CA',
    'authority.crt',
    '-CAkey',
    'authority.key',
    '-CAcreateserial',
    '-days',
    '2',
    '-extfile',
    'names',
  ]
  openssl('x509', '-req', '-in', 'server.csr', '-out', 'server.crt', ...signing)
  chmodSync(join(folder, 'server.key'), 0o600)
}
