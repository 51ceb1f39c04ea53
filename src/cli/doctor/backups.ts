/**
 * The check of backups: those that were read again or restored for a try and found damaged, those whose archive is gone, schedules that
 * fail, and workspaces whose newest good backup only this installation can read. Spec: Keeping, 3.
 */
import type { Client } from 'pg'
import { type Finding, ok, warn } from './finding.ts'

const runbook = 'docs/runbooks/backups.md'

interface Counts {
  readonly good: number
  readonly damaged: number
  readonly first: string | null
  readonly alone: number
  readonly failing: number
  readonly failing_first: string | null
}

/** Not one bad night: three in a row, or a target that is not there. */
const fails = 'is_enabled and (consecutive_failures >= 3 or paused_reason is not null)'

export async function checkBackups(client: Client): Promise<Finding> {
  await client.query('begin read only; set local role svc_installation')
  const { rows } = await client
    .query<Counts>(
      `with newest as (
         select distinct on (tenant_id) recipients from backup
         where state = 'COMPLETE' and not is_damaged order by tenant_id, id desc)
       select (select count(*)::int from backup where state = 'COMPLETE' and not is_damaged) as good,
              (select count(*)::int from backup where is_damaged and state in ('COMPLETE', 'MISSING')) as damaged,
              (select min(id::text) from backup where is_damaged and state in ('COMPLETE', 'MISSING')) as first,
              (select count(*)::int from newest where not recipients @> '[{"kind":"OUTSIDE"}]') as alone,
              (select count(*)::int from backup_schedule where ${fails}) as failing,
              (select min(id::text) from backup_schedule where ${fails}) as failing_first`,
    )
    .finally(() => client.query('rollback'))
  const { good = 0, damaged = 0, first = null, alone = 0, failing = 0, failing_first = null } = rows[0] ?? {}
  if (damaged > 0)
    return warn(
      'backups',
      `${damaged} cannot be trusted, the first is ${first}`,
      `Make others: svc backups create. ${runbook} says what to look at.`,
    )
  if (failing > 0)
    return warn(
      'backups',
      `${failing} schedule(s) fail, the first is ${failing_first}`,
      `svc backup-schedules list says why, and svc backups list --state FAILED what failed (${runbook}).`,
    )
  if (alone > 0)
    return warn(
      'backups',
      `the newest good backup of ${alone} workspace(s) is encrypted for the keyring alone: if it is lost, nobody reads them`,
      `Name a recipient: svc backups create WORKSPACE --target TARGET --recipient age1… (${runbook}).`,
    )
  return ok('backups', good === 0 ? 'none' : `${good} good`)
}
