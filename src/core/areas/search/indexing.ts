/**
 * One turn at a workspace's documents: a transaction that does a portion of what is to be done, the most urgent first.
 *
 *    no generation    one is begun                                 (a new workspace, an upgrade, an import)
 *    pending          what was changed is written anew, in the generation that answers and in the one that is built
 *    BUILDING         the next portion, kind by kind; behind the last one it becomes SERVING, and the one before RETIRED
 *    RETIRED          a portion of its documents goes, and then itself
 *
 * The workspace's lock of the index lets one turn at a time do this. A turn that is killed has done nothing; the next one
 * goes on where the last one ended. A workspace that is not ACTIVE waits.
 *
 * Spec: Work on boards, 2, N4 and N5; docs/decisions/0230, 0231.
 */
import { type SearchKind, type SearchSubject, searchKinds } from '../../contract/search/kinds.ts'
import { lockClasses } from '../../kernel/database/lock-classes.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { firstId } from '../../kernel/transaction/page.ts'
import { failpoint } from '../../kernel/values/failpoint.ts'
import { newId } from '../../kernel/values/id.ts'
import { type Generation, writeDocuments } from './documents.ts'
import { kindsOfDocuments } from './kinds.ts'
import { dictionaryOf } from './stems.ts'

export const indexer = { kind: 'SYSTEM', job: 'index_search' } as const
/** Documents of one turn, so that no transaction lasts long. */
const portion = 100
/** Documents that one turn removes. */
const retiredAtOnce = 1_000

interface IndexRow extends Generation {
  readonly state: 'BUILDING' | 'SERVING' | 'RETIRED'
  readonly at_kind: SearchKind | null
  readonly after_id: string | null
  readonly job_id: string | null
}

interface PendingRow {
  readonly id: string
  readonly subject: SearchSubject
  readonly subject_id: string
  readonly after_id: string | null
}

/** Does a portion; answers whether there may be more. Refuses tenant_suspended, installation.recovering. */
export const takeTurn = (installation: Installation, tenantId: string): Promise<boolean> =>
  installation.transaction(
    indexer,
    { tenantId, admits: true, gateAccess: { isServed: false, epoch: undefined } },
    (ctx) => turn(ctx, tenantId),
  )

async function turn({ tx }: Ctx, tenantId: string): Promise<boolean> {
  const [lock] = await tx<{ is_mine: boolean }[]>`
    select pg_try_advisory_xact_lock(${lockClasses.searchIndex}, hashtext(${tenantId})) as is_mine`
  if (!lock?.is_mine) return false
  const rows = await tx<IndexRow[]>`
    select generation::text, language, state, at_kind, after_id, job_id from search_index where tenant_id = ${tenantId}`
  const living = rows.filter(({ state }) => state !== 'RETIRED')
  if (living.length === 0) return begin(tx, tenantId)
  const written = await writePending(tx, tenantId, living)
  if (written !== 'nothing') return written === 'some' || rows.some(({ state }) => state !== 'SERVING')
  const building = living.find(({ state }) => state === 'BUILDING')
  if (building) return build(tx, tenantId, building)
  const retired = rows.find(({ state }) => state === 'RETIRED')
  return retired ? retire(tx, tenantId, retired) : false
}

async function begin(tx: Tx, tenantId: string): Promise<boolean> {
  await tx`
    insert into search_index (tenant_id, language, state) values (${tenantId}, ${await languageOf(tx, tenantId)}, 'BUILDING')
    on conflict (tenant_id) where state = 'BUILDING' do nothing`
  return true
}

/** The dictionary of a workspace's language. */
export async function languageOf(tx: Tx, tenantId: string): Promise<string> {
  const [row] = await tx<{ locale: string }[]>`select default_locale as locale from tenant where id = ${tenantId}`
  return dictionaryOf(row?.locale ?? '')
}

/**
 * Writes what was changed. `all`: what comes meanwhile waits for the next look, so that changes that come one by one are written
 * many at once.
 */
async function writePending(
  tx: Tx,
  tenantId: string,
  generations: readonly Generation[],
): Promise<'nothing' | 'some' | 'all'> {
  const pending = await tx<PendingRow[]>`
    select id, subject, subject_id, after_id from search_pending where tenant_id = ${tenantId} order by id limit ${portion}`
  if (pending.length === 0) return 'nothing'
  const done: string[] = []
  for (const kind of searchKinds) {
    const changed = pending.filter(({ subject }) => subject === kind)
    await writeDocuments(tx, tenantId, generations, {
      kind,
      ids: [...new Set(changed.map(({ subject_id }) => subject_id))],
    })
    done.push(...changed.map(({ id }) => id))
  }
  // One of them in a turn: a label may be on many items.
  const named = pending.find(({ subject }) => subject === 'LABEL' || subject === 'FIELD')
  if (named && (await spread(tx, tenantId, named))) done.push(named.id)
  if (done.length > 0) void tx`delete from search_pending where tenant_id = ${tenantId} and id in ${tx.list(done)}`
  failpoint('search.pending')
  return named || pending.length === portion ? 'some' : 'all'
}

