/** How many notifications an account has not read is counted in an index, once for each item or container (0525). */
import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { recorded } from '../../bench/recording.ts'
import { perform } from '../../src/core/app/perform.ts'
import { operations } from '../../src/core/contract/operations.ts'
import { scopes } from '../../src/core/contract/vocabulary.ts'
import type { AccountActor } from '../../src/core/kernel/values/actor.ts'
import { type TestInstallation, testInstallation } from '../kit/installation.ts'
import { nodesOf, runPlans } from './run-plans.ts'
import { sentStatements } from './sent-statements.ts'

const unread = 1_000

let own: TestInstallation
let actor: AccountActor
beforeAll(async () => {
  own = await testInstallation()
  const { tenant } = await own.provision()
  const [account] = await own.oracle<{ id: string }[]>`select id from account where tenant_id = ${tenant.id}`
  actor = {
    ...{ kind: 'ACCOUNT', accountId: account!.id, tenantId: tenant.id, sessionId: null, scopes, role: 'OWNER' },
    ...{ credentialId: randomUUIDv7(), bearerId: randomUUIDv7(), isOperator: false },
  } as const
  await own.oracle`
    insert into notification (tenant_id, account_id, event_id, category, id, event_type, subject, container_id, began_at, at, is_listed, read_at)
    select c.tenant_id, ${account!.id}, uuidv7(), 'CHANGED', uuidv7(), 'svc.work.item.changed.v1', '/items/' || n, c.id, now(), now() - n * interval '1 minute', true,
      case when n > ${unread} then now() end
    from container c cross join generate_series(1, ${20 * unread}::int) n
    where c.tenant_id = ${tenant.id} and c.kind = 'COLLECTION'`
  await own.oracle`vacuum analyze notification`
}, 60_000)
afterAll(() => own.close())

test('a thousand of one container are read in the index alone, and the container once', async () => {
  const request = { query: { size: '50' } }
  const sent = await recorded(own.installation, (it) => perform(it, operations.listNotifications, actor, request))
  const [counting] = sentStatements(sent).filter(({ statement }) => /^\s*select least\(/.test(statement.text))
  const [plan] = await runPlans(own.oracle, ['force_generic_plan'], counting!)
  const [theirs, ...others] = nodesOf(plan!).filter((node) => node['Relation Name'] === 'notification')
  expect([theirs?.['Node Type'], theirs?.['Index Name'], others]).toEqual([
    'Index Only Scan',
    'notification_unread',
    [],
  ])
  expect(theirs?.['Actual Rows']).toBe(unread)
  const joined = nodesOf(plan!).filter((node) => /Join|Nested Loop/.test(node['Node Type']))
  expect(joined.length).toBeGreaterThan(1)
  for (const node of joined) expect((node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 1)).toBeLessThan(10)
})
