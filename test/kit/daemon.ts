/** A daemon over its own database: inside the test's process, or the real command. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { type IncomingHttpHeaders, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { engineEnvironment, engineFlags } from '../../scripts/engine-flags.ts'
import { type Config, readConfig } from '../../src/core/kernel/config/config.ts'
import type { DatabaseAddress } from '../../src/core/kernel/database/address.ts'
import { createKeyring } from '../../src/core/kernel/sealing/keyring.ts'
import { type DaemonRole, startDaemon } from '../../src/daemon/daemon.ts'
import { type Log, silentLog } from '../../src/daemon/log.ts'
import { BriefAgent } from './brief-agent.ts'
import { type TestDatabase, testDatabase } from './database.ts'
import { bareEnvironment } from './processes.ts'
import { hearRefusal } from './refusals-heard.ts'

export interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body as JSON; undefined when there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of an answer
  readonly json: any
}

export interface Sending {
  readonly token?: string | undefined
  /** Sent as JSON; a string is sent as it is. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
}

export interface TestDaemon {
  readonly address: string
  readonly port: number
  /** The separate listener for health and metrics, if there is one. */
  readonly healthAddress: string | undefined
  readonly db: TestDatabase
  readonly config: Config
  readonly setUpToken: string
  /** One request; the path is sent exactly as given. */
  call(method: string, path: string, sending?: Sending): Promise<Answered>
  /** Writes bytes to a new connection, and answers everything that came back until it closed. */
  raw(bytes: string | Buffer | readonly (string | Buffer)[]): Promise<string>
  /** Another daemon over the same database, with the same keyring file unless told otherwise. */
  twin(config?: Partial<Config>): Promise<TestDaemon>
  /** What SIGHUP does. */
  reload(): Promise<void>
  close(): Promise<void>
}

export interface TestDaemonOptions {
  readonly role?: DaemonRole
  readonly config?: Partial<Config>
  readonly log?: Log
}

export async function testDaemon(options: TestDaemonOptions = {}): Promise<TestDaemon> {
  const db = await testDatabase()
  const folder = mkdtempSync(join(tmpdir(), 'svc-daemon-'))
  await createKeyring(join(folder, 'keyring.json'))
  const config = configFor(db, folder, options.config)
  const daemon = await daemonOver(db, config, options)
  return {
    ...daemon,
    async close() {
      await daemon.close()
      await db.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function daemonOver(db: TestDatabase, config: Config, options: TestDaemonOptions): Promise<TestDaemon> {
  const { role = 'api', log = silentLog } = options
  const daemon = await startDaemon(config, role, log)
  const port = Number(new URL(daemon.address).port)
  const agent = new BriefAgent(64)
  return {
    address: daemon.address,
    port,
    healthAddress: daemon.healthAddress,
    db,
    config,
    setUpToken: config.setUpToken ?? '',
    call: (method, path, sending) => send(agent, port, method, path, sending),
    raw: (bytes) => exchange(port, bytes),
    twin: (more) => daemonOver(db, { ...config, ...more }, options),
    reload: () => daemon.reload(),
    async close() {
      agent.destroy()
      await daemon.close()
    },
  }
}

function configFor(db: TestDatabase, folder: string, overrides: Partial<Config> = {}): Config {
  const config = readConfig({
    SVC_DATABASE_URL: 'postgres://nobody@localhost/nothing',
    SVC_DATA_DIR: folder,
    SVC_KEYRING_FILE: join(folder, 'keyring.json'),
    SVC_PORT: '0',
    // All callers of a test have the address 127.0.0.1.
    SVC_SOURCE_RATE: '1000',
  })
  return {
    ...config,
    database: { owner: db.owner, daemon: db.daemon, ...(db.pooled === undefined ? {} : { pooled: db.pooled }) },
    setUpToken: 'a-token-for-the-tests',
    ...overrides,
  }
}

function send(agent: BriefAgent, port: number, method: string, path: string, sending: Sending = {}): Promise<Answered> {
  const { token, body, headers = {} } = sending
  const payload =
    body === undefined ? undefined : typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        agent: agent.dropIdle(),
        port,
        host: '127.0.0.1',
        method,
        path,
        headers: {
          ...(payload === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(payload) }),
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          const isJson = /[/+]json/.test(response.headers['content-type'] ?? '')
          const json = isJson && text !== '' ? JSON.parse(text) : undefined
          const status = response.statusCode ?? 0
          if (status >= 400) hearRefusal(method, path, json)
          resolve({ status, headers: response.headers, text, json })
        })
      },
    )
    sent.on('error', (error: NodeJS.ErrnoException) => {
      // The process stood still for so long that the daemon closed the idle connection just now. A read is sent once more.
      const isClosed = sent.reusedSocket && error.code === 'ECONNRESET' && method === 'GET'
      if (isClosed) resolve(send(agent, port, method, path, sending))
      else reject(error)
    })
    sent.end(payload)
  })
}

function exchange(port: number, bytes: string | Buffer | readonly (string | Buffer)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect(port, '127.0.0.1')
    const written = Array.isArray(bytes) ? (bytes as readonly (string | Buffer)[]) : [bytes as string | Buffer]
    socket.on('connect', () => {
      for (const piece of written) socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece)
    })
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
  })
}

export interface SpawnedDaemon {
  readonly address: string
  readonly process: ChildProcess
  stdout(): string
  stderr(): string
  /** The exit code. */
  readonly ended: Promise<number | null>
}

/** Where a process writes: to this process, or into an open file. */
export interface Outputs {
  readonly stdout?: number
  readonly stderr?: number
}

const thisRelease = fileURLToPath(new URL('../..', import.meta.url))

/**
 * The daemon as a separate process, from the sources of a release; resolves once it listens, which it prints on stdout, or
 * has ended.
 */
export async function spawnDaemon(
  env: NodeJS.ProcessEnv,
  outputs: Pick<Outputs, 'stderr'> = {},
  release = thisRelease,
): Promise<SpawnedDaemon> {
  const child = spawnDaemonProcess(env, outputs, release)
  let out = ''
  let err = ''
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)))
  const listening = new Promise<void>((resolve) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk.toString()
      if (/^listening on .+$/m.test(out)) resolve()
    })
    child.stderr?.on('data', (chunk: Buffer) => {
      err += chunk.toString()
    })
  })
  await Promise.race([listening, ended])
  const address = /^listening on (.+)$/m.exec(out)?.[1] ?? ''
  return { address, process: child, ended, stdout: () => out, stderr: () => err }
}

/** The same, but nothing is awaited. */
export function spawnDaemonProcess(
  env: NodeJS.ProcessEnv,
  { stdout, stderr }: Outputs,
  release = thisRelease,
): ChildProcess {
  return spawn(process.execPath, [...engineFlags, join(release, 'src/daemon/main.ts')], {
    env: { ...engineEnvironment, ...bareEnvironment(), ...env },
    stdio: ['ignore', stdout ?? 'pipe', stderr ?? 'pipe'],
  })
}

/** A connection URL of an address, for another process. */
export const urlOf = ({ user, password, host, port, database }: DatabaseAddress) =>
  `postgres://${user}${password === undefined ? '' : `:${encodeURIComponent(password)}`}@${host.startsWith('/') ? '' : host}:${port}/${database}${host.startsWith('/') ? `?host=${encodeURIComponent(host)}` : ''}`
