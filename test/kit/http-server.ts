/** A daemon's real HTTP server in this process, on a free port of the loopback. */
import type { AddressInfo } from 'node:net'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import { apiLimits } from '../../src/daemon/health-listener.ts'
import { silentLog } from '../../src/daemon/log.ts'
import { openMetrics } from '../../src/daemon/metrics/metrics.ts'
import { buildServer } from '../../src/daemon/server.ts'

export interface TestDaemon {
  /** `http://127.0.0.1:port/api/v1`. */
  readonly url: string
  close(): Promise<void>
}

export async function startDaemon(installation: Installation): Promise<TestDaemon> {
  const app = buildServer(installation, {
    log: silentLog,
    metrics: openMetrics(installation.pool),
    isDraining: () => false,
    readiness: {},
    ...apiLimits(installation.config),
    listener: 'api',
    servesApi: true,
    servesMetrics: true,
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = app.server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}/api/v1`, close: () => app.close() }
}
