/**
 * An installation for a test file: its own database, a new keyring, the real pool and queue.
 *
 * Accounts are made as people make them (set-up, sign-in, step-up, tokens), except where a test
 * needs a state that takes days or a second person: those rows come from `oracle`, a superuser's
 * client.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type postgres from 'postgres'
import { bootInstallation } from '../../src/core/app/boot.ts'
import { performForAnswer } from '../../src/core/app/perform.ts'
import type { Answer, Operation, Sent } from '../../src/core/contract/operation.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { readConfig } from '../../src/core/kernel/config/config.ts'
import type { DatabaseAddress } from '../../src/core/kernel/database/address.ts'
import { createKeyring } from '../../src/core/kernel/sealing/keyring.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import { recoveryActor } from '../../src/core/kernel/values/actor.ts'
import { type TestDatabase, testDatabase } from './database.ts'

export interface TestInstallation {
  readonly installation: Installation
  readonly owner: DatabaseAddress
  readonly daemon: DatabaseAddress
  /** Sees and changes everything: for checks afterwards, and for states that no operation makes. */
  readonly oracle: postgres.Sql
  readonly env: NodeJS.ProcessEnv
  /** Performs as the operator at the database. */
  asRecovery<O extends Operation>(operation: O, ...sent: SentArgs<O>): Promise<Answer<O>>
  /** What SIGHUP does to a daemon. Throws what is wrong with the file. */
  rereadKeyring(): Promise<readonly string[]>
  /** A workspace with an invited owner. */
  provision(slug?: string, more?: Partial<Provision>): Promise<Answer<typeof operations.provisionTenant>>
  close(): Promise<void>
}

/** What is sent; optional if nothing is required. */
export type SentArgs<O extends Operation> = object extends Sent<O> ? [sent?: Sent<O>] : [sent: Sent<O>]
export type Provision = Sent<typeof operations.provisionTenant>['body']

export interface InstallationOptions {
  readonly mode?: 'multi' | 'single'
  readonly poolSize?: number
  readonly env?: NodeJS.ProcessEnv
  /** Another database than a copy of the template; its maker drops it. */
  readonly at?: Pick<TestDatabase, 'owner' | 'daemon' | 'pooled' | 'sql'>
}

export const password = 'correct horse battery staple'

let provisioned = 0

/** A slug that no other call in this process got. */
export function freshSlug(prefix = 'ws'): string {
  provisioned += 1
  return `${prefix}-${provisioned.toString(36)}-${process.pid.toString(36)}`
}

export const provisionBody = (slug = freshSlug(), more: Partial<Provision> = {}): Provision => ({
  slug,
  display_name: `Workspace ${slug}`,
  owner_email: `owner@${slug}.example`,
  ...more,
})

export async function testInstallation(options: InstallationOptions = {}): Promise<TestInstallation> {
  const database = options.at ?? (await testDatabase())
  const folder = mkdtempSync(join(tmpdir(), 'svc-installation-'))
  chmodSync(folder, 0o700)
  const keyring = join(folder, 'keyring.json')
  await createKeyring(keyring)
  const env = {
    SVC_DATABASE_URL: urlOf(database.daemon),
    SVC_DATABASE_OWNER_URL: urlOf(database.owner),
    ...(database.pooled === undefined ? {} : { SVC_DATABASE_POOLED_URL: urlOf(database.pooled) }),
    SVC_DATABASE_POOL: String(options.poolSize ?? 10),
    SVC_DATA_DIR: folder,
    SVC_KEYRING_FILE: keyring,
    SVC_MODE: options.mode ?? 'multi',
    SVC_SOURCE_RATE: '1000',
    ...options.env,
  }
  const booted = await bootInstallation(readConfig(env), { works: false, applicationName: 'svc-test' })
  const { installation } = booted

  const asRecovery = <O extends Operation>(operation: O, ...[sent]: SentArgs<O>) =>
    performForAnswer(installation, operation, recoveryActor(), sent ?? ({} as Sent<O>))

  return {
    installation,
    owner: database.owner,
    daemon: database.daemon,
    oracle: database.sql,
    env,
    asRecovery,
    rereadKeyring: booted.rereadKeyring,
    provision: (slug, more) => asRecovery(operations.provisionTenant, { body: provisionBody(slug, more) }),
    async close() {
      await booted.close()
      if ('drop' in database) await (database as { drop(): Promise<void> }).drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The address as an operator would write it. */
function urlOf({ host, port, database, user, password: secret }: DatabaseAddress): string {
  const login =
    secret === undefined ? encodeURIComponent(user) : `${encodeURIComponent(user)}:${encodeURIComponent(secret)}`
  if (host.startsWith('/'))
    return `postgres://${login}@/${encodeURIComponent(database)}?host=${encodeURIComponent(host)}&port=${port}`
  return `postgres://${login}@${host.includes(':') ? `[${host}]` : host}:${port}/${encodeURIComponent(database)}`
}
