/** Three daemons over one database, for a proxy before them: an owner's token, an operator's, and a container for items. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKeyring } from '../../src/core/kernel/sealing/keyring.ts'
import { type SpawnedDaemon, spawnDaemon, urlOf } from './daemon.ts'
import { type TestDatabase, testDatabase } from './database.ts'
import { freePorts } from './outside-server.ts'
import { person } from './people.ts'
import { bareEnvironment } from './processes.ts'

export interface ProxiedHouse {
  readonly db: TestDatabase
  readonly ports: readonly number[]
  readonly daemons: readonly SpawnedDaemon[]
  readonly token: string
  readonly operator: string
  readonly containerId: string
  /** What each daemon is started with, but for its port. */
  readonly env: NodeJS.ProcessEnv
  /** One call to a daemon itself. */
  // biome-ignore lint/suspicious/noExplicitAny: a test says itself what it expects of an answer
  ask(at: number, method: string, path: string, body?: object, as?: string): Promise<any>
  /** Ends a daemon by the signal and starts it again, answers its exit code. */
  restart(at: number, signal: NodeJS.Signals, how?: Started): Promise<number | null>
  close(): Promise<void>
}

export interface Started {
  readonly env?: NodeJS.ProcessEnv
  /** The folder of the release; absent: this one. */
  readonly release?: string | undefined
}

/** `db`: an empty one, which the release migrates; absent: a database of this release. */
export async function proxiedHouse(how: Started & { readonly db?: TestDatabase } = {}): Promise<ProxiedHouse> {
  const db = how.db ?? (await testDatabase())
  const folder = mkdtempSync(join(tmpdir(), 'svc-proxied-'))
  await createKeyring(join(folder, 'keyring.json'))
  const ports = await freePorts(3)
  const env = {
    SVC_DATABASE_URL: urlOf(db.daemon),
    SVC_DATABASE_OWNER_URL: urlOf(db.owner),
    SVC_DATA_DIR: folder,
    SVC_KEYRING_FILE: join(folder, 'keyring.json'),
    SVC_SETUP_TOKEN: 'a-token-for-the-tests',
    SVC_TRUSTED_PROXIES: '127.0.0.1',
    SVC_EGRESS_ALLOW: '127.0.0.1',
    SVC_DRAIN_NOTICE_SECONDS: '4',
    SVC_LOG_LEVEL: 'warn',
    ...how.env,
  }
  if (how.release !== undefined)
    execFileSync(join(how.release, 'bin/svc'), ['db', 'migrate'], { env: { ...bareEnvironment(), ...env } })
  const startOf = (at: number, { env: more, release }: Started = how) =>
    spawnDaemon({ ...env, SVC_PORT: String(ports[at]), ...more }, {}, release)
  const daemons = [await startOf(0)]
  daemons.push(await startOf(1), await startOf(2))

  const ask: ProxiedHouse['ask'] = async (at, method, path, body, as) => {
    const answer = await fetch(`${daemons[at]!.address}/api/v1${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        ...(as === undefined ? {} : { authorization: `Bearer ${as}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`)
    return answer.json()
  }
  const set = await ask(0, 'POST', '/auth/installation:set-up', {
    set_up_token: env.SVC_SETUP_TOKEN,
    workspace: { slug: 'proxied', display_name: 'Proxied' },
    owner: { email: 'owner@proxied.example', display_name: 'Olga', password: 'correct horse battery' },
  })
  const token: string = set.session.access_token
  await db.sql`insert into tenant_quota (tenant_id, quota, ceiling) values (${set.tenant.id}, 'api_requests_per_minute', 0)`
  const operator = (await person({ db }, set.tenant.id, { operator: true })).token
  await db.sql`update credential set expires_at = now() + interval '1 day'`
  const [hub] = (await ask(0, 'GET', '/containers', undefined, token)).data
  const of = { kind: 'COLLECTION', parent_id: hub.id, name: 'Proxied' }
  const containerId: string = (await ask(0, 'POST', '/containers', of, token)).id

  return {
    ...{ db, ports, daemons, token, operator, containerId, env, ask },
    async restart(at, signal, started = {}) {
      const { process, ended } = daemons[at]!
      process.kill(signal)
      const code = await ended
      daemons[at] = await startOf(at, started)
      if (daemons[at].address === '') throw new Error(`a daemon did not start: ${daemons[at].stderr()}`)
      return code
    },
    async close() {
      for (const { process, ended } of daemons) {
        process.kill('SIGKILL')
        await ended
      }
      await db.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Which titles of a load are not there exactly once: acknowledged ones, and any that are there twice. */
export async function astray({ db }: ProxiedHouse, acknowledged: readonly string[]): Promise<string[]> {
  const rows = await db.sql<{ title: string; n: number }[]>`
    select title, count(*)::int as n from item where title like 'proxied %' group by title`
  const times = new Map(rows.map(({ title, n }) => [title, n]))
  return [
    ...acknowledged.filter((title) => times.get(title) !== 1),
    ...[...times].filter(([, n]) => n !== 1).map(([title]) => title),
  ]
}
