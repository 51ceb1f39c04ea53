/**
 * The installation: one database, one keyring, one queue, one clock, and the only place that
 * opens a transaction.
 *
 *    as the installation     svc_installation: workspaces, operators, journal, who may sign in
 *    as one workspace        svc_tenant, with row-level security on app.tenant_id
 *
 * Role and workspace are set in the transaction's first packet (docs/architecture.md). A change by
 * a workspace's own people holds the workspace's shared lock and sees it ACTIVE until it commits,
 * so none of these changes commits after a suspension was answered. The installation's gate is held
 * the same way, with its own lock (recovery/gate.ts).
 */

import type { Config } from '../config/config.ts'
import type { DatabaseAddress } from '../database/address.ts'
import { openPool, type Pool } from '../database/pool.ts'
import { asInstallation, asTenant, openAsInstallation } from '../database/roles.ts'
import { openSnapshots, type Snapshots } from '../database/snapshots.ts'
import type { Tx } from '../database/transaction.ts'
import { DatabaseUnavailable } from '../database/unavailable.ts'
import type { Egress } from '../egress/client.ts'
import { ownEndpoints } from '../egress/guard.ts'
import { type Ledger, openLedger } from '../ledger/ledger.ts'
import { WriteAhead } from '../ledger/write-ahead.ts'
import { type Bell, openBell } from '../outbox/bell.ts'
import { type Listeners, Outgoing } from '../outbox/outgoing.ts'
import { openQueue, type Queue } from '../queue/queue.ts'
import type { Keyring } from '../sealing/keyring.ts'
import { apart } from '../tracing/tracing.ts'
import { type Actor, isAccount } from '../values/actor.ts'
import { type Clock, systemClock } from '../values/clock.ts'
import { admitted } from './admission.ts'
import { type ContextParts, type Ctx, contextOf } from './context.ts'
import { type GateAccess, gateAccessOf } from './gate.ts'
import type { Identity } from './installation-identity.ts'
import { type AskForCopy, Obligations } from './obligations.ts'

export interface TransactionOptions {
  /** The workspace whose role is taken; absent for the installation's. */
  readonly tenantId?: string
  readonly readOnly?: boolean
  /** All statements of a read see the same moment. */
  readonly isSnapshot?: boolean
  readonly ifMatch?: string | undefined
  /**
   * Keeps the workspace that it acts in, or the actor's own, open for changes until the commit: refuses
   * tenant_suspended unless it is ACTIVE, workspace.restoring while it is restored.
   */
  readonly admits?: boolean
  /** How a change passes the installation's gate; absent: as its actor does. Refuses installation.recovering. */
  readonly gateAccess?: GateAccess
  readonly entry?: Entry
  /** Whether the change asks something as the installation first: then it begins in that role, and takes its own behind it. */
  readonly beginsAsInstallation?: boolean
}

/**
 * A check that the transaction's first packet begins with, as the installation. It sends one statement at once. Unless
 * the check passes, the work gets no answer of its statements, and what it writes is not committed. For a change it also
 * answers whether the caller's workspace has webhooks.
 */
export type Entry = (tx: Tx, isChange: boolean) => Promise<{ readonly hasWebhooks: boolean }>

/** Runs work in a transaction like that of the request's rule, with its If-Match; may be called several times. */
export type RunAsRule = <T>(work: (ctx: Ctx) => Promise<T>) => Promise<T>

/** Copies of the ledger outside this host; areas/recovery/ledger keeps them. */
export interface LedgerCopies {
  /**
   * Asks in the act's own transaction for the targets. What it answers waits until one of them has all lines that are on the
   * disk then, and throws LedgerUnavailable where the setting asks for that.
   */
  ahead(ctx: Ctx): Promise<() => Promise<void>>
  /** Sends every target the lines that it lacks; answers the targets that failed, by their ids, and why. */
  follow(): Promise<Readonly<Record<string, string>>>
  /** Sends the lines that this process has added since; waits no longer than an action would. */
  close(): Promise<void>
}

