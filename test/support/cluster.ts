/**
 * One PostgreSQL for a whole test run: made in a temporary folder, fast because it may lose
 * everything in a power cut, deleted at the end. Tests take a database of it from
 * database.ts, which is a copy of the template filled here.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import postgres from 'postgres'
import type { TestProject } from 'vitest/node'
import { type DatabaseAddress, postgresOptions } from '../../src/core/database/address.ts'
import { findSuperuser, holdEmbedded } from '../../src/core/database/embedded.ts'
import { fillTemplate } from './template.ts'

export interface Cluster {
  readonly owner: DatabaseAddress
  readonly daemon: DatabaseAddress
  /** For oracles, which have to see what row-level security hides. */
  readonly superuser: DatabaseAddress
}

declare module 'vitest' {
  interface ProvidedContext {
    cluster: Cluster
  }
}

/** Copied by testDatabase(). */
export const templateName = 'svc_template'

const settings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '400',
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-test-'))
  await chmod(folder, 0o711) // under root the server's user has to get in
  const embedded = await holdEmbedded(folder, { settings })
  const superuser = (await findSuperuser(folder))!
  const tearDown = async () => {
    await embedded.release()
    await rm(folder, { recursive: true, force: true })
    await rm(dirname(embedded.where), { recursive: true, force: true }) // elsewhere, if the server could not get in
  }
  try {
    await makeTemplate(superuser, embedded.owner, embedded.daemon)
  } catch (error) {
    await tearDown()
    throw error
  }
  project.provide('cluster', { owner: embedded.owner, daemon: embedded.daemon, superuser })
  return tearDown
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
  await fillTemplate({ ...owner, database: templateName }, { ...daemon, database: templateName })
}