/** Queues what names a label or a field, a portion of it; answers whether that was the last one. */
async function spread(tx: Tx, tenantId: string, { id, subject, subject_id, after_id }: PendingRow): Promise<boolean> {
  let isLast = true
  for (const kind of searchKinds) {
    const { naming } = kindsOfDocuments[kind]
    if (!naming || (subject !== 'LABEL' && subject !== 'FIELD')) continue
    const of = { subject, id: subject_id }
    const found = await tx<{ id: string }[]>`${naming(tx, tenantId, of, after_id ?? firstId, portion)}`
    const rows = found.map((one) => ({ tenant_id: tenantId, id: newId(), subject: kind, subject_id: one.id }))
    if (rows.length > 0)
      void tx`insert into search_pending ${tx.rows(rows, 'tenant_id', 'id', 'subject', 'subject_id')}`
    const last = found.at(-1)
    if (last === undefined || found.length < portion) continue
    isLast = false
    void tx`update search_pending set after_id = ${last.id} where tenant_id = ${tenantId} and id = ${id}`
  }
  return isLast
}

async function build(tx: Tx, tenantId: string, row: IndexRow): Promise<boolean> {
  const kind = row.at_kind ?? searchKinds[0]
  const ids = await tx<{ id: string }[]>`
    ${kindsOfDocuments[kind].idsBehind(tx, tenantId, row.after_id ?? firstId, portion)}`
  await writeDocuments(tx, tenantId, [row], { kind, ids: ids.map(({ id }) => id) })
  const last = ids.at(-1)
  if (ids.length === portion && last) return goOn(tx, tenantId, row, { kind, after: last.id, by: portion })
  const next = searchKinds[searchKinds.indexOf(kind) + 1]
  if (next) return goOn(tx, tenantId, row, { kind: next, after: null, by: ids.length })
  return serve(tx, tenantId, row, ids.length)
}

interface Place {
  readonly kind: SearchKind
  readonly after: string | null
  readonly by: number
}

async function goOn(tx: Tx, tenantId: string, row: IndexRow, { kind, after, by }: Place): Promise<boolean> {
  const [moved] = await tx<{ done: string }[]>`
    update search_index set at_kind = ${kind}, after_id = ${after}, done = done + ${by}::int
    where tenant_id = ${tenantId} and generation = ${row.generation} returning done::text`
  if (row.job_id !== null)
    void tx`
      update job set state = 'RUNNING', started_at = least(started_at, now()), beat_at = now(),
                     progress = ${tx.json({ phase: 'READING', done: Number(moved?.done), total: null })}
      where tenant_id = ${tenantId} and id = ${row.job_id}`
  failpoint('search.portion')
  return true
}

/** From now on it answers. */
async function serve(tx: Tx, tenantId: string, row: IndexRow, by: number): Promise<boolean> {
  await tx`update search_index set state = 'RETIRED' where tenant_id = ${tenantId} and state = 'SERVING'`
  const [made] = await tx<{ done: number }[]>`
    update search_index set state = 'SERVING', at_kind = null, after_id = null, done = done + ${by}::int, job_id = null
    where tenant_id = ${tenantId} and generation = ${row.generation} returning done::int`
  const done = made?.done ?? 0
  if (row.job_id !== null)
    void tx`
      update job set state = 'SUCCEEDED', started_at = least(started_at, now()), beat_at = now(), finished_at = now(),
                     progress = ${tx.json({ phase: 'DONE', done, total: done })}
      where tenant_id = ${tenantId} and id = ${row.job_id}`
  failpoint('search.serving')
  return true
}

async function retire(tx: Tx, tenantId: string, { generation }: IndexRow): Promise<boolean> {
  const { count } = await tx`
    delete from search_document where tenant_id = ${tenantId} and generation = ${generation} and ctid = any (array(
      select ctid from search_document where tenant_id = ${tenantId} and generation = ${generation} limit ${retiredAtOnce}))`
  if (count < retiredAtOnce)
    void tx`delete from search_index where tenant_id = ${tenantId} and generation = ${generation}`
  failpoint('search.retired')
  return true
}
