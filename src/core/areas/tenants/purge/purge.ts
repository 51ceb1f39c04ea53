/**
 * The purge: after the grace, nothing of the workspace is left.
 *
 *    pending ──seen past the deadline for long enough──▶ started ──batches──▶ finished
 *       │                                                  │  ▲
 *       └─ a hold in force, or nobody else in the          └──┘ killed, held, out of time:
 *          operator register: it does not begin                 continues where it stopped
 *
 * Always true:
 *  - it begins in one transaction, under the workspace's exclusive lock. The transaction checks
 *    that the deadline is past by both clocks and that no hold is in force; `purge_started_at`
 *    is the marker;
 *  - every batch locks the workspace's row, checks for holds again, removes some rows and
 *    records their count and hash: all in one short transaction, with no table lock above
 *    ROW EXCLUSIVE. Two processes never purge one workspace at the same time;
 *  - it ends in one transaction that finds every table, the queue and the folders empty, signs the
 *    certificate, blocks the slug and removes the row. The bucket of files was found empty before.
 *
 * Elsewhere: clocks that jump (purge-deadline.ts), tables (purge-tables.ts), the
 * certificate (purge-certificate.ts), the schedule of tries (jobs.ts).
 *
 * Spec: Workspace states, row 5; decisions 4; T-22, T-23, T-45.
 */
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../../../kernel/config/config.ts'
import { mailFolderOf } from '../../../kernel/config/mail-settings.ts'
import { mediaFolderOf } from '../../../kernel/config/media-settings.ts'
import { asInstallation, asPurgeOf } from '../../../kernel/database/roles.ts'
import { closeWorkspace } from '../../../kernel/transaction/admission.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { lockTenant } from '../../../kernel/transaction/workspace-row.ts'
import type { SystemActor } from '../../../kernel/values/actor.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import { mediaStore } from '../../media/store.ts'
import { isRegisterKeptWithout, removeOperatorsOf } from '../../operators/register.ts'
import { isHeld } from '../../retention/hold.ts'
import { certify, type PurgedFacts } from './purge-certificate.ts'
import { hasSettled, type Sighting } from './purge-deadline.ts'
import { countJobs, jobsPlace, removeJobs } from './purge-queue.ts'
import type { KeyRange } from './purge-tables.ts'
import { hasRows, type Key, readPurgeTables, removeBatch, walksTheIndex } from './purge-tables.ts'
import { openWalk, type Walk } from './purge-walk.ts'
import { extended } from './removed-keys.ts'

/**
 * The outcome of one try: nothing to do yet, hindered, more to do, or done.
 * `busy`: another process is purging the workspace.
 */
export type PurgeOutcome = 'not_due' | 'settling' | 'held' | 'last_operators' | 'busy' | 'more' | 'purged'

const worker: SystemActor = { kind: 'SYSTEM', job: 'purge_tenant' }

/** How long one try removes rows, in milliseconds: less than a daemon's drain. */
const tryMs = 5_000

const seen = new WeakMap<Installation, Map<string, Sighting>>()

/** Continues the purge of a workspace as far as possible now. Any process may call it at any time, repeatedly. */
export async function pursuePurge(installation: Installation, tenantId: string): Promise<PurgeOutcome> {
  const look = await lookAt(installation, tenantId)
  if (!look) return 'not_due'
  if (look.purge_started_at === null) {
    const outcome = settled(installation, look)
    if (outcome) return outcome
    failpoint('purge.due')
    const hindered = await start(installation, tenantId)
    if (hindered) return hindered
    failpoint('purge.started')
  }
  return carryOn(installation, tenantId)
}

/**
 * Purges a workspace again that was purged before the database was rewound. It begins at once,
 * because the first purge has waited for the deadline. Answers the hindrance, e.g. a hold. The
 * workspace is then still marked for deletion, and `purgeDue` continues the purge when the
 * hindrance has ended.
 */
export async function repeatPurge(installation: Installation, tenantId: string): Promise<PurgeOutcome> {
  const isThere = await installation.transaction(worker, {}, async (ctx) => {
    await closeWorkspace(ctx.tx, tenantId)
    const [found] = await ctx.tx`select 1 from tenant where id = ${tenantId} for update`
    await ctx.tx`
      update tenant
      set state = 'PENDING_DELETION', version = version + 1, deletion_requested_at = coalesce(deletion_requested_at, now()),
          state_before_deletion = case when state = 'PENDING_DELETION' then state_before_deletion else state end,
          purge_after = least(purge_after, now(), ${new Date(installation.clock.now())}::timestamptz)
      where id = ${tenantId} and (state <> 'PENDING_DELETION' or purge_after > now())`
    return found !== undefined
  })
  if (!isThere) return 'purged'
  const hindered = await start(installation, tenantId)
  for (let outcome = hindered; ; outcome = await carryOn(installation, tenantId))
    if (outcome !== undefined && outcome !== 'more') return outcome
}

