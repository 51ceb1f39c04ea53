/**
 * Boot: from a configuration to an installation that may be used.
 *
 *    database (the embedded one is held and migrated) → keyring → pool and queue → keyring-check.ts
 *
 * The daemon and `svc --recovery` boot in the same way. No process serves a database of another
 * release, or runs with a keyring that cannot open what is stored: each refusal is one clear line.
 * Spec: decisions 4, Keyring; 6.
 */
import { existsSync } from 'node:fs'
import { type KeyringInUse, useKeyring } from '../areas/keyring/keyring-in-use.ts'
import { openLedgerCopies } from '../areas/recovery/ledger/ledger-copies.ts'
import { hashSetUpToken } from '../areas/tenants/set-up.ts'
import type { Config } from '../kernel/config/config.ts'
import type { DatabaseAddress } from '../kernel/database/address.ts'
import { withClient } from '../kernel/database/client.ts'
import { measureClock } from '../kernel/database/clock.ts'
import type { Embedded } from '../kernel/database/embedded.ts'
import { checkPooler } from '../kernel/database/pooler.ts'
import { type SignOfLife, signOfLife } from '../kernel/database/sign-of-life.ts'
import { createKeyring, type Keyring, liveKeyring, readKeyring } from '../kernel/sealing/keyring.ts'
import { type Installation, openInstallation } from '../kernel/transaction/installation.ts'
import type { Identity } from '../kernel/transaction/installation-identity.ts'
import type { SystemActor } from '../kernel/values/actor.ts'
import type { Clock } from '../kernel/values/clock.ts'
import { newId } from '../kernel/values/id.ts'
import { mintToken } from '../kernel/values/token.ts'
import { queueNames } from './jobs.ts'

export interface BootOptions {
  /** Whether this process runs jobs. */
  readonly works: boolean
  /** Whether this is a daemon: others must know of it while it lives. A command ends soon. */
  readonly isDaemon?: boolean
  /** How the process names itself to PostgreSQL. */
  readonly applicationName: string
  /** Called with a line for people about anything that takes long or was made. */
  readonly note?: (line: string) => void
  readonly onQueueError?: (error: Error) => void
  /** The embedded database, if the caller has begun to start it. */
  readonly held?: Promise<Embedded>
  readonly clock?: Clock
}

export interface Booted {
  readonly installation: Installation
  /** Folder of the embedded cluster; undefined on a database of the operator's own. */
  readonly embedded: string | undefined
  /** What this process tells others on its database; a command tells nothing. */
  readonly life: SignOfLife
  /**
   * Reads the keyring file again and uses it from now on; answers what people should know. Throws ConfigurationError
   * and keeps the present keyring.
   */
  rereadKeyring(): Promise<readonly string[]>
  close(): Promise<void>
}

const system: SystemActor = { kind: 'SYSTEM', job: 'boot' }

/** Throws ConfigurationError, SchemaError, EmbeddedFailure (one line each), or DatabaseUnavailable. */
export async function bootInstallation(config: Config, options: BootOptions): Promise<Booted> {
  const held = config.database ? undefined : await holdDatabase(config, options)
  try {
    const address = await migratedAddress(config, held, options)
    const keyring = liveKeyring(await openKeyring(config, held?.owner, options))
    const installation = openInstallation(config, address, keyring, {
      ...options,
      owner: held?.owner,
      copies: openLedgerCopies,
    })
    const life = signOfLife(address)
    let use: KeyringInUse
    try {
      if (config.database?.pooled) await checkPooler(installation.pool, address)
      await measureClock(installation.pool)
      await introduce(installation)
      use = await useKeyring(installation, keyring, { ...options, life: options.isDaemon ? life : undefined })
    } catch (error) {
      await life.end()
      await installation.close()
      throw error
    }
    return {
      installation,
      embedded: held?.where,
      life,
      rereadKeyring: use.reread,
      async close() {
        await life.end()
        await installation.close()
        await held?.release()
      },
    }
  } catch (error) {
    await held?.release()
    throw error
  }
}

async function holdDatabase(config: Config, { held, note }: BootOptions): Promise<Embedded> {
  // What migrates a new database is loaded while that is being made.
  if (!existsSync(config.keyringFile))
    void import('../kernel/database/migrate.ts').then(({ loadRunner }) => loadRunner())
  if (held) return held
  // Loaded on demand: an installation with its own database does not need it.
  const { holdEmbedded } = await import('../kernel/database/embedded.ts')
  return holdEmbedded(config.dataDir, note ? { note } : {})
}

/** Migrates the embedded database. An operator's own database is migrated only by the operator's command. */
async function migratedAddress(
  config: Config,
  held: { owner: DatabaseAddress; daemon: DatabaseAddress } | undefined,
  { note }: BootOptions,
): Promise<DatabaseAddress> {
  const { checkMigrated, migrate, migrationStatus, missingQueues } = await import('../kernel/database/migrate.ts')
  if (config.database) {
    const newer = await checkMigrated(config.database.daemon, queueNames)
    if (newer.length > 0)
      note?.(
        `A newer svc has migrated the database (${newer.join(', ')}). This release may run on it for the time being.`,
      )
    return config.database.daemon
  }
  if (!held) throw new Error('an embedded installation without its database')
  const [{ pending, barring }, missing] = await Promise.all([
    migrationStatus(held.owner),
    missingQueues(held.daemon, queueNames).catch(() => queueNames), // a new database has no schema of the queue
  ])
  if (pending.length + barring.length + missing.length > 0) await migrate(held.owner, held.daemon, queueNames)
  return held.daemon
}

/** Makes a keyring only for an embedded database that has never known one. Elsewhere a missing keyring was lost. */
async function openKeyring(
  config: Config,
  owner: DatabaseAddress | undefined,
  { note }: BootOptions,
): Promise<Keyring> {
  const isFirst = owner !== undefined && !existsSync(config.keyringFile) && !(await hasKnownKeyring(owner))
  if (!isFirst) return readKeyring(config.keyringFile)
  const keyring = await createKeyring(config.keyringFile)
  note?.(
    `Created a keyring in ${config.keyringFile}. Back it up apart from the database: without it no sealed value can be opened.`,
  )
  return keyring
}

const hasKnownKeyring = (owner: DatabaseAddress) =>
  withClient(owner, async (client) => {
    const { rows } = await client.query<{ known: boolean }>('select exists (select 1 from keyring_key) as known')
    return rows[0]?.known === true
  })

/** Gives a new installation its identity. */
async function introduce(installation: Installation): Promise<void> {
  await installation.transaction(system, {}, async ({ tx }) => {
    await tx`insert into installation (id, epoch) values (${newId()}, ${newId()}) on conflict (is_only) do nothing`
    const [known] = await tx<Identity[]>`select id, epoch from installation`
    Object.assign(installation.identity, known)
  })
}

/**
 * The set-up token while the installation can be set up; undefined afterwards. It is made anew at
 * every start (only its hash is kept) unless the operator chose one. In single mode, an existing
 * workspace is the only one allowed, so there is no set-up.
 */
export async function offerSetUp(installation: Installation): Promise<string | undefined> {
  const { config } = installation
  const token = config.setUpToken ?? mintToken('invitation').token
  const offered = await installation.transaction(
    system,
    {},
    ({ tx }) => tx`
      update installation set set_up_token_hash = ${hashSetUpToken(token)}
      where set_up_at is null and not (${config.mode === 'single'} and exists (select 1 from tenant))`,
  )
  return offered.count === 1 ? token : undefined
}
