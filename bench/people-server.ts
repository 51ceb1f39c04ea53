/**
 * The reads of people-bare.ts over HTTP: Fastify, and one look-up by the token's hash before each. No limits, no schemas, no log.
 *
 * Takes the database's address and the number of connections as JSON; prints where it listens.
 */
import { createHash } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import type postgres from 'postgres'
import type { BareCaller } from './bare-client.ts'
import { openBarePool } from './bare-pool.ts'
import type { FloorSettings } from './floor-server.ts'
import { readAccount, readMembers, readNotifications } from './people-bare.ts'

const settings = JSON.parse(process.argv[2] ?? '') as FloorSettings
const pool = openBarePool(settings.address, settings.poolSize)

type Read = (client: postgres.Sql, caller: BareCaller, request: FastifyRequest) => Promise<string>

const answered = (read: Read) => (request: FastifyRequest, reply: FastifyReply) => {
  reply.type('application/json')
  return pool.lend(async (client) => {
    const token = request.headers.authorization?.slice('Bearer '.length) ?? ''
    const [caller] = await client.unsafe<(BareCaller & object)[]>(
      `select tenant_id as "tenantId", account_id as "accountId" from credential where hash = $1 and revoked_at is null`,
      [createHash('sha256').update(token).digest()],
      { prepare: true },
    )
    if (!caller) throw new Error('nobody has this token')
    return read(client, caller, request)
  })
}

const named = ({ params }: FastifyRequest) => (params as { id: string }).id

const app = fastify()
app.get(
  '/api/v1/accounts/:id',
  answered((client, caller, request) => readAccount(client, caller, named(request))),
)
app.get(
  '/api/v1/groups/:id/members',
  answered((client, caller, request) => readMembers(client, caller, named(request))),
)
app.get('/api/v1/accounts/me/notifications', answered(readNotifications))
await app.listen({ host: '127.0.0.1', port: 0 })
process.stdout.write(`listening on http://127.0.0.1:${(app.server.address() as AddressInfo).port}\n`)
