/** Checks of the daemon, and of the profile or token that this folder's commands use. */
import { createServer } from 'node:net'
import { identityOperations } from '../../core/contract/identity/operations.ts'
import { Problem } from '../../core/contract/problem.ts'
import type { Config } from '../../core/kernel/config/config.ts'
import { loadEnvironment } from '../../core/kernel/values/environment.ts'
import { apiCaller } from '../call/api-caller.ts'
import { apiTargetOf, type Choice } from '../call/caller-choice.ts'
import { exchange, type HttpAnswer } from '../call/http.ts'
import { Failure } from '../failure.ts'
import { type Finding, fail, lineOf, ok, warn } from './finding.ts'

/** Whether a daemon answers at the configured address, else whether one could listen there. */
export async function checkDaemon({ host, port, healthPort }: Config): Promise<Finding> {
  const url = urlOf(host, port)
  const answer = await asked(new URL('/readyz', url))
  if (answer && healthPort) return (await unheardHealth(urlOf(host, healthPort))) ?? readiness(url, answer)
  if (answer) return readiness(url, answer)
  const taken = await listenFault(host, port)
  if (taken)
    return fail(
      'daemon',
      `cannot listen on ${host} port ${port} (${taken})`,
      'Stop the program that uses the port, or set SVC_PORT.',
    )
  return warn('daemon', `not running; port ${port} is free`, 'Run: svc up or svc daemon')
}

const asked = (url: URL) => exchange({ method: 'GET', url, headers: {} }).catch(() => undefined)

/** The finding if nothing answers on the listener for health and metrics. */
async function unheardHealth(url: string): Promise<Finding | undefined> {
  const answer = await asked(new URL('/healthz', url))
  if (answer?.status === 200) return undefined
  return fail(
    'daemon',
    `running, but its health check does not answer on ${url}`,
    'Restart the daemon with this SVC_HEALTH_PORT, or unset the variable.',
  )
}

function readiness(url: string, { status, text }: HttpAnswer): Finding {
  if (status === 200) return ok('daemon', `ready on ${url}`)
  if (status === 503)
    return fail('daemon', `running on ${url}, but not ready: ${text.slice(0, 200)}`, 'See the other checks.')
  return fail('daemon', `another program answers on ${url} (status ${status})`, 'Stop that program, or set SVC_PORT.')
}

/** The URL for a caller on this host; an address that means "all interfaces" is replaced by the loopback address. */
export function urlOf(host: string, port: number): string {
  const reached = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${port}`
}

/** The error code of listening on the port; undefined if it works. */
export function listenFault(host: string, port: number): Promise<string | undefined> {
  return new Promise((done) => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? 'error'))
    server.listen({ host, port, exclusive: true }, () => server.close(() => done(undefined)))
  })
}

/** Tries the profile or token in use on its server. */
export async function checkAccess(choice: Choice): Promise<Finding> {
  try {
    const env = loadEnvironment()
    const target = apiTargetOf(choice, env, () => undefined)
    if (!target && env['SVC_DATABASE_URL'])
      return warn('access', 'no profile, and SVC_API_URL is not set: commands need --recovery', 'Run: svc login')
    if (!target) return ok('access', 'no profile, and SVC_API_URL is not set: commands work directly on the database')
    const account = await apiCaller(target).call(identityOperations.getOwnAccount, {})
    return ok(
      'access',
      `${target.apiUrl} as ${account.email ?? account.display_name} of ${account.workspace.slug}${account.is_operator ? ', an operator' : ''}`,
    )
  } catch (error) {
    if (error instanceof Problem) return fail('access', `the server refuses the token: ${error.code}`, 'Run: svc login')
    const isAway = error instanceof Failure && error.ending === 'unreached'
    return fail(
      'access',
      lineOf(error),
      isAway ? 'Start the daemon, or sign in to another one: svc login --api-url URL' : 'Run: svc login',
    )
  }
}
