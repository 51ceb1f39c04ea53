/**
 * The installation in which the examples of one area play: Grace runs it, Ada owns the workspace Acme, Alan works there.
 * `show` sends a request and keeps it, with its answer, as the example of its operation.
 */

import { type Answer, needsStepUp, type Operation, type Sent } from '../../../src/core/contract/operation.ts'
import { type OperationId, type Operations, operations } from '../../../src/core/contract/operations.ts'
import type { Role, Scope } from '../../../src/core/contract/vocabulary.ts'
import type { Config } from '../../../src/core/kernel/config/config.ts'
import { newId } from '../../../src/core/kernel/values/id.ts'
import { mintToken } from '../../../src/core/kernel/values/token.ts'
import { mediaTypeOf } from '../../../src/daemon/refusals.ts'
import { type TestDaemon, testDaemon } from '../../kit/daemon.ts'
import { everyScope, type Person } from '../../kit/people.ts'
import { plantProof } from '../../kit/proofs.ts'
import { type Steady, steady } from './steady.ts'

/** A request and its answer, as the reference shows them. */
export interface Shown {
  readonly params?: unknown
  readonly query?: unknown
  readonly body?: unknown
  readonly answer?: unknown
}

type Caller = Pick<Person, 'tenantId' | 'accountId' | 'credentialId' | 'token'>

export interface Scene {
  readonly daemon: TestDaemon
  readonly sql: TestDaemon['db']['sql']
  readonly steady: Steady
  readonly grace: Caller
  readonly ada: Caller
  readonly alan: Caller
  /** The workspace Acme, and what its provisioning made. */
  readonly tenantId: string
  readonly hubId: string
  readonly collectionId: string
  /** Ada's session. */
  readonly session: { readonly access_token: string; readonly refresh_token: string; readonly session_id: string }
  /** Sends a request, as Ada unless told otherwise, and keeps it as the example. Throws where it is refused. */
  show<Id extends OperationId>(id: Id, sent?: Sending<Id>, as?: Caller | null): Promise<Answer<Operations[Id]>>
  /** Sends a request without keeping it. */
  ask<Id extends OperationId>(id: Id, sent?: Sending<Id>, as?: Caller | null): Promise<Answer<Operations[Id]>>
  /** An account of Acme with a token. */
  person(name: string, role: Role, more?: { readonly kind?: 'SERVICE' }): Promise<Caller>
  /** A token of an account. */
  tokenOf(tenantId: string, accountId: string, scopes?: readonly Scope[]): Promise<Caller>
  /** So many hours from now, as a request writes it. */
  inHours(hours: number): string
  readonly shown: ReadonlyMap<OperationId, Shown>
  close(): Promise<void>
}

type Sending<Id extends OperationId> = Partial<Sent<Operations[Id]>> & { readonly bytes?: string }
type Loose = Record<string, unknown> & { body?: unknown; bytes?: string; stepUp?: string; token?: string }

export const password = 'correct horse battery staple'
const setUp = {
  workspace: { slug: 'ops', display_name: 'Operations' },
  owner: { email: 'grace@ops.example', display_name: 'Grace Hopper', password },
}