export interface Installation {
  readonly config: Config
  readonly keyring: Keyring
  readonly pool: Pool
  readonly queue: Queue
  readonly address: DatabaseAddress
  /** The same database with its owner's login, where this process has it: for schemas of tries, never for a rule. */
  readonly owner: DatabaseAddress | undefined
  readonly clock: Clock
  readonly identity: Identity
  readonly ledger: Ledger
  readonly copies: LedgerCopies
  /** Tells dispatchers what committed transactions have made due. */
  readonly bell: Bell
  /** How many transactions that may write this process has committed so far. */
  readonly writes: { readonly count: number }
  transaction<T>(actor: Actor, options: TransactionOptions, work: (ctx: Ctx) => Promise<T>): Promise<T>
  /**
   * Reads one workspace as it is at one moment, for as long as that takes: on the standby where there is one. `work` may
   * run again from its start (database/snapshots.ts).
   */
  snapshot<T>(tenantId: string, work: (tx: Tx) => Promise<T>): Promise<T>
  /** Reads one workspace on the standby, if it serves what was committed before the position; undefined where it does not. */
  readAside: Snapshots['readAside']
  /** The only way out of this process (egress/client.ts). */
  egress(): Promise<Egress>
  /** Tells the guard on which port this process listens, if the system chose it: no call may go there. */
  listensAt(port: number): void
  close(): Promise<void>
}

export interface OpenOptions {
  readonly works: boolean
  readonly applicationName: string
  readonly onQueueError?: (error: Error) => void
  readonly clock?: Clock
  readonly owner?: DatabaseAddress | undefined
  /** Makes the copies of the ledger of an open installation. */
  readonly copies: (installation: Installation) => LedgerCopies
}

export function openInstallation(
  config: Config,
  address: DatabaseAddress,
  keyring: Keyring,
  options: OpenOptions,
): Installation {
  const pooled = config.database?.pooled
  const pool = openPool(pooled ?? address, {
    size: config.poolSize,
    applicationName: options.applicationName,
    userTimeoutMs: 30_000,
    isPooled: pooled !== undefined,
  })
  const queue = openQueue(
    address,
    { works: options.works, isFrugal: pooled !== undefined },
    options.onQueueError ?? (() => {}),
  )
  return installationOver({
    ...{ config, keyring, pool, queue, address, openCopies: options.copies },
    ...(options.clock ? { clock: options.clock } : {}),
    owner: options.owner ?? config.database?.owner,
  })
}

