/**
 * The indexer: in every daemon that works, it looks for workspaces with something to index, and takes turns at them.
 *
 *    look ──▶ workspace ─ turn ─ rest ─ turn … (at most 200 ms) ──▶ the next one ──▶ look again, at once or half a second later
 *
 * It holds one connection, and rests after each turn for as long as that took: half of a processor at most. Several daemons
 * share the work: the lock of a workspace's index lets one of them take a turn (indexing.ts). The rows are the truth, so one
 * that is killed is gone on with by any other.
 *
 * Spec: Work on boards, 2, N4, "found in 2 s"; docs/decisions/0231.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { Problem } from '../../contract/problem.ts'
import { installationScope } from '../../contract/vocabulary.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { indexer, takeTurn } from './indexing.ts'

export interface Indexer {
  /** Waits for the turn under way, 5 s at most, and starts no other. */
  close(): Promise<void>
}

const lookMs = 500
/** Behind a failure, of one workspace or of the look: so that the log is not filled twice a second. */
const failedMs = 5_000
const drainMs = 5_000
/** How often workspaces without any documents are looked for. */
const lackingMs = 60_000
const shareMs = 200
const longestRestMs = 100
const workspacesAtOnce = 100

export function startIndexer(
  installation: Installation,
  { onFailure }: { readonly onFailure: (what: string, error: unknown) => void },
): Indexer {
  const closing = new AbortController()
  const running = run(installation, closing.signal, onFailure)
  return {
    async close() {
      closing.abort()
      // What the database does not answer by then is not committed; another look finds it.
      await Promise.race([running, pause(drainMs, undefined, { ref: false })])
    },
  }
}

async function run(
  installation: Installation,
  closing: AbortSignal,
  onFailure: (what: string, error: unknown) => void,
): Promise<void> {
  let lackingAt = Number.NEGATIVE_INFINITY
  /** Workspaces whose turn failed, and until when they rest. */
  const resting = new Map<string, number>()
  const failed = (tenantId: string, error: unknown) => {
    resting.set(tenantId, performance.now() + failedMs)
    onFailure('search: indexing', error)
  }
  while (!closing.aborted) {
    let restMs = lookMs
    try {
      const now = performance.now()
      const lacking = now - lackingAt > lackingMs ? await findLacking(installation) : []
      if (now - lackingAt > lackingMs && lacking.length < workspacesAtOnce) lackingAt = now
      for (const tenantId of new Set([...(await findWork(installation)), ...lacking])) {
        if (closing.aborted) return
        if ((resting.get(tenantId) ?? 0) > now) continue
        resting.delete(tenantId)
        if (await work(installation, tenantId, closing, failed)) restMs = 1
      }
    } catch (error) {
      restMs = failedMs
      onFailure('search: looking for work', error)
    }
    await pause(restMs, undefined, { signal: closing }).catch(() => {})
  }
}

/** Takes turns at one workspace; answers whether there may be more to do. */
async function work(
  installation: Installation,
  tenantId: string,
  closing: AbortSignal,
  failed: (tenantId: string, error: unknown) => void,
): Promise<boolean> {
  const until = performance.now() + shareMs
  try {
    while (performance.now() < until && !closing.aborted) {
      const began = performance.now()
      if (!(await takeTurn(installation, tenantId))) return false
      await pause(Math.min(performance.now() - began, longestRestMs))
    }
    return true
  } catch (error) {
    // Suspended since the look, or behind a closed gate: it waits.
    if (!(error instanceof Problem)) failed(tenantId, error)
    return false
  }
}

/** Does everything there is to do: for tests, and for whoever cannot wait for the next look. */
export async function indexAll(installation: Installation): Promise<void> {
  for (;;) {
    const found = new Set([...(await findLacking(installation)), ...(await findWork(installation))])
    let hasMore = false
    for (const tenantId of found) while (await takeTurn(installation, tenantId)) hasMore = true
    if (!hasMore) return
  }
}

/** Active workspaces with something to index, and the end of what was asked of all of them. */
async function findWork(installation: Installation): Promise<readonly string[]> {
  const [found, rounds] = await installation.transaction(indexer, { readOnly: true }, ({ tx }) =>
    Promise.all([
      tx<{ id: string }[]>`
        with recursive waiting (id) as (
          (select tenant_id from search_pending order by tenant_id limit 1)
          union all
          select (select p.tenant_id from search_pending p where p.tenant_id > w.id order by p.tenant_id limit 1)
          from waiting w where w.id is not null)
        select t.id from tenant t where t.state = 'ACTIVE' and exists (select from installation where gated_at is null) and t.id in (
          select id from waiting union all select tenant_id from search_index where state in ('BUILDING', 'RETIRED'))
        order by random() limit ${workspacesAtOnce}`,
      tx<{ id: string }[]>`
        select j.id from job j join installation on gated_at is null where j.tenant_id = ${installationScope} and j.kind = 'SEARCH_REINDEX' and j.state in ('QUEUED', 'RUNNING')`,
    ]),
  )
  for (const { id } of rounds) await followRound(installation, id)
  return found.map(({ id }) => id)
}

/** Active workspaces without documents: new ones, and those of before an upgrade or an import. */
const findLacking = async (installation: Installation): Promise<readonly string[]> =>
  (
    await installation.transaction(
      indexer,
      { readOnly: true },
      ({ tx }) => tx<{ id: string }[]>`
        select t.id from tenant t where t.state = 'ACTIVE' and exists (select from installation where gated_at is null) and not exists (
          select from search_index s where s.tenant_id = t.id and s.state in ('BUILDING', 'SERVING'))
        limit ${workspacesAtOnce}`,
    )
  ).map(({ id }) => id)

/** Notes how many workspaces of a job of all of them are done. Those that are not active are not waited for. */
function followRound(installation: Installation, jobId: string): Promise<unknown> {
  return installation.transaction(
    indexer,
    { gateAccess: { isServed: false, epoch: undefined } },
    ({ tx }) => tx`
      with round as (
        select count(*)::int as total,
               count(*) filter (where s.state = 'BUILDING' and t.state = 'ACTIVE')::int as open
        from search_index s join tenant t on t.id = s.tenant_id where s.round_id = ${jobId})
      update job set
        state = case when r.open = 0 then 'SUCCEEDED' else 'RUNNING' end,
        started_at = least(started_at, now()), beat_at = now(),
        finished_at = case when r.open = 0 then now() end,
        progress = jsonb_build_object('phase', case when r.open = 0 then 'DONE' else 'READING' end,
                                      'done', r.total - r.open, 'total', r.total)
      from round r where tenant_id = ${installationScope} and id = ${jobId} and state in ('QUEUED', 'RUNNING')
        and (r.open = 0 or job.progress -> 'done' is distinct from to_jsonb(r.total - r.open))`,
  )
}
