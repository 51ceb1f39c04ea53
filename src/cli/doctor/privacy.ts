/** The check of requests about personal data: those whose deadline by law is past. Counts alone. Spec: Keeping, 2. */
import type { Client } from 'pg'
import { type Finding, ok, warn } from './finding.ts'

interface Counts {
  readonly open: number
  readonly overdue: number
  readonly workspaces: number
}

export async function checkPrivacy(client: Client): Promise<Finding> {
  await client.query('begin read only; set local role svc_installation')
  const { rows } = await client
    .query<Counts>(
      `select count(*)::int as open, count(*) filter (where due_at < now())::int as overdue,
              count(distinct tenant_id) filter (where due_at < now())::int as workspaces
       from privacy_request where state in ('RECEIVED', 'GRANTED')`,
    )
    .finally(() => client.query('rollback'))
  const { open = 0, overdue = 0, workspaces = 0 } = rows[0] ?? {}
  if (overdue === 0) return ok('privacy', open === 0 ? 'no request is open' : `${open} open, none overdue`)
  return warn(
    'privacy',
    `${overdue} request(s) about personal data of ${workspaces} workspace(s) are overdue`,
    'svc privacy overdue says where; remind their administrators (docs/runbooks/privacy.md).',
  )
}
