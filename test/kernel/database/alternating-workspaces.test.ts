/** Nothing of a workspace stays on the connection (threat T-04). */
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openPool } from '../../../src/core/kernel/database/pool.ts'
import type { Tx } from '../../../src/core/kernel/database/transaction.ts'
import { type OwnCluster, ownCluster } from './own-cluster.ts'
import { into, makeWorkspaces, workspaces } from './two-workspaces.ts'

let cluster: OwnCluster
beforeAll(async () => {
  cluster = await ownCluster({ fsync: 'off' })
  await makeWorkspaces(cluster.superuser)
})
afterAll(() => cluster.remove())

test('a pool of one, a thousand transactions in turn, failing ones included: context and role are empty after each', async () => {
  const single = openPool(cluster.address('svc_login'), { size: 1, applicationName: 'svc-turns' })
  for (let turn = 0; turn < 1_000; turn += 1) {
    const workspace = workspaces[turn % 2]!
    const failing = turn % 5 === 0 || turn % 7 === 0
    const outcome = await single
      .transaction(into(workspace), (tx) => visit(tx, workspace, turn))
      .then(
        () => 'done',
        () => 'failed',
      )
    expect(outcome).toBe(failing ? 'failed' : 'done')

    const [after] = await single.transaction(
      '',
      (tx) => tx`
      select nullif(current_setting('app.tenant_id', true), '') as t, current_user as role,
        (select count(*) from ledger) as rows`,
    )
    expect(after).toEqual({ t: null, role: 'svc_login', rows: 0 })
  }
  expect(single.counts.discarded).toBe(0)
  await single.close()

  const written = await cluster.superuser`select tenant_id, author from ledger`
  expect(written.length).toBeGreaterThan(600)
  expect(written.filter(({ tenant_id, author }) => tenant_id !== author)).toEqual([])
})

/** Looks where it is, writes a row, and fails by a throw every fifth turn, by a statement every seventh. */
async function visit(tx: Tx, workspace: string, turn: number): Promise<void> {
  const [seen] = await tx`select current_setting('app.tenant_id') as t, current_user as role`
  expect(seen).toEqual({ t: workspace, role: 'svc_probe' })
  const row = { tenant_id: workspace, id: randomUUID(), operation: workspace, author: workspace }
  await tx`insert into ledger ${tx.rows(row)}`
  if (turn % 5 === 0) throw new Error('turned down')
  if (turn % 7 === 0) await tx`select 1 / 0`
}