/** The workspaces whose purge is due or under way. */
export const findDuePurges = (installation: Installation): Promise<readonly { readonly id: string }[]> =>
  installation.transaction(
    worker,
    { readOnly: true },
    ({ tx }) => tx.last<{ id: string }[]>`
      select id from tenant where state = 'PENDING_DELETION' and (purge_after <= now() or purge_started_at is not null)
      order by purge_after`,
  )

/** The workspace's folders, by their names in a certificate: media, and mails that were written to files, not sent. */
export const foldersOf = ({ media, mail }: Config, tenantId: string) => [
  { place: 'media_folder', path: mediaFolderOf(media, tenantId) },
  { place: 'mail_folder', path: mailFolderOf(mail, tenantId) },
]

interface Look {
  readonly id: string
  readonly purge_after: string
  readonly purge_started_at: string | null
  readonly is_past: boolean
  readonly is_held: boolean
  readonly last_release: string | null
}

async function lookAt(installation: Installation, tenantId: string): Promise<Look | undefined> {
  const [look] = await installation.transaction(
    worker,
    { readOnly: true },
    ({ tx }) => tx.last<Look[]>`
      select id, purge_after, purge_started_at, purge_after <= now() as is_past,
             exists (select 1 from legal_hold h where h.tenant_id = t.id and h.released_at is null) as is_held,
             (select max(released_at) from legal_hold h where h.tenant_id = t.id) as last_release
      from tenant t where id = ${tenantId} and state = 'PENDING_DELETION'`,
  )
  return look
}

/** Undefined if the purge may begin. A hold in force restarts the wait: its release must not purge at once. */
function settled(installation: Installation, look: Look): PurgeOutcome | undefined {
  const { clock, config } = installation
  const sightings = seen.get(installation) ?? new Map<string, Sighting>()
  seen.set(installation, sightings)
  const isPast = look.is_past && clock.now() >= Date.parse(look.purge_after)
  const hasPassed = hasSettled(
    sightings,
    {
      id: look.id,
      deadline: look.purge_after,
      lastRelease: look.last_release,
      isPast: isPast && !look.is_held,
      atSeconds: clock.monotonicSeconds(),
    },
    config.purgeSettleSeconds,
  )
  failpoint('purge.observed')
  if (hasPassed) return undefined
  return look.is_held ? 'held' : isPast ? 'settling' : 'not_due'
}

/** Sets the marker, after which the deletion cannot be cancelled, or answers the hindrance. */
function start(installation: Installation, tenantId: string): Promise<PurgeOutcome | undefined> {
  return installation.transaction(worker, {}, async (ctx) => {
    await closeWorkspace(ctx.tx, tenantId)
    const tenant = await lockTenant(ctx, tenantId)
    failpoint('purge.start_locked')
    if (tenant.purge_started_at !== null) return undefined
    if (await isHeld(ctx, tenantId)) return 'held'
    if (!(await isRegisterKeptWithout(ctx, tenantId))) return 'last_operators'

    // The deadline may have changed between the check and the lock.
    const started = await ctx.tx`
      update tenant set purge_started_at = now(), version = version + 1
      where id = ${tenantId} and state = 'PENDING_DELETION' and purge_after <= now()
        and purge_after <= ${new Date(installation.clock.now())}`
    if (started.count === 0) return 'not_due'
    await ctx.tx`insert into purge_progress (workspace_id) values (${tenantId})`
    await ctx.tx`update operator set added_by = null where added_by in (select id from account where tenant_id = ${tenantId})`
    await removeOperatorsOf(ctx, tenant)
    await ctx.journal('tenant.purge_started', tenant)
    failpoint('purge.start_marked')
    return undefined
  })
}

async function carryOn(installation: Installation, tenantId: string): Promise<PurgeOutcome> {
  const until = performance.now() + tryMs
  for (;;) {
    const stopped = await emptyPlaces(installation, tenantId, until).catch(async (error: unknown) => {
      // A row that was written since refers to what is removed now. The next try begins with the first table again.
      if ((error as { code?: unknown }).code === foreignKeyViolation)
        await installation.transaction(worker, {}, (ctx) => forgetEmptied(ctx, tenantId))
      throw error
    })
    if (stopped) return stopped
    const outcome = await finish(installation, tenantId)
    if (outcome === 'purged') failpoint('purge.finished')
    if (outcome !== 'more') return outcome
    // Something was written during the purge; it is removed like the rest.
    if (performance.now() > until) return 'more'
  }
}

