/**
 * The installation: one database, one keyring, one queue, one clock, and the only place that
 * opens a transaction.
 *
 *    as the installation     svc_installation: workspaces, operators, journal, who may sign in
 *    as one workspace        svc_tenant, with row-level security on app.tenant_id
 *
 * Role and workspace are set in the transaction's first packet (docs/architecture.md).
 * A change by a workspace's own people holds the workspace's shared lock and sees it
 * ACTIVE until it commits, so that after a suspension is answered none of theirs commits.
 * The installation's gate is held the same way, behind a lock of its own (recovery/gate.ts).
 */

import type { Obligation } from '../../contract/obligation.ts'
import type { Config } from '../config/config.ts'
import type { DatabaseAddress } from '../database/address.ts'
import { openPool, type Pool } from '../database/pool.ts'
import { asInstallation, asTenant } from '../database/roles.ts'
import type { Tx } from '../database/transaction.ts'
import { DatabaseUnavailable } from '../database/unavailable.ts'
import type { Egress } from '../egress/client.ts'
import { ownEndpoints } from '../egress/guard.ts'
import { type Ledger, openLedger } from '../ledger/ledger.ts'
import { WriteAhead } from '../ledger/write-ahead.ts'
import { openQueue, type Queue } from '../queue/queue.ts'
import type { Keyring } from '../sealing/keyring.ts'
import { type Actor, isAccount } from '../values/actor.ts'
import { type Clock, systemClock } from '../values/clock.ts'
import { admitted } from './admission.ts'
import { type Ctx, contextOf } from './context.ts'
import { type GateAccess, gateAccessOf } from './gate.ts'
import type { Identity } from './installation-identity.ts'

export interface TransactionOptions {
  /** The workspace whose role is taken; absent for the installation's. */
  readonly tenantId?: string
  readonly readOnly?: boolean
  readonly ifMatch?: string | undefined
  /** Holds the workspace acted in, or the actor's own, open for changes: refuses tenant_suspended unless it is ACTIVE, and stays so until the commit. */
  readonly admits?: boolean
  /** How a change passes the installation's gate; absent: as its actor does. Refuses installation.recovering. */
  readonly gateAccess?: GateAccess
}

/** Runs work in a transaction such as the rule of the request gets, with its If-Match; may be asked for again and again. */
export type RunAsRule = <T>(work: (ctx: Ctx) => Promise<T>) => Promise<T>

/** Copies of the ledger apart from this host; areas/recovery/ledger has them. */
export interface LedgerCopies {
  /** Waits until one target has all lines that are on the disk. Throws LedgerUnavailable where the setting asks for that. */
  ahead(ctx: Ctx): Promise<void>
  /** Brings every target what it lacks; answers the targets that failed, by their ids, and why. */
  follow(): Promise<Readonly<Record<string, string>>>
  /** Brings what this process has added since, for as long as an act would wait. */
  close(): Promise<void>
}

export interface Installation {
  readonly config: Config
  readonly keyring: Keyring
  readonly pool: Pool
  readonly queue: Queue
  readonly address: DatabaseAddress
  readonly clock: Clock
  readonly identity: Identity
  readonly ledger: Ledger
  readonly copies: LedgerCopies
  /** Transactions that could write and were committed by this process, so far. */
  readonly writes: { readonly count: number }
  transaction<T>(actor: Actor, options: TransactionOptions, work: (ctx: Ctx) => Promise<T>): Promise<T>
  /**
   * Reads one workspace as it is at one moment, for as long as that takes: a REPEATABLE READ
   * transaction through row-level security, on a connection that no request waits for.
   */
  snapshot<T>(tenantId: string, work: (tx: Tx) => Promise<T>): Promise<T>
  /** The only way out of this process (egress/client.ts). */
  egress(): Promise<Egress>
  /** Says where this process listens, which nothing that it is made to call may be: the port, where the configuration leaves it to the system. */
  listensAt(port: number): void
  close(): Promise<void>
}

export interface OpenOptions {
  readonly works: boolean
  readonly applicationName: string
  readonly onQueueError?: (error: Error) => void
  readonly clock?: Clock
  /** What copies the ledger of an installation that is open. */
  readonly copies: (installation: Installation) => LedgerCopies
}

export function openInstallation(
  config: Config,
  address: DatabaseAddress,
  keyring: Keyring,
  options: OpenOptions,
): Installation {
  const pool = openPool(address, {
    size: config.poolSize,
    applicationName: options.applicationName,
    userTimeoutMs: 30_000,
  })
  const queue = openQueue(address, options.works, options.onQueueError ?? (() => {}))
  return installationOver({
    ...{ config, keyring, pool, queue, address, openCopies: options.copies },
    ...(options.clock ? { clock: options.clock } : {}),
  })
}

