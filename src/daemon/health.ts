/**
 * Says whether the process is up and whether it can serve, and has its metrics.
 *
 *    /healthz   200 while the process answers. It does not use the database, so that an
 *               orchestrator does not restart a daemon because PostgreSQL is down
 *    /readyz    200 if every named check passes, else 503. It is for load balancers and
 *               answers within 2 s, however long the checks take
 *    /metrics   Prometheus; on the separate listener if there is one (health-listener.ts)
 *
 * Spec: decisions 1, Roots.
 */
import type { FastifyInstance } from 'fastify'
import { writeJson } from '../core/kernel/values/json.ts'
import type { Metrics } from './metrics/metrics.ts'

/** A check returns undefined if it passes, else the fault in one line without secrets. */
type Check = () => Promise<string | undefined>
export type Readiness = Readonly<Record<string, Check>>

interface Verdict {
  readonly is_ready: boolean
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly error: string | null }[]
}

export function addHealth(
  app: FastifyInstance,
  { readiness, metrics, servesMetrics }: { readiness: Readiness; metrics: Metrics; servesMetrics: boolean },
): void {
  const checks = Object.entries(readiness).map(([name, run]) => ({ name, run: shared(run) }))
  const verdict = shared(() => check(checks))

  app.get('/healthz', { config: { label: 'healthz' } }, (_request, reply) => {
    reply.header('content-type', 'application/json; charset=utf-8').send('{"status":"up"}')
  })
  app.get('/readyz', { config: { label: 'readyz' } }, async (_request, reply) => {
    const answer = await verdict()
    return reply
      .code(answer.is_ready ? 200 : 503)
      .headers({
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        ...(answer.is_ready ? {} : { 'retry-after': '1' }),
      })
      .send(writeJson(answer))
  })
  if (!servesMetrics) return
  app.get('/metrics', { config: { label: 'metrics' } }, async (_request, reply) =>
    reply.header('content-type', metrics.contentType).send(await metrics.text()),
  )
}

/** A load balancer asks every few seconds, and stops waiting after the same time. */
const patienceMs = 1_500

async function check(wanted: readonly { readonly name: string; readonly run: Check }[]): Promise<Verdict> {
  const late = Promise.withResolvers<string>()
  const timer = setTimeout(() => late.resolve(`no answer within ${patienceMs / 1000} s`), patienceMs)
  const checks = await Promise.all(
    wanted.map(async ({ name, run }) => {
      const error = (await Promise.race([run().catch(() => 'failed'), late.promise])) ?? null
      return { name, ok: error === null, error }
    }),
  )
  clearTimeout(timer)
  return { is_ready: checks.every(({ ok }) => ok), checks }
}

/**
 * Callers that ask during a check share its result. So nobody can load the database through
 * /readyz, and a hanging check is not started a second time.
 */
function shared<T>(find: () => Promise<T>): () => Promise<T> {
  let finding: Promise<T> | undefined
  return () => {
    finding ??= find().finally(() => {
      finding = undefined
    })
    return finding
  }
}
