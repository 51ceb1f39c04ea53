/**
 * Whether the process is up, whether it can serve, and its metrics.
 *
 *    /healthz   200 while the process answers at all; asks nothing of the database, so that
 *               an orchestrator does not restart a daemon because PostgreSQL is away
 *    /readyz    200 once every named check passes, 503 otherwise; a balancer's question, answered
 *               within 2 s whatever the checks do
 *    /metrics   Prometheus; on the listener of its own where there is one (health-listener.ts)
 *
 * Spec: decisions 1, Roots.
 */
import type { FastifyInstance } from 'fastify'
import { writeJson } from '../core/kernel/values/json.ts'
import type { Metrics } from './metrics.ts'

/** A check answers undefined when it passes, and otherwise what is wrong, in one line without secrets. */
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

/** A balancer asks every few seconds and gives up after as many. */
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
 * Callers who ask while the answer is being found get that one: nobody can load the database
 * through /readyz, and a check that hangs is joined by the next verdict, not run beside itself.
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
