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

import { type Actor, isAccount } from './actor.ts'
import { type Clock, systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { asInstallation, asTenant, type Ctx, contextOf } from './context.ts'
import type { DatabaseAddress } from './database/address.ts'
import { lockClasses } from './database/lock-classes.ts'
import { openPool, type Pool } from './database/pool.ts'
import type { Tx } from './database/transaction.ts'
import type { Egress } from './egress/client.ts'
import { ownEndpoints } from './egress/guard.ts'
import type { Keyring } from './keyring.ts'
import { refuse } from './problem.ts'
import { openQueue, type Queue } from './queue.ts'
import { type GateRow, holdGate, type Passage, passageOf, refuseBehindGate } from './recovery/gate.ts'
import { type Ledger, openLedger } from './recovery/ledger.ts'
import { type LedgerCopies, openLedgerCopies } from './recovery/ledger-copies.ts'
import type { Obligation } from './recovery/obligation.ts'
import { pledged } from './recovery/pledge.ts'

export interface TransactionOptions {
  /** The workspace whose role is taken; absent for the installation's. */
  readonly tenantId?: string
  readonly readOnly?: boolean
  readonly ifMatch?: string | undefined
  /** Holds the workspace acted in, or the actor's own, open for changes: refuses tenant_suspended unless it is ACTIVE, and stays so until the commit. */
  readonly admits?: boolean
  /** How a change passes the installation's gate; absent: as its actor does. Refuses installation.recovering. */
  readonly passage?: Passage
}

/** Who the installation is, as this process knows it: read at boot, the epoch also with every credential (gate.ts). A recovery changes the epoch. */
export interface Identity {
  id: string
  epoch: string
}

/** Runs work in a transaction such as the rule of the request gets, with its If-Match; may be asked for again and again. */
export type RunAsRule = <T>(work: (ctx: Ctx) => Promise<T>) => Promise<T>

export interface Installation {
  readonly config: Config
  readonly ring: Keyring
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
}

export function openInstallation(
  config: Config,
  address: DatabaseAddress,
  ring: Keyring,
  options: OpenOptions,
): Installation {
  const pool = openPool(address, {
    size: config.poolSize,
    applicationName: options.applicationName,
    userTimeoutMs: 30_000,
  })
  const queue = openQueue(address, options.works, options.onQueueError ?? (() => {}))
  return installationOver({ config, ring, pool, queue, address, ...(options.clock ? { clock: options.clock } : {}) })
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
  parts: Pick<Installation, 'config' | 'ring' | 'pool' | 'queue' | 'address'> &
    Partial<Pick<Installation, 'clock' | 'identity' | 'ledger'>>,
): Installation {
  const { config, ring, pool, queue, address, identity = { id: '', epoch: '' } } = parts
  const ledger = parts.ledger ?? openLedger(config.ledgerFile, ring, () => identity.id)
  const writes = { count: 0 }
  let snapshots: Pool | undefined
  let egress: Promise<Egress> | undefined
  const own = [...ownEndpoints(config, address)]
  const installation: Installation = {
    ...parts,
    identity,
    ledger,
    copies: openLedgerCopies(() => installation),
    writes,
    clock: parts.clock ?? systemClock,

    snapshot(tenantId, work) {
      snapshots ??= openPool(address, snapshotPool)
      return snapshots.transaction(asTenant(tenantId), work, { readOnly: true, isolation: 'repeatable read' })
    },

    egress() {
      // undici takes 60 ms to load, which most commands need not pay.
      egress ??= import('./egress/client.ts').then(({ openEgress }) => openEgress({ release: config.egress, own }))
      return egress
    },

    listensAt(port) {
      own.push({ host: config.host, port })
    },

    async transaction(
      actor,
      { tenantId, readOnly = false, ifMatch, admits = false, passage = passageOf(actor) },
      work,
    ) {
      const opening = tenantId === undefined ? asInstallation : asTenant(tenantId)
      const borrowing = borrowingFor(actor, tenantId)
      const contextIn = (tx: Tx, owed: Obligation[] = []) =>
        contextOf({ tx, actor, config, ring, queue, identity, tenantId, ifMatch, owed })
      // What only reads owes nothing, and passes no gate a second time.
      if (readOnly) return pool.transaction(opening, (tx) => work(contextIn(tx)), { readOnly, ...borrowing })
      // An operator is one of his workspace's people, although he does not act in it.
      const workspace = admits ? (tenantId ?? workspaceOf(actor)) : undefined
      const letInto = (tx: Tx) => (owed: Obligation[]) => {
        const ctx = contextIn(tx, owed)
        if (workspace !== undefined) return admitted(tx, workspace, () => work(ctx), passage)
        return passage === undefined ? work(ctx) : passed(tx, passage, () => work(ctx))
      }
      const copy = (tx: Tx) => installation.copies.ahead(contextIn(tx))
      const result = await pledged(ledger, (enter) => {
        const attempt = (tx: Tx) => enter(letInto(tx), () => copy(tx))
        return pool.transaction(opening, attempt, borrowing)
      })
      writes.count += 1
      return result
    },

    async close() {
      await installation.copies.close()
      await queue.close()
      await pool.close()
      await snapshots?.close(0)
      await (await egress)?.close()
    },
  }
  return installation
}

/** Takes the workspace's lock exclusively: waits for the changes under way, and lets no new one in before the commit. */
export const closeWorkspace = (tx: Tx, tenantId: string) =>
  tx`select pg_advisory_xact_lock(${lockClasses.workspace}, hashtext(${tenantId}))`

/** Takes the workspace's lock as its people's changes do: what closes the workspace waits for the commit. */
export const holdOpen = (tx: Tx, tenantId: string) =>
  tx`select pg_advisory_xact_lock_shared(${lockClasses.workspace}, hashtext(${tenantId}))`

/**
 * Runs a change of the workspace's own people. The state is read behind the shared lock,
 * in a statement of its own, so that its snapshot cannot be older than the lock. Both
 * travel with the work's first statement; the verdict is asked for before the commit,
 * and before any other refusal is believed. With a passage the gate is held and looked at
 * by the same two statements. Refuses installation.recovering, tenant_suspended.
 */
export async function admitted<T>(tx: Tx, tenantId: string, work: () => Promise<T>, passage?: Passage): Promise<T> {
  const held = passage && holdGate(tx)
  const locked = holdOpen(tx, tenantId)
  const read = tx<(GateRow & { state: string | null })[]>`
    select t.state, i.gated_at is not null as is_gated, i.epoch
    from installation i left join tenant t on t.id = ${tenantId}`
  const [outcome, [row]] = await Promise.all([settle(work()), read, locked, held])
  if (passage) refuseBehindGate(passage, row)
  if (row?.state !== 'ACTIVE') refuse('tenant_suspended')
  return believed(outcome)
}

/** The same for a change that is no workspace's. Refuses installation.recovering. */
async function passed<T>(tx: Tx, passage: Passage, work: () => Promise<T>): Promise<T> {
  const held = holdGate(tx)
  const read = tx<GateRow[]>`select gated_at is not null as is_gated, epoch from installation`
  const [outcome, [row]] = await Promise.all([settle(work()), read, held])
  refuseBehindGate(passage, row)
  return believed(outcome)
}

function believed<T>(outcome: PromiseSettledResult<T>): T {
  if (outcome.status === 'rejected') throw outcome.reason
  return outcome.value
}

async function settle<T>(work: Promise<T>): Promise<PromiseSettledResult<T>> {
  const [outcome] = await Promise.allSettled([work])
  return outcome
}

/** A transaction waits for a connection under the name of the workspace it acts in or comes from, else of what it is for. */
const borrowingFor = (actor: Actor, tenantId: string | undefined) => ({
  lane: tenantId ?? workspaceOf(actor) ?? (actor.kind === 'SYSTEM' ? actor.job : actor.kind),
  answersCaller: isAccount(actor) || actor.kind === 'ANYONE',
})

/** The workspace an actor's own calls act in; undefined for the operator at the database and for jobs. */
export const workspaceOf = (actor: Actor) => (isAccount(actor) ? actor.tenantId : undefined)
