/**
 * The bare read path, in its own process: one Fastify route that looks the token up and lists the
 * buckets with the daemon's own SQL, in transactions of the same form (role and workspace set, one
 * packet each), over as many connections, each serving one transaction at a time. It has no limits,
 * no schemas, no rate, no log and no metrics.
 *
 * Takes its settings as JSON on the command line; prints its port.
 */
import { createHash } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import fastify from 'fastify'
import type { DatabaseAddress } from '../src/core/kernel/database/address.ts'
import { asInstallation, asTenant } from '../src/core/kernel/database/roles.ts'
import { openBarePool } from './bare-pool.ts'

interface Statement {
  readonly text: string
  readonly values: readonly (string | Buffer)[]
}

export interface BareServerSettings {
  readonly address: DatabaseAddress
  readonly poolSize: number
  /** The daemon's text, whose parameter is the token's hash. */
  readonly findToken: string
  /** The statements that the rule sent, with their values; the rows of the last one are the answer. */
  readonly rule: readonly Statement[]
}

const settings = JSON.parse(process.argv[2] ?? '') as BareServerSettings
const pool = openBarePool(settings.address, settings.poolSize)

const read = (opening: string, statements: readonly Statement[]) =>
  pool.lend(async (client) => {
    const [, ...rows] = await Promise.all([
      client.unsafe(`begin read only; ${opening}`).simple(),
      ...statements.map(({ text, values }) => client.unsafe(text, values as never[], { prepare: true })),
      client.unsafe('commit').simple(),
    ])
    return rows.at(-2) as unknown as Record<string, unknown>[]
  })

const app = fastify()
app.get('/api/v1/containers/:containerId/buckets', async (request, reply) => {
  const token = request.headers.authorization?.slice('Bearer '.length) ?? ''
  const [credential] = await read(asInstallation, [
    { text: settings.findToken, values: [createHash('sha256').update(token).digest()] },
  ])
  if (!credential) return reply.code(401).send()
  const tenantId = String(credential['tenant_id'])
  const data = await read(asTenant(tenantId), settings.rule)
  return { data }
})
await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`listening on http://127.0.0.1:${(app.server.address() as AddressInfo).port}\n`)
