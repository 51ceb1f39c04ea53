/**
 * What the pages are followed on: a host with PostgreSQL of its distribution, an installation that docs/deploying.md makes there,
 * and a daemon. Ada is the first operator, of the workspace `acme`.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import postgres from 'postgres'
import { freePorts } from '../kit/outside-server.ts'
import { type StockServer, startStockServer } from '../kit/stock-server.ts'
import { seen } from '../kit/svc.ts'
import { type Habit, openTerminal, type Terminal } from '../kit/terminal.ts'

export const password = 'correct horse battery staple'
const owner = { email: 'ada@acme.example', name: 'Ada Lovelace' } as const

export interface Ground {
  readonly server: StockServer
  /** `keyring.json`, `data` and what else the host has. */
  readonly folder: string
  /** The host's variables of svc: where its database is, and the keyring. */
  readonly env: Readonly<Record<string, string>>
  /** `http://127.0.0.1:PORT` of the daemon. */
  readonly address: string
  pid(): number
  /** What the daemon wrote to stderr. */
  log(): string
  startDaemon(): Promise<void>
  stopDaemon(): Promise<void>
  has(program: string): boolean
  /** Runs it as a superuser in the installation's database, with psql where there is one; answers what that printed. */
  sql(text: string, database?: string): Promise<string>
  /** A shell in a folder of its own. Without `env` it has the host's variables and the address of the daemon. */
  terminal(options?: {
    readonly env?: NodeJS.ProcessEnv
    readonly columns?: number
  }): Promise<Terminal & { readonly cwd: string }>
  remove(): Promise<void>
}

const enter = '\r'

/** What everybody types where svc asks. Below the question of a password there is a line about its keys. */
const habits: readonly Habit[] = [
  [/\? (?:Password|Your password again|New password|Repeat the password)[^\n]*:/, `${password}${enter}`],
  [/Type (.+) to confirm[^\n]*:/, ([, name]) => `${name}${enter}`],
  [/\([Yy]\/[Nn]\)/, enter],
]

export async function openGround(archives?: 'archiving'): Promise<Ground> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-host-')))
  chmodSync(folder, 0o711)
  const server = await startStockServer(archives)
  const bin = join(folder, 'bin')
  for (const place of [bin, join(folder, 'people')]) mkdirSync(place)
  symlinkSync(join(import.meta.dirname, '../../bin/svc'), join(bin, 'svc'))
  copyFileSync(server.authority, join(folder, 'database-ca.pem'))
  const tls = `sslmode=verify-full&sslrootcert=${join(folder, 'database-ca.pem')}`
  const at = `127.0.0.1:${server.port}/svc?${tls}`
  const env = {
    SVC_DATABASE_OWNER_URL: `postgres://svc_owner:ownerpw@${at}`,
    SVC_DATABASE_URL: `postgres://svc_daemon:daemonpw@${at}`,
    SVC_KEYRING_FILE: join(folder, 'keyring.json'),
    SVC_DATA_DIR: join(folder, 'data'),
  }
  const common = { PATH: [bin, server.bin, process.env['PATH']].join(delimiter), TZ: 'UTC' }
  const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`], { env: common }).status === 0
  let daemon: ChildProcess | undefined
  const [port = 0] = await freePorts(1)
  const address = `http://127.0.0.1:${port}`
  let log = ''
  const terminals: Terminal[] = []

  const stopDaemon = async () => {
    if (daemon === undefined || daemon.exitCode !== null) return
    const ended = new Promise((done) => daemon?.once('close', done))
    daemon.kill('SIGTERM')
    await ended
    daemon = undefined
  }
  return {
    ...{ server, folder, env, has, stopDaemon },
    address,
    pid: () => daemon?.pid ?? 0,
    log: () => log,
    async startDaemon() {
      const more = { SVC_PORT: String(port), SVC_EGRESS_ALLOW: '127.0.0.0/8', SVC_SOURCE_RATE: '1000' }
      daemon = spawn(join(bin, 'svc'), ['daemon'], {
        cwd: folder,
        env: { ...common, ...env, ...more },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      daemon.stderr?.on('data', (piece: Buffer) => (log += piece.toString()))
      await seen(daemon, 'stdout', /^listening on .+$/m).catch((error: Error) => {
        daemon = undefined
        throw new Error(`${error.message}${log}`)
      })
    },
    sql: (text, database = 'svc') => runSql(text, server, database, has('psql') ? common : undefined),
    async terminal(options = {}) {
      const cwd = join(folder, 'people', `p${terminals.length}`)
      mkdirSync(cwd)
      const own = options.env ?? { ...env, SVC_API_URL: address, SVC_EGRESS_ALLOW: '127.0.0.0/8' }
      const terminal = await openTerminal({
        cwd,
        env: { ...common, HOME: cwd, XDG_CONFIG_HOME: join(cwd, '.config'), ...own },
        habits,
        ...(options.columns === undefined ? {} : { columns: options.columns }),
      })
      terminals.push(terminal)
      return { ...terminal, cwd }
    },
    async remove() {
      await Promise.all(terminals.map((terminal) => terminal.close()))
      await stopDaemon()
      await server.remove()
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
    },
  }
}

/** `env`: of psql; without it, statements go one by one through the driver. */
async function runSql(
  text: string,
  server: StockServer,
  database: string,
  env: NodeJS.ProcessEnv | undefined,
): Promise<string> {
  const superuser: Readonly<Record<string, string>> = { ...server.superuser, PGDATABASE: database }
  if (env !== undefined) {
    const args = ['-v', 'ON_ERROR_STOP=1', '-f', '-']
    const ran = spawnSync('psql', args, { input: text, encoding: 'utf8', env: { ...env, ...superuser } })
    if (ran.status !== 0) throw new Error(`psql: ${ran.stderr}\n${text}`)
    return `${ran.stdout}${ran.stderr}`
  }
  const login = { username: superuser['PGUSER'] ?? '', password: superuser['PGPASSWORD'] ?? '' }
  const sql = postgres({ host: '127.0.0.1', port: server.port, ...login, database, max: 1, onnotice: () => undefined })
  const statements = text.includes('$$') ? [text] : text.split(/;\s*$/m).filter((one) => one.trim() !== '')
  let said = ''
  try {
    // Some of them refuse to be in a transaction.
    for (const statement of statements) {
      const rows = await sql.unsafe(statement)
      said += `${rows.command} ${rows.count}\n${rows.map((row) => Object.values(row).join(' | ')).join('\n')}\n(${rows.count} rows)\n`
    }
  } finally {
    await sql.end()
  }
  return said
}

/** Answers the questions of a set-up. */
export const setUpAnswers: readonly Habit[] = [
  [/Slug of the first workspace:/, `acme${enter}`],
  [/Name of the workspace:/, `Acme${enter}`],
  [/Your name:/, `${owner.name}${enter}`],
  [/Your e-mail address:/, `${owner.email}${enter}`],
]

/** Ada's terminal: she is signed in, and has a token for admin commands. */
export async function asAda(ground: Ground, columns?: number): Promise<Terminal & { readonly cwd: string }> {
  const terminal = await ground.terminal(columns === undefined ? {} : { columns })
  await must(terminal, 'svc login --workspace acme --email ada@acme.example')
  return terminal
}

/** A line that prepares what a page takes for granted. */
export async function must(terminal: Terminal, line: string): Promise<string> {
  const { code, said } = await terminal.type(line)
  if (code !== 0) throw new Error(`${line} ended with ${code}:\n${said}`)
  return said
}
