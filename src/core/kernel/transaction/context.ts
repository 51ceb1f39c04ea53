/**
 * The context of one transaction: all that a rule may touch.
 *
 * A rule reads and writes through `tx`, and leaves its evidence through the rest: `record` for a
 * change of a workspace, which writes both its trail and its event, `journal` for the
 * installation's record, `enqueue` for jobs. `audit` writes an entry without an event; `emit`
 * writes events without an entry. All of it is the same transaction: it commits together or not at
 * all. Evidence needs no answer, so it is sent and not awaited: it leaves with the commit, which
 * fails if it fails (docs/decisions/0176).
 *
 * Two roles serve a transaction: svc_installation (the installation's own tables, and
 * who may sign in) and svc_tenant (one workspace's rows, by row-level security).
 * `inWorkspace` changes from the first to the second and back.
 *
 * Spec: house rules on transactions; decisions 4, JournalEntry.
 */

import { type EventData, type EventDeclaration, trailActionOf, trailSubjectOf } from '../../contract/event.ts'
import { catalog } from '../../contract/event-catalog.ts'
import type { JournalAction } from '../../contract/journal-actions.ts'
import type { Obligation } from '../../contract/obligation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Config } from '../config/config.ts'
import { asInstallation, asQueue, asTenant } from '../database/roles.ts'
import type { Tx } from '../database/transaction.ts'
import type { Egress } from '../egress/client.ts'
import { type DataOf, type EventName, eventRow, type NewEvent } from '../outbox/event-row.ts'
import { noticesOf } from '../outbox/notice.ts'
import type { Listeners, Outgoing } from '../outbox/outgoing.ts'
import { searchPendingOf } from '../outbox/search-pending.ts'
import { kindOf, type TrailEntry } from '../outbox/trail-entry.ts'
import type { Job } from '../queue/job.ts'
import type { EnqueueOptions, Queue } from '../queue/queue.ts'
import type { Keyring } from '../sealing/keyring.ts'
import { type AccountActor, type Actor, accountIdOf, isAccount, scopeOf, viaOf } from '../values/actor.ts'
import { etagOf, isMatched } from '../values/etag.ts'
import { newId } from '../values/id.ts'
import { dateNow } from '../values/time.ts'
import { pageCursor, readCursor, writeCursor } from './cursor.ts'
import type { Identity } from './installation-identity.ts'
import type { Obligations } from './obligations.ts'

export interface Evidence {
  readonly subject?: { readonly kind: string; readonly id: string }
  /** Identifiers, slugs, counts and moments; never content, never a secret. */
  readonly params?: Readonly<Record<string, unknown>>
}