/** Few, because each holds back the clean-up of every row that dies meanwhile; patient, because each page is long. */
const snapshotPool = {
  size: 2,
  applicationName: 'svc snapshot',
  acquireMs: 60_000,
  // One statement copies a whole table out, at the pace of this process.
  statementMs: 6 * 3_600_000,
  // A page may have to be sorted before its first row comes. A server that is gone closes the socket, or the keepalive does.
  silenceMs: 30 * 60_000,
  idleInTransactionMs: 120_000,
}

/** An installation over parts that are open already. */
export function installationOver(
  parts: Pick<Installation, 'config' | 'keyring' | 'pool' | 'queue' | 'address'> &
    Partial<Pick<Installation, 'clock' | 'identity' | 'ledger'>> & {
      readonly openCopies: (installation: Installation) => LedgerCopies
    },
): Installation {
  const { openCopies, ...open } = parts
  const { config, keyring, pool, queue, address, identity = { id: '', epoch: '' } } = open
  const ledger = parts.ledger ?? openLedger(config.ledgerFile, keyring, () => identity.id)
  const writes = { count: 0 }
  let snapshots: Pool | undefined
  let egress: Promise<Egress> | undefined
  let copies: LedgerCopies | undefined
  const own = [...ownEndpoints(config, address)]
  const installation: Installation = {
    ...open,
    identity,
    ledger,
    writes,
    clock: parts.clock ?? systemClock,

    get copies() {
      copies ??= openCopies(installation)
      return copies
    },

    snapshot(tenantId, work) {
      snapshots ??= openPool(address, snapshotPool)
      return snapshots.transaction(asTenant(tenantId), work, { readOnly: true, isolation: 'repeatable read' })
    },

    egress() {
      // undici takes 60 ms to load, which most commands need not pay.
      egress ??= import('../egress/client.ts').then(({ openEgress }) => openEgress({ release: config.egress, own }))
      return egress
    },

    listensAt(port) {
      own.push({ host: config.host, port })
    },

    transaction: (actor, options, work) => transact(installation, writes, actor, options, work),

    async close() {
      await copies?.close()
      await queue.close()
      await pool.close()
      await snapshots?.close(0)
      await (await egress)?.close()
    },
  }
  return installation
}

/** One transaction: opened as its role, admitted, run, written ahead, committed. */
async function transact<T>(
  installation: Installation,
  writes: { count: number },
  actor: Actor,
  options: TransactionOptions,
  work: (ctx: Ctx) => Promise<T>,
): Promise<T> {
  const { config, keyring, queue, identity, pool, ledger } = installation
  const { tenantId, readOnly = false, ifMatch, admits = false, gateAccess = gateAccessOf(actor) } = options
  const opening = tenantId === undefined ? asInstallation : asTenant(tenantId)
  const borrowing = borrowingFor(actor, tenantId)
  const contextIn = (tx: Tx, obligations: Obligation[]) =>
    contextOf({ tx, actor, config, keyring, queue, identity, tenantId, ifMatch, obligations })
  // What only reads owes nothing, and passes no gate a second time.
  if (readOnly) return pool.transaction(opening, (tx) => work(contextIn(tx, [])), { readOnly, ...borrowing })
  // An operator is one of its workspace's people, although it does not act in it.
  const workspace = admits ? (tenantId ?? workspaceOf(actor)) : undefined
  const writeAhead = new WriteAhead(ledger)

  const attempt = async (tx: Tx) => {
    // Awaited only after an attempt that collided: `begin` waits for the first statement.
    if (writeAhead.isPending) await writeAhead.settle('void')
    const obligations: Obligation[] = []
    const ctx = contextIn(tx, obligations)
    const result = await admitted(tx, { workspace, gateAccess }, () => work(ctx))
    if (obligations.length > 0) {
      await writeAhead.append(obligations)
      await installation.copies.ahead(ctx)
    }
    return result
  }
  try {
    const result = await pool.transaction(opening, attempt, borrowing)
    await writeAhead.settle('done')
    writes.count += 1
    return result
  } catch (error) {
    // A commit whose answer is lost may have been applied: its lines stay unsettled.
    if (!(error instanceof DatabaseUnavailable)) await writeAhead.settle('void')
    throw error
  }
}

/** A transaction waits for a connection under the name of the workspace it acts in or comes from, else of what it is for. */
const borrowingFor = (actor: Actor, tenantId: string | undefined) => ({
  lane: tenantId ?? workspaceOf(actor) ?? (actor.kind === 'SYSTEM' ? actor.job : actor.kind),
  answersCaller: isAccount(actor) || actor.kind === 'ANYONE',
})

/** The workspace an actor's own calls act in; undefined for the operator at the database and for jobs. */
export const workspaceOf = (actor: Actor) => (isAccount(actor) ? actor.tenantId : undefined)