/** Removes the rows of every table, the folders and the queued jobs. Answers what stopped it; undefined: nothing. */
async function emptyPlaces(
  installation: Installation,
  tenantId: string,
  until: number,
): Promise<PurgeOutcome | undefined> {
  const { tables, emptied } = await readProgress(installation, tenantId)
  for (const table of tables) {
    if (emptied.has(table.name)) continue
    const stopped = await empty(installation, { tenantId, name: table.name, emptied }, until, (ctx, size, range) =>
      asPurge(ctx, tenantId, async () => {
        await ctx.tx.switch(walksTheIndex)
        return removeBatch(ctx.tx, table, tenantId, size, range)
      }),
    )
    if (stopped) return stopped
    emptied.add(table.name)
  }
  failpoint('purge.tables_empty')
  for (const { path } of foldersOf(installation.config, tenantId)) await rm(path, { recursive: true, force: true })
  // Rows of files are gone, so nothing is written there any more.
  if (installation.config.media.bucket && (await mediaStore(installation).removeSome(tenantId))) return 'more'
  failpoint('purge.media_removed')
  const jobs = { tenantId, name: jobsPlace, emptied }
  const stopped = await empty(installation, jobs, until, (ctx, size) => removeJobs(ctx, tenantId, size))
  failpoint('purge.jobs_removed')
  return stopped
}

/** The tables, and the names of those that this purge has found empty already, in an earlier try or in another process. */
const readProgress = (installation: Installation, tenantId: string) =>
  installation.transaction(worker, { readOnly: true }, async ({ tx }) => {
    const [tables, [progress]] = await Promise.all([
      readPurgeTables(tx),
      tx<{ emptied: string[] }[]>`select emptied from purge_progress where workspace_id = ${tenantId}`,
    ])
    return { tables, emptied: new Set(progress?.emptied) }
  })

/** The SQLSTATE. */
const foreignKeyViolation = '23503'

const forgetEmptied = ({ tx }: Ctx, tenantId: string) =>
  tx`update purge_progress set emptied = '[]' where workspace_id = ${tenantId}`

/** Where a purge removes rows. `emptied`: the tables that it leaves out from now on. */
interface Place {
  readonly tenantId: string
  readonly name: string
  readonly emptied: ReadonlySet<string>
}

/**
 * Rows of one transaction: few at first, because one that thirty tables may refer to takes a third of a millisecond; then as
 * many as take one or two hundredths of a second; fewer on a busy machine. Between two transactions, the purge rests for as
 * long as the last one took, so that it uses the server for at most half of the time.
 */
const firstBatch = 50
const smallestBatch = 20
const largestBatch = 2_000
const aimedMs = 14
const longestRestMs = 100

type Remove = (ctx: Ctx, size: number, range: KeyRange) => Promise<readonly Key[]>

/** The progress of this process in each place of each workspace: a later try continues there. */
const walks = new WeakMap<Installation, Map<string, Walk>>()

/** Removes batch by batch, each in its own transaction, until the place is empty. */
async function empty(
  installation: Installation,
  place: Place,
  until: number,
  remove: Remove,
): Promise<PurgeOutcome | undefined> {
  const known = walks.get(installation) ?? new Map<string, Walk>()
  walks.set(installation, known)
  const name = `${place.tenantId} ${place.name}`
  const walk = known.get(name) ?? openWalk()
  known.set(name, walk)
  for (let size = firstBatch; !walk.isOver; ) {
    const began = performance.now()
    const removed = await removeSome(installation, place, (ctx) => remove(ctx, size, walk.range))
    if (typeof removed === 'string') return removed
    failpoint('purge.batch')
    walk.note(removed, size)
    if (performance.now() > until) return 'more'
    const tookMs = performance.now() - began
    if (removed.length === size) await pause(Math.min(tookMs, longestRestMs))
    size = nextSize(size, tookMs)
  }
  known.delete(name)
  return undefined
}

/** At most half or double of the last, so that one slow batch does not count for much. */
function nextSize(size: number, tookMs: number): number {
  const aimed = Math.min(size * 2, Math.max(size / 2, size * (aimedMs / tookMs)))
  return Math.trunc(Math.min(largestBatch, Math.max(smallestBatch, aimed)))
}

