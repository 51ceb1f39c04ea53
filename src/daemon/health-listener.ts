/**
 * The separate listener for health and metrics, if SVC_HEALTH_PORT is set.
 *
 *    SVC_PORT          the API, /healthz and /readyz; /metrics only without a separate listener
 *    SVC_HEALTH_PORT   /healthz, /readyz and /metrics, with its own limits
 *
 * A flood of API connections does not affect this listener, so an orchestrator does not restart a daemon that is only
 * flooded, and the port can be kept from the public. It is closed last: while the daemon drains, /readyz answers 503.
 * Spec: decisions 7, Bounds at the door; decision 0141.
 */
import type { FastifyInstance } from 'fastify'
import type { Config } from '../core/kernel/config/config.ts'
import type { Installation } from '../core/kernel/transaction/installation.ts'
import type { ConnectionLimits } from './connections.ts'
import type { ReaderLimits } from './readers.ts'
import { buildServer, type ServerOptions } from './server.ts'

interface ListenerLimits {
  readonly connections: ConnectionLimits
  readonly readers: ReaderLimits
}

/** The limits of the API's listener. */
export const apiLimits = (config: Config): ListenerLimits => ({
  connections: { inAll: config.connections, perSource: config.connectionsPerSource },
  readers: {
    slowAfterMs: config.slowReaderSeconds * 1000,
    inAllBytes: config.waitingBytes,
    ofOneBytes: config.waitingBytes / 4,
  },
})

/** The limits of the health listener, which only probes and scrapers call. */
const healthLimits = (config: Config): ListenerLimits => ({
  connections: { inAll: 100, perSource: 50 },
  readers: { slowAfterMs: config.slowReaderSeconds * 1000, inAllBytes: 4 * 1024 * 1024, ofOneBytes: 1024 * 1024 },
})

/** The health listener; it does not serve the API. */
export const buildHealthServer = (
  installation: Installation,
  options: Pick<ServerOptions, 'log' | 'metrics' | 'readiness' | 'isDraining'>,
): FastifyInstance =>
  buildServer(installation, {
    ...options,
    ...healthLimits(installation.config),
    listener: 'health',
    servesApi: false,
    servesMetrics: true,
  })
