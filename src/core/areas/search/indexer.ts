/**
 * The indexer: in every daemon that works, it takes turns at workspaces with something to index
 * (kernel/transaction/rounds.ts). Several daemons share the work: the lock of a workspace's index lets one of them take a turn
 * (indexing.ts).
 *
 * Spec: Work on boards, 2, N4, "found in 2 s"; docs/decisions/0231.
 */
import { installationScope } from '../../contract/vocabulary.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { type Rounds, startRounds } from '../../kernel/transaction/rounds.ts'
import { indexer, takeTurn } from './indexing.ts'

/** How often workspaces without any documents are looked for. */
const lackingMs = 60_000
const workspacesAtOnce = 100

export function startIndexer(
  installation: Installation,
  { onFailure }: { readonly onFailure: (what: string, error: unknown) => void },
): Rounds {
  let lackingAt = Number.NEGATIVE_INFINITY
  return startRounds({
    async look() {
      const now = performance.now()
      const looksForLacking = now - lackingAt > lackingMs
      const lacking = looksForLacking ? await findLacking(installation) : []
      if (looksForLacking && lacking.length < workspacesAtOnce) lackingAt = now
      return [...new Set([...(await findWork(installation)), ...lacking])]
    },
    turn: (tenantId) => takeTurn(installation, tenantId),
    failed: (what, error) => onFailure(what === 'look' ? 'search: looking for work' : 'search: indexing', error),
  })
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
        select t.id from tenant t where t.state = 'ACTIVE' and t.restoring_at is null and exists (select from installation where gated_at is null) and t.id in (
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
        select t.id from tenant t where t.state = 'ACTIVE' and t.restoring_at is null and exists (select from installation where gated_at is null) and not exists (
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
