/**
 * A deletion from its request to its certificate with nobody's help: a real daemon process,
 * whose own worker sees the deadline twice and purges. Only the 30 days are not waited for.
 * The queue's minute is skipped here; SVC_FAULTS=full waits for it, and kills the daemon in
 * the middle of the purge once.
 */
import { createPublicKey, verify } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { purgeOperations } from '../../src/core/contract/retention/operations.ts'
import { tenantOperations } from '../../src/core/contract/tenants/operations.ts'
import { type SpawnedDaemon, spawnDaemon } from '../kit/daemon.ts'
import { fingerprintOf, furnished, moveDeadline, placesNaming } from '../kit/leaving-workspace.ts'
import { databaseEnv } from '../kit/svc.ts'
import { type TwoWays, twoWays } from '../kit/two-ways.ts'

const isFull = process.env['SVC_FAULTS'] === 'full'
const longestMs = isFull ? 300_000 : 60_000

let ways: TwoWays
let worker: SpawnedDaemon | undefined
beforeAll(async () => {
  ways = await twoWays()
})
afterAll(async () => {
  worker?.process.kill('SIGTERM')
  await worker?.ended
  await ways.close()
})

const start = (more: NodeJS.ProcessEnv = {}) =>
  spawnDaemon({ ...databaseEnv(ways.daemon.config), SVC_PORT: '0', SVC_PURGE_SETTLE_SECONDS: '2', ...more })

/** Lets every job of the purge begin at once, instead of at its day or its minute. */
async function hurry(tenantId: string): Promise<void> {
  if (isFull) return
  await ways.sql`update pgboss.job set start_after = now() where name = 'purge_tenant' and state = 'created' and data ->> 'tenantId' = ${tenantId}`
  await ways.sql`
    insert into pgboss.job (name, data) select 'purge_due', '{}'
    where not exists (select from pgboss.job where name = 'purge_due' and state in ('created', 'retry', 'active'))`
}

/** A daemon that works makes the documents of every workspace anew, the neighbour's too, and tells what waits. */
const derived = ['search_index', 'search_document', 'search_pending', 'notification_pending']

test(
  'a daemon purges by itself what is past its deadline, and signs that it did',
  async () => {
    const [leaving, neighbour] = [await furnished(ways), await furnished(ways)]
    const before = await fingerprintOf(ways.sql, neighbour.id, derived)
    await ways.call('api', tenantOperations.deleteTenant, {
      tenantId: leaving.id,
      body: { confirmation: leaving.displayName },
    })
    const startedAt = async () =>
      (
        await ways.sql<
          { purge_started_at: string | null }[]
        >`select purge_started_at from tenant where id = ${leaving.id}`
      )[0]

    worker = await start(isFull ? { SVC_TEST: '1', SVC_FAILPOINTS: 'purge.batch=exit@5' } : {})
    expect(worker.address).not.toBe('')
    await hurry(leaving.id) // within its grace: looked at, and left alone
    await expect
      .poll(
        async () => {
          await hurry(leaving.id)
          const [row] = await ways.sql<{ done: number }[]>`
            select count(*)::int as done from pgboss.job where name = 'purge_due' and state = 'completed'`
          return row?.done ?? 0
        },
        { timeout: longestMs, interval: 500 },
      )
      .toBeGreaterThan(0)
    expect(await startedAt()).toEqual({ purge_started_at: null })

    await moveDeadline(ways.sql, leaving.id, -1)
    if (isFull) {
      expect(await worker.ended).toBeNull() // killed in the middle of the purge
      expect((await startedAt())?.purge_started_at).toBeTruthy()
      worker = await start()
    }
    await expect
      .poll(
        async () => {
          await hurry(leaving.id)
          return startedAt()
        },
        { timeout: longestMs, interval: 500 },
      )
      .toBeUndefined()

    const certificate = await ways.call('api', purgeOperations.getPurgeCertificate, { tenantId: leaving.id })
    const { value, public_key } = certificate.signature
    const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: public_key }, format: 'jwk' })
    expect(verify(null, Buffer.from(certificate.document), key, Buffer.from(value, 'base64url'))).toBe(true)
    const verification = await ways.call('api', purgeOperations.verifyPurgeCertificate, { tenantId: leaving.id })
    expect(verification.findings).toEqual([])
    expect(await placesNaming(ways.sql, leaving.id)).toEqual(['departed_archive', 'journal', 'purge_certificate'])
    expect(await fingerprintOf(ways.sql, neighbour.id, derived)).toBe(before)
  },
  2 * longestMs,
)
