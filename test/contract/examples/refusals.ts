/**
 * Refusals as a caller gets them: Ada, Alan and Grace ask for what is refused. Each answer is kept by its code; what the
 * story does not reach is declared in contract/examples/refusals.ts.
 */
import { randomUUIDv7 } from 'node:crypto'
import type { ProblemCode } from '../../../src/core/contract/problem.ts'
import type { Sending } from '../../kit/daemon.ts'
import { plantProof } from '../../kit/proofs.ts'
import type { Scene } from './scene.ts'

/** What a refusal says besides its code. */
export interface ShownRefusal {
  readonly status: number
  readonly params: Readonly<Record<string, unknown>>
  readonly errors?: readonly unknown[]
}

type Ask = (code: ProblemCode, method: string, path: string, sending?: Sending) => Promise<void>

/** Plays the story; answers the refusals by code, in the order in which they came. */
export async function refusals(scene: Scene): Promise<Map<string, ShownRefusal>> {
  const found = new Map<string, ShownRefusal>()
  const ask: Ask = async (expected, method, path, sending = {}) => {
    const { status, json } = await scene.daemon.call(method, `/api/v1${path}`, { token: scene.ada.token, ...sending })
    if (json?.code !== expected) throw new Error(`${method} ${path} answered ${status} ${JSON.stringify(json)}`)
    const { params, errors } = json
    if (!found.has(expected))
      found.set(expected, scene.steady.of({ status, params, ...(errors ? { errors } : {}) }) as ShownRefusal)
  }
  await requests(scene, ask)
  await credentials(scene, ask)
  await boards(scene, ask)
  await files(scene, ask)
  await people(scene, ask)
  await workspaces(scene, ask)
  return found
}

const nothing = '01954fd0-0000-7000-8000-000000000000'

async function requests({ collectionId, daemon, ada }: Scene, ask: Ask): Promise<void> {
  const text = { 'content-type': 'text/plain' }
  await ask('request.malformed', 'GET', '/items?size=1000&state=LATE')
  await ask('request.invalid', 'POST', '/items', { body: { container_id: collectionId, title: '', colour: 'red' } })
  await ask('request.media_type', 'POST', '/items', { body: 'Write the press release', headers: text })
  const title = 'x'.repeat(300_000)
  await ask('request.too_large', 'POST', '/items', { body: { container_id: collectionId, title } })
  await ask('request.method', 'DELETE', '/items')
  await ask('not_found', 'GET', `/items/${nothing}`)
  await ask('cursor.invalid', 'GET', '/items?cursor=of-another-list')
  const headers = { 'idempotency-key': randomUUIDv7() }
  const sent = { token: ada.token, headers, body: { kind: 'HUB', name: 'Press' } }
  await daemon.call('POST', '/api/v1/containers', sent)
  await ask('idempotency.key_reused', 'POST', '/containers', { headers, body: { kind: 'HUB', name: 'Sales' } })
}

async function credentials(scene: Scene, ask: Ask): Promise<void> {
  const { collectionId, tokenOf, tenantId, ada, alan } = scene
  await ask('auth.unauthenticated', 'GET', '/items', { token: undefined })
  const reader = await tokenOf(tenantId, ada.accountId, ['workspace:read'])
  await ask('auth.scope_required', 'POST', '/items', {
    token: reader.token,
    body: { container_id: collectionId, title: 'Write the press release' },
  })
  await ask('auth.role_required', 'GET', '/audit', { token: alan.token })
  await ask('admin.operator_required', 'GET', '/admin/journal')
  const expires_at = scene.inHours(24)
  await ask('auth.step_up_required', 'POST', '/auth/tokens', {
    body: { name: 'Nightly report', scopes: ['admin:tenants'], expires_at },
  })
  await ask('auth.sign_in_failed', 'POST', '/auth/sessions', {
    token: undefined,
    body: { workspace: 'acme', email: 'ada@acme.example', password: 'a wrong passphrase' },
  })
}

async function boards(scene: Scene, ask: Ask): Promise<void> {
  const { collectionId, alan, ask: send } = scene
  const item = await send('createItem', { body: { container_id: collectionId, title: 'Write the press release' } })
  await ask('precondition.failed', 'PATCH', `/items/${item.id}`, {
    body: { title: 'Send it' },
    headers: { 'if-match': '"7"', 'content-type': 'application/merge-patch+json' },
  })
  await ask('custom_field.type_not_supported', 'POST', '/custom-fields', {
    body: { collection_id: collectionId, key: 'mood', kind: 'TEXT', applies_to: ['ACTIVITY'] },
  })
  await ask('trash.count_mismatch', 'POST', '/trash:empty', { body: { confirm_count: 12 } })
  const hub = await send('createContainer', { body: { kind: 'HUB', name: 'Board of directors', is_private: true } })
  const shut = await send('createContainer', { body: { kind: 'COLLECTION', name: 'Minutes', parent_id: hub.id } })
  const minutes = await send('createItem', { body: { container_id: shut.id, title: 'Minutes of March' } })
  await ask('item.account_no_access', 'PUT', `/items/${minutes.id}/members/${alan.accountId}`)
}

async function files({ ask: send }: Scene, ask: Ask): Promise<void> {
  await ask('media.too_large', 'POST', '/media', { body: { filename: 'film.mov', size_bytes: 2 ** 45 } })
  const { id } = await send('createMedia', { body: { filename: 'hello.txt', size_bytes: 12 } })
  const bytes = (body: string, range: string) => ({
    body,
    headers: { 'content-type': 'application/octet-stream', 'content-range': range },
  })
  await ask('media.size_mismatch', 'PUT', `/media/${id}/content`, bytes('Hello, world!', 'bytes 0-12/13'))
  await ask('media.offset', 'PUT', `/media/${id}/content`, bytes('world', 'bytes 7-11/12'))
  await ask('media.not_ready', 'GET', `/media/${id}/content`)
}

async function people({ alan, ada, tenantId, tokenOf }: Scene, ask: Ask): Promise<void> {
  const { token } = await tokenOf(tenantId, ada.accountId, ['workspace:admin'])
  await ask('account.address_taken', 'POST', '/accounts:invite', {
    body: { email: 'alan@acme.example', role: 'MEMBER', deliver: 'TOKEN' },
  })
  await ask('account.not_invited', 'POST', `/accounts/${alan.accountId}:renew-invitation`, {
    token,
    body: { deliver: 'TOKEN' },
  })
}

async function workspaces(scene: Scene, ask: Ask): Promise<void> {
  const { ask: send, grace, tenantId, collectionId, sql } = scene
  const token = grace.token
  await ask('admin.slug_taken', 'POST', '/admin/tenants', {
    token,
    body: { slug: 'acme', display_name: 'Acme', owner_email: 'ada@acme.example' },
  })
  for (const [code, more] of [
    ['admin.confirmation_mismatch', { confirmation: 'acme' }],
    ['plan.stale', { confirmation: 'Acme', plan_hash: '0123456789abcdef' }],
  ] as const)
    await ask(code, 'POST', `/admin/tenants/${tenantId}:delete`, {
      token,
      body: more,
      headers: { 'x-service-step-up': await plantProof(sql, grace) },
    })
  await send('changeTenantQuotas', { tenantId, body: { items: 2 } }, grace)
  const body = { container_id: collectionId, title: 'One too many' }
  await ask('quota.exceeded', 'POST', '/items', { body, headers: { 'idempotency-key': randomUUIDv7() } })
  await send('suspendTenant', { tenantId }, grace)
  await ask('tenant_suspended', 'GET', '/items')
}