export interface Ctx {
  readonly tx: Tx
  readonly actor: Actor
  /** The account that acts. Only accounts can call operations that read it. */
  readonly account: AccountActor
  readonly config: Config
  readonly keyring: Keyring
  /** The way out of this process, for what an answer reads behind the transaction. */
  egress(): Promise<Egress>
  /**
   * Runs work as one workspace, inside the same transaction. Not beside concurrent branches: their statements would be
   * sent as the workspace, too.
   */
  inWorkspace<T>(tenantId: string, work: () => Promise<T>): Promise<T>
  /**
   * The same for statements that are all sent before any is awaited. The role changes back right after them, so other
   * statements may follow at once.
   */
  inWorkspaceAtOnce(tenantId: string, send: () => readonly Promise<unknown>[]): Promise<void>
  /** Sends one statement as the installation, inside the same transaction. Others may be sent at once, before and behind it. */
  asInstallationOnce<T>(send: () => Promise<T>): Promise<T>
  /** Sends one statement to the queue's tables, inside the same transaction. Others may be sent at once, before and behind it. */
  asQueueOnce<T>(send: () => Promise<T>): Promise<T>
  /** Runs work as the installation, inside the same transaction: for what a workspace may ask of it, never for content. */
  asInstallation<T>(work: () => Promise<T>): Promise<T>
  /** When the transaction began, which is `now()` in all its statements. */
  now(): Promise<string>
  /** Writes the installation's record, and answers the entry's id. */
  journal(
    action: JournalAction,
    tenant: { readonly id: string; readonly slug: string } | null,
    evidence?: Evidence,
  ): Promise<string>
  /** Writes the trail of the workspace in force, and answers the entry's id. */
  audit(action: string, evidence?: Evidence): Promise<string>
  /**
   * Writes an event of the workspace in force and its entry in the trail, which the event's declaration describes, and
   * answers the entry's id. `params` belong only to the entry.
   */
  record<Name extends EventName>(name: Name, data: DataOf<Name>, params?: Evidence['params']): Promise<string>
  /** Writes events of the workspace in force, and their deliveries to its webhooks. */
  emit(...events: readonly NewEvent[]): Promise<void>
  /** Says that a webhook of the workspace in force has something due: dispatchers hear it after the commit. */
  ring(webhookId: string): void
  /** Says that this transaction makes the workspace, which therefore has no webhook before the commit. */
  makesWorkspace(tenantId: string): void
  /**
   * Says of a container whose row is locked whether everybody with a role on the workspace sees it. If so until the commit, its
   * events are for every webhook. A savepoint that fails forgets it.
   */
  staysOpen(containerId: string, isOpen: boolean): void
  /** Adds obligations, which a rewind of the database must not undo. The ledger has them before the commit. */
  recordObligation(...obligations: readonly Obligation[]): void
  /** Says that obligations come: what they need of the installation is asked here, beside what else a rule asks of it. */
  expectsObligation(): void
  /**
   * Writes the obligations so far to the ledger while the database works: for a rule that has decided, and calls it right
   * behind the statements of its change. They are void if the transaction fails. Not within a savepoint.
   */
  writeAhead(): void
  /**
   * Runs work that may fail without failing the transaction: if it throws, its statements, obligations and events are
   * undone, and the error is thrown on. Not for concurrent branches.
   */
  savepoint<T>(work: () => Promise<T>): Promise<T>
  /**
   * Queues a job; nothing is queued unless the transaction commits. Await it, and not beside other branches: the
   * statement is sent when this resolves, and its answer is not waited for. Throws TransactionOver.
   */
  enqueue<P>(job: Job<P>, payload: P, options?: EnqueueOptions): Promise<void>
  /** Compares If-Match with the version of the row just locked. Refuses precondition.failed. */
  unchanged(version: number): void
  /** Nothing is there that If-Match could name, not even as `*` (RFC 9110, 13.1.1). Refuses precondition.failed where it was sent. */
  absent(): void
  cursor: {
    /** The position of this list's cursor. Refuses cursor.invalid, gone. */
    read(operation: string, filters: Readonly<Record<string, unknown>>, cursor: string): string[]
    write(operation: string, filters: Readonly<Record<string, unknown>>, position: readonly string[]): string
    /** The same, behind the last row of a page. */
    ofPage(operation: string, filters: Readonly<Record<string, unknown>>, position: readonly string[]): string
  }
}

export interface ContextParts {
  readonly tx: Tx
  readonly actor: Actor
  readonly config: Config
  readonly keyring: Keyring
  readonly egress: () => Promise<Egress>
  readonly queue: Queue
  readonly identity: Identity
  /** The workspace whose role the transaction opened with; undefined for the installation's. */
  readonly tenantId: string | undefined
  readonly ifMatch?: string | undefined
  /**
   * The obligations of the transaction so far; written to the ledger before its commit (kernel/ledger/write-ahead.ts).
   */
  readonly obligations: Obligations
  /** The events of the transaction so far; written with its commit. */
  readonly outgoing: Outgoing
  readonly listeners: Listeners
  /** The queues in which the transaction has put a job that is due at once. */
  readonly queued: Set<string>
}

