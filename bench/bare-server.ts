/**
 * The bare read path, as a process of its own: one Fastify route that looks the token up
 * and lists the buckets with the daemon's own SQL, in transactions of the same form (role
 * and workspace set, one packet each), over as many connections, each serving one
 * transaction at a time. It knows no limits, no schemas, no rate, no log and no metrics.
 *
 * Takes its settings as JSON on the command line; prints its port.
 */
import { createHash } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import { asInstallation, asTenant } from '../src/core/context.ts'
import type { DatabaseAddress } from '../src/core/database/address.ts'
import { openBarePool } from './bare-pool.ts'

export interface BareServerSettings {
  readonly address: DatabaseAddress
  readonly poolSize: number
  /** The daemon's texts, with the token's hash as the one's parameter and the other's as they were recorded. */
  readonly findToken: string
  readonly listBuckets: string
}

const settings = JSON.parse(process.argv[2] ?? '') as BareServerSettings
const pool = openBarePool(settings.address, settings.poolSize)

const read = (opening: string, text: string, values: readonly string[] | readonly [Buffer]) =>
  pool.lend(async (client) => {
    const [, rows] = await Promise.all([
      client.unsafe(`begin read only; ${opening}`).simple(),
      client.unsafe(text, values as never[], { prepare: true }),
      client.unsafe('commit').simple(),
    ])
    return rows as unknown as Record<string, unknown>[]
  })

const app = fastify()
app.get<{ Params: { containerId: string } }>('/api/v1/containers/:containerId/buckets', async (request, reply) => {
  const token = request.headers.authorization?.slice('Bearer '.length) ?? ''
  const [credential] = await read(asInstallation, settings.findToken, [createHash('sha256').update(token).digest()])
  if (!credential) return reply.code(401).send()
  const tenantId = String(credential['tenant_id'])
  const data = await read(asTenant(tenantId), settings.listBuckets, [tenantId, tenantId, request.params.containerId])
  return { data }
})
await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`listening on http://127.0.0.1:${(app.server.address() as AddressInfo).port}\n`)