/** One batch: answers the removed keys, or what stopped it. */
function removeSome(
  installation: Installation,
  { tenantId, name, emptied }: Place,
  remove: (ctx: Ctx) => Promise<readonly Key[]>,
): Promise<readonly Key[] | PurgeOutcome> {
  return installation.transaction(worker, {}, async (ctx) => {
    const locked = await lockPurge(ctx, tenantId)
    if (typeof locked === 'string') return locked
    failpoint('purge.batch_locked')

    const keys = await remove(ctx)
    failpoint('purge.batch_removed')
    await ctx.tx.switch(asInstallation)
    const removed =
      keys.length === 0 ? locked.removed : { ...locked.removed, [name]: extended(name, locked.removed[name], keys) }
    await ctx.tx`
      update purge_progress
      set removed = ${ctx.tx.json(removed)}, emptied = ${ctx.tx.json([...emptied])}, hold_checks = hold_checks + 1,
          holds_checked_at = now()
      where workspace_id = ${tenantId}`
    failpoint('purge.batch_recorded')
    return keys
  })
}

type LockedPurge = Omit<PurgedFacts, 'slugBlockedUntil'>

/** Locks the workspace for this process, and checks for holds under the lock, so that no earlier hold is missed. */
async function lockPurge(ctx: Ctx, tenantId: string): Promise<LockedPurge | 'busy' | 'held'> {
  const locking = ctx.tx<LockedPurge[]>`
    select t.id, t.slug, t.deletion_requested_at, t.purge_after, t.purge_started_at, p.removed, p.hold_checks
    from tenant t join purge_progress p on p.workspace_id = t.id
    where t.id = ${tenantId} and t.purge_started_at is not null
    for update of t skip locked`
  const [[locked], held] = await Promise.all([locking, isHeld(ctx, tenantId)])
  return locked ? (held ? 'held' : locked) : 'busy'
}

/** Runs work in the only role that may remove append-only rows. Row-level security still admits only one workspace. */
async function asPurge<T>(ctx: Ctx, tenantId: string, work: () => Promise<T>): Promise<T> {
  const entered = ctx.tx.switch(asPurgeOf(tenantId))
  const [result] = await Promise.all([work(), entered])
  return result
}

/** Ends the purge in one transaction; answers `more` if something is left. */
function finish(installation: Installation, tenantId: string): Promise<PurgeOutcome> {
  return installation.transaction(worker, {}, async (ctx) => {
    await closeWorkspace(ctx.tx, tenantId)
    const locked = await lockPurge(ctx, tenantId)
    if (typeof locked === 'string') return locked
    failpoint('purge.finish_locked')
    if (await isAnythingLeft(ctx, tenantId)) {
      await forgetEmptied(ctx, tenantId)
      return 'more'
    }
    if (!(await isRegisterKeptWithout(ctx, tenantId))) return 'last_operators'

    await removeOperatorsOf(ctx, locked)
    const slugBlockedUntil = await blockSlug(ctx, locked.slug)
    const counts = await certify(ctx, { ...locked, hold_checks: locked.hold_checks + 1, slugBlockedUntil })
    failpoint('purge.certified')
    await ctx.journal('tenant.purged', locked, { params: { counts } })
    // Its archives go later (areas/backup/departed.ts).
    await ctx.tx`
      insert into departed_archive (workspace_id, workspace_slug) values (${tenantId}, ${locked.slug})
      on conflict (workspace_id) do update set purged_at = now()`
    ctx.recordObligation({ act: 'workspace.purged', tenant_id: tenantId })
    // The proof of an operator for an operation on this workspace names it as its target.
    await ctx.tx`delete from step_up where target_id = ${tenantId}`
    await ctx.tx`delete from purge_progress where workspace_id = ${tenantId}`
    await asPurge(ctx, tenantId, () => ctx.tx`delete from tenant where id = ${tenantId}`)
    failpoint('purge.tenant_removed')
    return 'purged'
  })
}

async function isAnythingLeft(ctx: Ctx, tenantId: string): Promise<boolean> {
  const rows = await ctx.inWorkspace(tenantId, () => hasRows(ctx.tx, tenantId))
  const jobs = await countJobs(ctx, tenantId)
  await ctx.tx.switch(asInstallation)
  return rows || jobs > 0 || foldersOf(ctx.config, tenantId).some(({ path }) => existsSync(path))
}

/** Blocks the slug for `slugBlockDays`, and answers the end of the block. */
async function blockSlug(ctx: Ctx, slug: string): Promise<string> {
  await ctx.tx`delete from blocked_slug where slug = ${slug}`
  const [blocked] = await ctx.tx<{ until: string }[]>`
    insert into blocked_slug (slug, until) values (${slug}, now() + make_interval(days => ${ctx.config.slugBlockDays}))
    returning until`
  return blocked?.until ?? ''
}