/** The context of a transaction. A class, because one is made for every request and most of it is not used by a read. */
export const contextOf = (parts: ContextParts): Ctx => new TransactionContext(parts)

class TransactionContext implements Ctx {
  readonly tx: Tx
  readonly actor: Actor
  readonly config: Config
  readonly keyring: Keyring
  private readonly parts: ContextParts
  /** The workspace in force; undefined for the installation. It changes with the statements. */
  private tenantId: string | undefined

  constructor(parts: ContextParts) {
    this.tx = parts.tx
    this.actor = parts.actor
    this.config = parts.config
    this.keyring = parts.keyring
    this.parts = parts
    this.tenantId = parts.tenantId
  }

  get account(): AccountActor {
    if (!isAccount(this.actor)) throw new Error('this operation is performed by an account only')
    return this.actor
  }

  egress(): Promise<Egress> {
    return this.parts.egress()
  }

  inWorkspace<T>(id: string, work: () => Promise<T>): Promise<T> {
    return this.acting(id, work)
  }

  asInstallation<T>(work: () => Promise<T>): Promise<T> {
    return this.acting(undefined, work)
  }

  async inWorkspaceAtOnce(id: string, send: () => readonly Promise<unknown>[]): Promise<void> {
    await Promise.all(this.sendingAs(id, send))
  }

  asInstallationOnce<T>(send: () => Promise<T>): Promise<T> {
    return this.sendingAs(undefined, send)
  }

  asQueueOnce<T>(send: () => Promise<T>): Promise<T> {
    void this.tx.switch(asQueue)
    const sent = send()
    void this.take()
    return sent
  }

  async now(): Promise<string> {
    const [row] = await this.tx<{ now: string }[]>`select now()`
    if (!row) throw new Error('a select without a table answers one row')
    return row.now
  }

  async journal(
    action: JournalAction,
    tenant: { readonly id: string; readonly slug: string } | null,
    { subject, params = {} }: Evidence = {},
  ): Promise<string> {
    const { tx, actor } = this
    const id = newId()
    const known = actor.kind === 'RECOVERY' ? { ...params, os_user: actor.osUser, host: actor.host } : params
    void tx`
      insert into journal (id, action, actor_kind, actor_account_id, via, workspace_id, workspace_slug, subject_kind, subject_id, params)
      values (${id}, ${action}, ${kindOf(actor)}, ${accountIdOf(actor)}, ${viaOf(actor)}, ${tenant?.id ?? null}, ${tenant?.slug ?? null},
              ${subject?.kind ?? null}, ${subject?.id ?? null}, ${tx.json(known)})`
    return id
  }

  async audit(action: string, evidence?: Evidence): Promise<string> {
    const entry = this.entryOf(action, evidence)
    this.tx.assertOpen()
    this.parts.outgoing.keep({ tenantId: entry.tenantId, rows: [], entry, pending: [], notices: [] })
    return entry.id
  }

  private entryOf(action: string, { subject, params = {} }: Evidence = {}): TrailEntry {
    return { tenantId: this.workspaceNow(), id: newId(), action, actor: this.actor, subject, params }
  }

  async record<Name extends EventName>(
    name: Name,
    data: DataOf<Name>,
    params: Evidence['params'] = {},
  ): Promise<string> {
    const declared: EventDeclaration = catalog[name]
    const subject = trailSubjectOf(declared, data as EventData)
    const entry = this.entryOf(trailActionOf(name, declared), { subject, params })
    this.keepEvents([{ name, data } as NewEvent], entry) // DataOf<Name> fits each of the names
    return entry.id
  }

  async emit(...events: readonly NewEvent[]): Promise<void> {
    this.keepEvents(events)
  }