/** An installation over parts that are open already. */
export function installationOver(
  parts: Pick<Installation, 'config' | 'keyring' | 'pool' | 'queue' | 'address'> &
    Partial<Pick<Installation, 'clock' | 'identity' | 'ledger' | 'owner'>> & {
      readonly openCopies: (installation: Installation) => LedgerCopies
    },
): Installation {
  const { openCopies, ...open } = parts
  const { config, keyring, pool, queue, address, identity = { id: '', epoch: '' } } = open
  const ledger = parts.ledger ?? openLedger(config.ledgerFile, keyring, () => identity.id)
  const writes = { count: 0 }
  const snapshots = openSnapshots(address, config.database?.standby)
  let egress: Promise<Egress> | undefined
  let copies: LedgerCopies | undefined
  const own = [...ownEndpoints(config, address, config.database?.pooled, config.database?.standby)]
  const installation: Installation = {
    ...open,
    identity,
    ledger,
    writes,
    owner: parts.owner,
    bell: openBell(address),
    clock: parts.clock ?? systemClock,

    get copies() {
      copies ??= openCopies(installation)
      return copies
    },

    snapshot: (tenantId, work) => snapshots.read(tenantId, work),
    readAside: snapshots.readAside,

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
      await ledger.close() // a job that ended last may have written to it
      await installation.bell.close()
      await snapshots.close()
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
  const { config, keyring, egress, queue, identity, pool, ledger } = installation
  const { tenantId, readOnly = false, ifMatch, admits = false, gateAccess = gateAccessOf(actor), entry } = options
  const role = tenantId === undefined ? asInstallation : asTenant(tenantId)
  const isLate = options.beginsAsInstallation === true && !readOnly && entry === undefined
  const opening = entry || isLate ? openAsInstallation : role
  const borrowing = borrowingFor(actor, tenantId)
  const writeAhead = new WriteAhead(ledger)
  const contextIn = (tx: Tx, kept: Kept) =>
    contextOf({ tx, actor, config, keyring, egress, queue, identity, tenantId, ifMatch, ...kept })
  // A read has no obligations, and the gate is not checked a second time.
  if (readOnly) {
    const enter = entry && ((tx: Tx) => entering(tx, role, entry(tx, false)))
    return pool.transaction(
      opening,
      (tx) => admitted(tx, { enter }, () => work(contextIn(tx, keptOf(writeAhead, neverAsked)))),
      {
        readOnly,
        ...(options.isSnapshot ? { isolation: 'repeatable read' as const } : {}),
        ...borrowing,
      },
    )
  }
  // An operator belongs to a workspace, although it does not act in it.
  const workspace = admits ? (tenantId ?? workspaceOf(actor)) : undefined
  // The caller's own workspace, where that is the one it acts in: only of this one the check tells the webhooks, and only its
  // audience is kept.
  const ownWorkspace =
    entry && gateAccess && workspace === tenantId && tenantId === workspaceOf(actor) ? tenantId : undefined
  let listeners: Listeners = { due: [], open: new Set() }
  let queued: ReadonlySet<string> = new Set()

  const attempt = async (tx: Tx) => {
    // Awaited only after an attempt that collided: `begin` waits for the first statement.
    if (writeAhead.isPending) await writeAhead.settle('void')
    const kept: Kept = keptOf(writeAhead, () => installation.copies.ahead(ctx))
    const { obligations, outgoing } = kept
    listeners = kept.listeners
    queued = kept.queued
    const ctx = contextIn(tx, kept)
    const enter = entry && ((tx: Tx) => entering(tx, role, entered(entry(tx, true), listeners, ownWorkspace)))
    const admission = { workspace, gateAccess, enter, keepsAudience: ownWorkspace !== undefined }
    const result = await admitted(tx, admission, () => {
      if (isLate) void tx.switch(role)
      return work(ctx)
    })
    await obligations.finish(tx)
    outgoing.send(tx, tenantId, listeners, config.webhookRetrySeconds[0] ?? 0)
    return result
  }
  try {
    const result = await pool.transaction(opening, attempt, borrowing)
    await writeAhead.settle('done')
    writes.count += 1
    if (queued.size > 0) apart(() => queue.queued([...queued]))
    if (listeners.due.length > 0) void ringFor(installation.bell, listeners.due)
    return result
  } catch (error) {
    // A commit whose answer is lost may have been applied: its lines stay unsettled.
    if (!(error instanceof DatabaseUnavailable)) await writeAhead.settle('void')
    throw error
  }
}

/** What a transaction gathers before its commit. */
const keptOf = (lines: WriteAhead, askForCopy: AskForCopy): Kept => ({
  obligations: new Obligations(lines, askForCopy),
  outgoing: new Outgoing(),
  listeners: { due: [], open: new Set() },
  queued: new Set(),
})

type Kept = Pick<ContextParts, 'obligations' | 'outgoing' | 'listeners' | 'queued'>

const neverAsked: AskForCopy = () => Promise.reject(new Error('a read has no obligations'))

/** The transaction has committed, so each of them is settled; a statement that failed in a savepoint made nothing due. */
async function ringFor(bell: Bell, due: Listeners['due']): Promise<void> {
  for (const { tenantId, webhooks } of due) {
    const ids = (await webhooks.catch(() => [])).map(({ webhook_id }) => webhook_id)
    apart(() => bell.ring(tenantId, ids))
  }
}

/** Notes whether there is a webhook, before the work gets an answer. `admitted` lets none appear, and no hub be hidden. */
async function entered(looked: ReturnType<Entry>, listeners: Listeners, workspace: string | undefined): Promise<void> {
  const { hasWebhooks } = await looked
  if (!hasWebhooks) listeners.noneIn = workspace
  listeners.isKept = workspace !== undefined
}

/** Sends the check, and then takes the role of the work, which learns nothing before the check has passed. */
function entering(tx: Tx, role: string, looked: Promise<unknown>): Promise<void> {
  const passed = looked.then(() => {})
  tx.withhold(passed)
  if (role !== asInstallation) void tx.switch(role)
  return passed
}

/**
 * The lane of a transaction: the workspace that it acts in or that its caller belongs to, otherwise the job or the kind
 * of actor.
 */
const borrowingFor = (actor: Actor, tenantId: string | undefined) => ({
  lane: tenantId ?? workspaceOf(actor) ?? (actor.kind === 'SYSTEM' ? actor.job : actor.kind),
  answersCaller: isAccount(actor) || actor.kind === 'ANYONE',
})

/** The workspace an actor's own calls act in; undefined for the operator at the database and for jobs. */
export const workspaceOf = (actor: Actor) => (isAccount(actor) ? actor.tenantId : undefined)