export async function openScene(config: Partial<Config> = {}): Promise<Scene> {
  const daemon = await testDaemon({ config })
  const { sql } = daemon.db
  const kept = steady()
  kept.rename(daemon.setUpToken, 'what-stands-in-set-up.token')
  const shown = new Map<OperationId, Shown>()
  const counted = new Set<string>()
  let ada: Caller | null = null

  const send = async (operation: Operation, sent: Loose, as: Caller | null) => {
    const { body, bytes, stepUp, token = as?.token, ...values } = sent
    const named = (schema: Operation['params']) =>
      Object.fromEntries(
        Object.keys(schema?.shape ?? {}).flatMap((name) => (name in values ? [[name, values[name]]] : [])),
      )
    const [params, query] = [named(operation.params), named(operation.query)]
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])))
    const search = new URLSearchParams(
      Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])),
    ).toString()
    const proof = stepUp ?? (as && needsStepUp(operation, body) ? await plantProof(sql, as) : undefined)
    const payload = bytes ?? body
    const answered = await daemon.call(operation.method, `/api/v1${path}${search && `?${search}`}`, {
      token,
      ...(payload === undefined ? {} : { body: payload }),
      headers: {
        ...(payload === undefined ? {} : { 'content-type': mediaTypeOf(operation) }),
        ...(proof === undefined ? {} : { 'x-service-step-up': proof }),
      },
    })
    if (answered.status !== operation.success.status)
      throw new Error(`${operation.id} answered ${answered.status}: ${answered.text}`)
    const isText = answered.headers['content-type'] !== 'application/zip'
    const answer = operation.success.bytes ? (isText ? answered.text : 'the bytes of a zip') : answered.json
    return { params, query, payload, answer }
  }

  const show: Scene['show'] = async (id, sent = {}, as = ada) => {
    const operation: Operation = operations[id]
    const { params, query, payload, answer } = await send(operation, sent as Loose, as)
    if (!shown.has(id)) {
      kept.keep([params, query, payload], counted)
      shown.set(id, {
        ...(Object.keys(params).length > 0 ? { params: kept.of(params) } : {}),
        ...(Object.keys(query).length > 0 ? { query: kept.of(query) } : {}),
        ...(payload === undefined ? {} : { body: kept.of(payload) }),
        ...(answer === undefined || answer === '' ? {} : { answer: kept.of(answer) }),
      })
    }
    return answer as never
  }
  const ask: Scene['ask'] = async (id, sent = {}, as = ada) =>
    (await send(operations[id], sent as Loose, as)).answer as never

  const tokenOf: Scene['tokenOf'] = async (tenantId, accountId, scopes = everyScope) => {
    const credentialId = newId()
    const { token, hash, last4 } = mintToken('personal')
    await sql`
      insert into credential (tenant_id, id, account_id, kind, hash, last4, name, scopes, expires_at)
      values (${tenantId}, ${credentialId}, ${accountId}, 'PERSONAL', ${hash}, ${last4}, 'Laptop', ${scopes.join(' ')}, now() + interval '30 days')`
    return { tenantId, accountId, credentialId, token }
  }

  const made = await show('setUpInstallation', { body: { set_up_token: daemon.setUpToken, ...setUp } }, null)
  const grace = await tokenOf(made.tenant.id, made.account_id)
  const body = {
    slug: 'acme',
    display_name: 'Acme',
    owner_email: 'ada@acme.example',
    owner_display_name: 'Ada Lovelace',
  }
  const { tenant, owner, hub_id, collection_id, redemption_token } = await show('provisionTenant', { body }, grace)
  await show('inspectInvitation', { body: { token: redemption_token } }, null)
  const session = await show(
    'redeemInvitation',
    { body: { token: redemption_token, display_name: 'Ada Lovelace', password } },
    null,
  )
  ada = await tokenOf(tenant.id, owner.account_id)

  const person: Scene['person'] = async (name, role, { kind } = {}) => {
    const accountId = newId()
    const email = kind ? null : `${name.split(' ')[0]?.toLowerCase()}@acme.example`
    await sql`
      insert into account (tenant_id, id, kind, state, email, email_fold, display_name)
      values (${tenant.id}, ${accountId}, ${kind ?? 'PERSON'}, 'ACTIVE', ${email}, ${email}, ${name})`
    await sql`insert into membership (tenant_id, id, account_id, role) values (${tenant.id}, ${newId()}, ${accountId}, ${role})`
    return tokenOf(tenant.id, accountId)
  }

  return {
    daemon,
    sql,
    steady: kept,
    grace,
    ada,
    alan: await person('Alan Turing', 'MEMBER'),
    tenantId: tenant.id,
    hubId: hub_id,
    collectionId: collection_id,
    session,
    show,
    ask,
    person,
    tokenOf,
    inHours(hours) {
      const moment = new Date(Date.now() + hours * 3_600_000).toISOString()
      counted.add(moment)
      return moment
    },
    shown,
    close: () => daemon.close(),
  }
}
