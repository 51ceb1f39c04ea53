/**
 * One PostgreSQL for a whole test run: made in a temporary folder, fast because it may lose
 * everything in a power cut, deleted at the end. Tests take a database of it from
 * database.ts, which is a copy of the template filled here.
 */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import postgres from 'postgres'
import type { TestProject } from 'vitest/node'
import { type DatabaseAddress, postgresOptions } from '../../src/core/kernel/database/address.ts'
import { withClient } from '../../src/core/kernel/database/client.ts'
import { isFree } from '../../src/core/kernel/database/embedded/locks.ts'
import { stopServer } from '../../src/core/kernel/database/embedded/server.ts'
import { findSuperuser, holdEmbedded } from '../../src/core/kernel/database/embedded.ts'
import { revokeFromEverybody } from '../../src/core/kernel/database/rights.ts'
import { openOutsideCluster, outsideVariable, uuidv7 } from './outside-cluster.ts'
import { poolerProgram, startPooler } from './pgbouncer.ts'
import { fillTemplate } from './template.ts'

export interface Cluster {
  readonly owner: DatabaseAddress
  readonly daemon: DatabaseAddress
  /** For oracles, which must see what row-level security hides. */
  readonly superuser: DatabaseAddress
  /** The daemon's login through PgBouncer, if the tests are to go through one. */
  readonly pooled?: DatabaseAddress
}

declare module 'vitest' {
  interface ProvidedContext {
    cluster: Cluster
  }
}

/** Copied by testDatabase(). */
export const templateName = 'svc_template'

/**
 * Nothing that a test checks. The cluster lives as long as one run, which is limited by CPU: each of these saves some, a
 * twelfth together. (Tests that kill servers or fill disks have clusters of their own.)
 */
const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '8GB',
  checkpoint_timeout: '1h',
  autovacuum: 'off',
  max_parallel_workers_per_gather: '0',
  scram_iterations: '1',
  shared_buffers: '512MB',
  max_connections: '400',
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const outside = process.env[outsideVariable]
  const { cluster, tearDown } = outside ? await useOutside(outside) : await startCluster()
  if (poolerProgram === undefined) {
    project.provide('cluster', cluster)
    return tearDown
  }
  const pooler = await startPooler(poolerProgram, cluster.daemon)
  project.provide('cluster', { ...cluster, pooled: pooler.address(cluster.daemon.database) })
  return async () => {
    await pooler.stop()
    await tearDown()
  }
}

/** A server with the template filled; the caller ends it with `tearDown`. */
export async function startCluster(): Promise<{ cluster: Cluster; tearDown(): Promise<void> }> {
  await sweepAbandoned()
  const folder = await mkdtemp(join(await roomiest(), prefix))
  await chmod(folder, 0o711) // under root, the server's user must be able to enter
  await lendToWorkers(folder)
  const embedded = await holdEmbedded(folder, { settings })
  const superuser = (await findSuperuser(folder))!
  const tearDown = async () => {
    await embedded.release()
    // Processes that the workers started may end a moment later, and store what they compiled.
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    await rm(dirname(embedded.where), { recursive: true, force: true }) // elsewhere, if the server could not enter
  }
  try {
    await makeTemplate(superuser, embedded.owner, embedded.daemon)
  } catch (error) {
    await tearDown()
    throw error
  }
  return { cluster: { owner: embedded.owner, daemon: embedded.daemon, superuser }, tearDown }
}

/** The server of an operator's distribution, with the settings that it has. */
async function useOutside(url: string): Promise<{ cluster: Cluster; tearDown(): Promise<void> }> {
  await sweepAbandoned()
  const folder = await mkdtemp(join(tmpdir(), prefix))
  await chmod(folder, 0o711)
  await lendToWorkers(folder)
  const { owner, daemon, superuser, drop } = await openOutsideCluster(url, templateName)
  await makeTemplate(superuser, owner, daemon)
  await withClient({ ...superuser, database: templateName }, async (client) => {
    const { rows } = await client.query(`select to_regproc('pg_catalog.uuidv7') is null as lacks`)
    if (rows[0].lacks) await client.query(uuidv7)
  })
  const tearDown = async () => {
    await drop()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  return { cluster: { owner, daemon, superuser }, tearDown }
}

/**
 * Temporary files of tests are deleted with the run, and compiled code is shared by all processes. Workers inherit both
 * settings.
 */
async function lendToWorkers(folder: string): Promise<void> {
  const temporary = join(folder, 'tmp')
  await mkdir(temporary)
  await chmod(temporary, 0o1777)
  process.env['TMPDIR'] = temporary
  process.env['NODE_COMPILE_CACHE'] = join(folder, 'compiled')
}

const memory = '/dev/shm'
const gibibyte = 2 ** 30

/** In memory, if there is enough and programs may run from there: PostgreSQL then takes half the CPU. */
async function roomiest(): Promise<string> {
  const [, options = 'noexec'] = new RegExp(`^tmpfs ${memory} tmpfs (\\S+)`, 'm').exec(await mounts()) ?? []
  if (options.split(',').includes('noexec') || process.availableMemory() < 8 * gibibyte) return tmpdir()
  const { bavail, bsize } = await statfs(memory)
  return bavail * bsize < 6 * gibibyte ? tmpdir() : memory
}

const mounts = () => readFile('/proc/mounts', 'utf8').catch(() => '')

const prefix = 'svc-test-'
const abandonedMilliseconds = 600_000

/**
 * Removes what a killed test run left, because its server would run for ever. A younger run may be about to take its
 * hold.
 */
async function sweepAbandoned(): Promise<void> {
  const folders = [tmpdir(), memory].map(async (place) =>
    (await readdir(place).catch(() => [])).map((name) => join(place, name)),
  )
  for (const folder of (await Promise.all(folders)).flat()) {
    const hold = join(folder, 'postgres.hold')
    const found = basename(folder).startsWith(prefix) && (await stat(hold).catch(() => undefined))
    if (
      !found ||
      found.uid !== process.getuid?.() ||
      Date.now() - found.mtimeMs < abandonedMilliseconds ||
      !isFree(hold)
    )
      continue
    await stopServer(join(folder, 'postgres', 'cluster'))
    await rm(folder, { recursive: true, force: true })
  }
}

async function makeTemplate(
  superuser: DatabaseAddress,
  owner: DatabaseAddress,
  daemon: DatabaseAddress,
): Promise<void> {
  const sql = postgres({ ...postgresOptions(superuser), max: 1 })
  try {
    await sql.unsafe(`create database ${templateName} owner svc_owner`)
  } finally {
    await sql.end()
  }
  // The same as the embedded server does for its own database.
  await withClient({ ...superuser, database: templateName }, (client) => client.query(revokeFromEverybody))
  await fillTemplate({ ...owner, database: templateName }, { ...daemon, database: templateName })
}
