/**
 * A daemon to fuzz: its own installation in a temporary folder, with three callers and some content.
 *
 *    node scripts/fuzz-ground.ts FILE     writes FILE (address, tokens, ids), serves until Ctrl-C, removes all
 *
 * Only for developers: docs/testing.md has the commands. Everything is made over the API, as a client makes it.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const [file] = process.argv.slice(2)
if (file === undefined) throw new Error('Name the file to write: node scripts/fuzz-ground.ts fuzz.json')

const folder = mkdtempSync(join(tmpdir(), 'svc-fuzz-'))
const setUpToken = 'set-up-token-of-the-fuzz'
const password = 'correct horse battery staple'
const daemon = spawn(fileURLToPath(new URL('../bin/svc', import.meta.url)), ['daemon'], {
  env: {
    PATH: process.env['PATH'],
    HOME: folder,
    SVC_DATA_DIR: folder,
    SVC_PORT: '0',
    SVC_SETUP_TOKEN: setUpToken,
    SVC_LOG_LEVEL: 'warn',
    // A fuzzer calls faster than the rate for calls without a token allows.
    SVC_SOURCE_RATE: '0',
  },
  stdio: ['ignore', 'pipe', 'inherit'],
})
daemon.once('close', (code) => {
  rmSync(folder, { recursive: true, force: true })
  process.exit(code ?? 1)
})
process.on('uncaughtExceptionMonitor', () => daemon.kill('SIGTERM'))
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => daemon.kill('SIGTERM'))

const url = await new Promise<string>((resolve) => {
  daemon.stdout.on('data', (piece: Buffer) => {
    const [, address] = /^listening on (.+)$/m.exec(piece.toString()) ?? []
    if (address !== undefined) resolve(address)
  })
})

// biome-ignore lint/suspicious/noExplicitAny: each call says itself what it expects of its answer
async function call(method: string, path: string, token: string, body?: unknown, proof?: string): Promise<any> {
  const answer = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: {
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined
        ? {}
        : { 'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json' }),
      ...(proof === undefined ? {} : { 'x-service-step-up': proof }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`)
  return text === '' ? undefined : JSON.parse(text)
}

/** A proof of the password, for one call. */
const proofOf = async (token: string) => (await call('POST', '/auth/step-up', token, { password })).step_up_token

/** A workspace with some content: its owner's token and the ids of the content. */
async function filled(session: string, hubId: string) {
  const scopes = ['workspace:read', 'workspace:write', 'workspace:admin']
  const { token } = await call('POST', '/auth/tokens', session, { name: 'fuzz', scopes })
  const viewer = await call('POST', '/auth/service-accounts', session, {
    name: 'viewer',
    role: 'VIEWER',
    scopes: ['workspace:read'],
  })
  const container = await call('POST', '/containers', token, { kind: 'COLLECTION', parent_id: hubId, name: 'Board' })
  const at = `/containers/${container.id}`
  const bucket = await call('POST', `${at}/buckets`, token, { name: 'To do' })
  const label = await call('POST', `${at}/labels`, token, { name: 'Urgent', color_token: 'red' })
  const field = await call('POST', '/custom-fields', token, {
    collection_id: container.id,
    key: 'size',
    kind: 'SELECT',
    options: ['S', 'M'],
  })
  const items = []
  for (const title of ['One', 'Two', 'Three'])
    items.push(await call('POST', '/items', token, { container_id: container.id, bucket_id: bucket.id, title }))
  const comment = await call('POST', `/items/${items[0].id}/comments`, token, { body: 'Said' })
  const view = await call('POST', '/views', token, { container_id: container.id, name: 'All' })
  const content = { items: [{ title: 'Copied' }] }
  const template = await call('POST', '/templates', token, { kind: 'ITEM', name: 'One', content })
  const group = await call('POST', '/groups', token, { name: 'Team' })
  const subject = { name: 'Somebody' }
  const request = await call('POST', '/privacy/requests', token, { kind: 'ACCESS', subject })
  const erasure = await call('POST', '/privacy/requests', token, { kind: 'ERASURE', subject })
  return {
    owner: token,
    viewer: viewer.token,
    ids: {
      containerId: [container.id],
      bucketId: [bucket.id],
      labelId: [label.id],
      fieldId: [field.id],
      itemId: items.map(({ id }) => id),
      accountId: [viewer.account_id],
      key: ['size'],
      commentId: [comment.id],
      viewId: [view.id],
      templateId: [template.id],
      groupId: [group.id],
      requestId: [request.id, erasure.id],
      kind: ['TRASH', 'DONE_ITEMS', 'RECORDS', 'announcements'],
      eventType: ['svc.work.item.created.v1', 'svc.work.label.created.v1'],
    },
  }
}

const first = await call('POST', '/auth/installation:set-up', '', {
  set_up_token: setUpToken,
  workspace: { slug: 'home', display_name: 'Home' },
  owner: { email: 'ops@home.example', display_name: 'Olive', password },
})
const session = first.session.access_token
const scopes = ['admin:tenants']
const operator = await call('POST', '/auth/tokens', session, { name: 'fuzz', scopes }, await proofOf(session))
const provisioned = await call('POST', '/admin/tenants', operator.token, {
  slug: 'acme',
  display_name: 'Acme',
  owner_email: 'ada@acme.example',
})
const joined = await call('POST', '/auth/invitations:redeem', '', { token: provisioned.redemption_token, password })
// A fuzzer calls faster than the default rate of a workspace allows.
for (const { id } of [first.tenant, provisioned.tenant])
  await call('PATCH', `/admin/tenants/${id}/quotas`, operator.token, { api_requests_per_minute: 0, items: 1000 })
const { owner, viewer, ids } = await filled(joined.access_token, provisioned.hub_id)
// Operators suspend and delete this workspace, so no caller of the fuzzer belongs to it.
const other = await call('POST', '/admin/tenants', operator.token, {
  slug: 'other',
  display_name: 'Other',
  owner_email: 'otto@other.example',
})
const disk = { name: 'disk', kind: 'LOCAL', config: { path: 'disk' } }
const target = await call('POST', '/backup-targets', operator.token, disk, await proofOf(operator.token))
const wanted = { target_id: target.id, tenant_id: other.tenant.id }
const backup = await call('POST', '/backups', operator.token, wanted)
const schedule = await call('POST', '/backup-schedules', operator.token, {
  ...{ name: 'nightly', target_id: target.id, cron: '0 2 * * *', tenants: [other.tenant.id] },
})
for (let state = ''; state !== 'COMPLETE'; await new Promise((done) => setTimeout(done, 200)))
  ({ state } = await call('GET', `/backups/${backup.id}`, operator.token))
const rewind = { into: 'REPLACE', tenant_id: other.tenant.id, source: { backup_id: backup.id } }
const restore = await call('POST', '/restores', operator.token, rewind)
const ofBackups = {
  ...{ targetId: [target.id], backupId: [backup.id], scheduleId: [schedule.id], restoreId: [restore.id] },
}
const ground = {
  url,
  password,
  tokens: { owner, viewer, operator: operator.token },
  ids: { ...ids, ...ofBackups, tenantId: [other.tenant.id] },
}
writeFileSync(file, JSON.stringify(ground, null, 2), { mode: 0o600 })
process.stdout.write(`${url}\n`)