  private keepEvents(events: readonly NewEvent[], entry?: TrailEntry): void {
    if (events.length === 0) return
    const { actor, config } = this
    const at = dateNow()
    const tenantId = this.workspaceNow()
    const rows = events.map((event) => eventRow(config.eventNamespace, tenantId, actor, at, event))
    const notices = noticesOf(events, rows, accountIdOf(actor), entry?.params)
    this.tx.assertOpen()
    this.parts.outgoing.keep({ tenantId, rows, entry, pending: searchPendingOf(tenantId, events), notices })
  }

  ring(webhookId: string): void {
    const webhooks = Promise.resolve([{ webhook_id: webhookId }])
    this.parts.listeners.due.push({ tenantId: this.workspaceNow(), webhooks })
  }

  makesWorkspace(tenantId: string): void {
    this.parts.listeners.noneIn = tenantId
  }

  staysOpen(containerId: string, isOpen: boolean): void {
    const { open, isKept = false } = this.parts.listeners
    if (isOpen && isKept) open.add(containerId)
    else open.delete(containerId)
  }

  recordObligation(...obligations: readonly Obligation[]): void {
    this.parts.obligations.kept.push(...obligations)
  }

  expectsObligation(): void {
    this.parts.obligations.ask()
  }

  writeAhead(): void {
    this.parts.obligations.write()
  }

  async savepoint<T>(work: () => Promise<T>): Promise<T> {
    const { obligations, outgoing, listeners } = this.parts
    const before = { obligations: obligations.kept.length, events: outgoing.count }
    try {
      return await this.tx.savepoint(work)
    } catch (error) {
      obligations.kept.splice(before.obligations)
      outgoing.dropFrom(before.events)
      listeners.open.clear() // its locks are given back
      throw error
    }
  }

  async enqueue<P>(job: Job<P>, payload: P, options?: EnqueueOptions): Promise<void> {
    const { text, values } = await this.parts.queue.queuing(job, payload, options)
    this.tx.assertOpen()
    void this.asQueueOnce(() => this.tx.text(text, values))
    if (options?.startAfter === undefined) this.parts.queued.add(job.name)
  }

  unchanged(version: number): void {
    const { ifMatch } = this.parts
    if (ifMatch !== undefined && !isMatched(ifMatch, etagOf(version)))
      refuse('precondition.failed', { current_etag: etagOf(version) })
  }

  absent(): void {
    if (this.parts.ifMatch !== undefined) refuse('precondition.failed', { current_etag: etagOf(0) })
  }

  get cursor(): Ctx['cursor'] {
    const { keyring, identity, actor } = this.parts
    return {
      read: (operation, filters, cursor) =>
        readCursor(keyring, { operation, scope: scopeOf(actor), filters }, identity.epoch, cursor),
      write: (operation, filters, position) =>
        writeCursor(keyring, { operation, scope: scopeOf(actor), filters }, identity.epoch, position),
      ofPage: (operation, filters, position) =>
        pageCursor(keyring, { operation, scope: scopeOf(actor), filters }, identity.epoch, position),
    }
  }

  /** Sets the role for what `send` sends before it returns. */
  private sendingAs<T>(id: string | undefined, send: () => T): T {
    const before = this.tenantId
    this.tenantId = id
    void this.take()
    const sent = send()
    this.tenantId = before
    void this.take()
    return sent
  }

  /**
   * Sets the role, runs the work, and sets the old role with the next statement. A role that cannot be set fails the
   * transaction.
   */
  private async acting<T>(id: string | undefined, work: () => Promise<T>): Promise<T> {
    const before = this.tenantId
    this.tenantId = id
    const entered = this.take()
    const [result] = await Promise.all([work(), entered]).finally(() => {
      this.tenantId = before // also after a refusal, whose savepoint restores the old role
    })
    void this.take()
    return result
  }

  private take(): Promise<unknown> {
    return this.tx.switch(this.tenantId === undefined ? asInstallation : asTenant(this.tenantId))
  }

  private workspaceNow(): string {
    if (this.tenantId === undefined) throw new Error('no workspace is in force in this transaction')
    return this.tenantId
  }
}
