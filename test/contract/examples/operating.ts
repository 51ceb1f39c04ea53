/** Operating: workspaces and what an installation offers, legal holds and purges, archives, and models. */
import { randomUUIDv7 } from 'node:crypto'
import { bootInstallation } from '../../../src/core/app/boot.ts'
import { backupTenantJob } from '../../../src/core/areas/backup/backups/job.ts'
import { exportTenantJob } from '../../../src/core/areas/backup/export-job.ts'
import { restoreJob } from '../../../src/core/areas/restores/restore-job.ts'
import { pursuePurge } from '../../../src/core/areas/tenants/purge/purge.ts'
import { aiServer } from '../../kit/ai-server.ts'
import { oidcProvider } from '../../kit/oidc-provider.ts'
import { delivered } from './integrating.ts'
import type { Scene } from './scene.ts'

export async function admin(scene: Scene): Promise<void> {
  scene.steady.hold({ bytes: 1_184 })
  await workspaces(scene)
  await operators(scene)
  await offeredProviders(scene)
  await offeredModels(scene)
  await overdue(scene)
  await records(scene)
  await mails(scene)
  await recorded(scene)
}

/** A request about personal data that nobody has answered. */
async function overdue({ show, sql, tenantId, grace }: Scene): Promise<void> {
  await sql`
    insert into privacy_request (tenant_id, id, kind, channel, received_at, time_zone, due_at)
    values (${tenantId}, ${randomUUIDv7()}, 'ACCESS', 'ENTERED', now() - interval '40 days', 'UTC', now() - interval '9 days')`
  await show('listOverdueRequests', {}, grace)
  await sql`delete from privacy_request`
}

async function workspaces({ show, ask, tenantId, grace }: Scene): Promise<void> {
  const at = { tenantId }
  await show('listTenants', { slug: 'acme' }, grace)
  await show('getTenant', at, grace)
  await show('updateTenant', { ...at, body: { display_name: 'Acme International' } }, grace)
  await show('changeTenantQuotas', { ...at, body: { items: 5000, media_bytes: null } }, grace)
  await show(
    'openPassword',
    { ...at, body: { hours: 8, requester: 'Ada Lovelace', reason: 'Their identity provider is down.' } },
    grace,
  )
  await show('closePassword', at, grace)
  await show('getTenantStatistics', at, grace)
  const target = await ask(
    'createBackupTarget',
    { body: { name: 'Disk', kind: 'LOCAL', config: { path: 'archives' } } },
    grace,
  )
  await show('exportTenant', { ...at, body: { target_id: target.id } }, grace)
  const leaving = await ask(
    'provisionTenant',
    { body: { slug: 'globex', display_name: 'Globex', owner_email: 'hank@globex.example' } },
    grace,
  )
  const leavingAt = { tenantId: leaving.tenant.id }
  await show('suspendTenant', leavingAt, grace)
  await show('resumeTenant', leavingAt, grace)
  await show('deleteTenant', { ...leavingAt, body: { confirmation: 'Globex' } }, grace)
  await show('cancelTenantDeletion', leavingAt, grace)
  await show('replaceLegalHolds', { ...leavingAt, body: { recovery_point: '2027-02-28T23:00:00Z', holds: [] } }, grace)
}

async function operators({ show, ask, sql, grace, tokenOf, inHours }: Scene): Promise<void> {
  const [other] = await sql<{ id: string; tenant_id: string }[]>`
    insert into account (tenant_id, id, kind, state, email, email_fold, display_name)
    values (${grace.tenantId}, gen_random_uuid(), 'PERSON', 'ACTIVE', 'linus@ops.example', 'linus@ops.example', 'Linus Pauling')
    returning id, tenant_id`
  await sql`insert into membership (tenant_id, id, account_id, role) values (${other!.tenant_id}, gen_random_uuid(), ${other!.id}, 'MEMBER')`
  await tokenOf(other!.tenant_id, other!.id)
  await show('addOperator', { body: { workspace: 'ops', email: 'linus@ops.example' } }, grace)
  await show('listOperators', {}, grace)
  await show(
    'putNotice',
    { body: { message: 'Maintenance on Sunday, 06:00 to 08:00 UTC', severity: 'WARNING', until: inHours(72) } },
    grace,
  )
  await show('getNotice', {}, grace)
  await ask('putNotice', { body: { message: null } }, grace)
  await show('removeOperator', { accountId: other!.id }, grace)
}

async function offeredProviders({ show, ask, steady, grace, inHours }: Scene): Promise<void> {
  const server = await oidcProvider()
  steady.rename(server.issuer, 'https://sso.acme.example')
  steady.rename(server.clientSecret, 'the secret that the provider gave out')
  try {
    const configuration = { issuer: server.issuer, client_id: server.clientId, display_name: 'Acme SSO' }
    const provider = await show(
      'createIdentityProvider',
      { body: { ...configuration, client_secret: server.clientSecret } },
      grace,
    )
    const at = { providerId: provider.id }
    await ask('offerProvider', { ...at, body: { offered: true } })
    await show('changeIdentityProvider', { ...at, body: { ...configuration, display_name: 'Acme' } }, grace)
    await show('listIdentityProviders', {}, grace)
    await show('getWithdrawalPlan', at, grace)
    await show('withdrawIdentityProvider', { ...at, body: { withdraw_at: inHours(24 * 14) } }, grace)
    await show('cancelIdentityProviderWithdrawal', at, grace)
    await ask('offerProvider', { ...at, body: { offered: false } })
    await show('removeIdentityProvider', at, grace)
  } finally {
    await server.close()
  }
}

async function offeredModels({ show, steady, grace }: Scene): Promise<void> {
  const server = await aiServer()
  steady.rename(server.url, 'https://models.example')
  try {
    const configuration = {
      display_name: 'Small and fast',
      processor: 'Models Ltd',
      kind: 'VENDOR_COMPATIBLE',
      base_url: `${server.url}/v1`,
      completion_model: 'small',
      jurisdiction: 'EEA',
    } as const
    const model = await show('offerAiProvider', { body: { ...configuration, api_key: 'key-of-the-vendor' } }, grace)
    const at = { providerId: model.id }
    await show('replaceAiProvider', { ...at, body: { ...configuration, display_name: 'Small' } }, grace)
    await show('testAiProvider', at, grace)
    await show('listAiProviders', {}, grace)
    await show('removeAiProvider', at, grace)
  } finally {
    await server.close()
  }
}

async function records({ show, grace, inHours }: Scene): Promise<void> {
  await show(
    'replaceSettings',
    {
      body: {
        sign_in: { password_min_length: { value: 14, locked: true, reason: 'Our policy of 2027.' } },
        localisation: { locale: 'en', time_zone: 'Europe/Paris', week_start: 'MONDAY' },
      },
    },
    grace,
  )
  await show('getSettings', {}, grace)
  await show('getOverview', {}, grace)
  await show('listJournal', { action: 'tenant.*,operator.*', slug: 'acme', from: inHours(-24), size: 2 }, grace)
  await show('getEncryption', {}, grace)
  await show('resealEncryption', {}, grace)
}

/** The relay of Acme knew no such mailbox. */
async function mails({ show, ask, sql, grace }: Scene): Promise<void> {
  const { account } = await ask('inviteAccount', {
    body: { email: 'niklaus@acme.example', deliver: 'MAIL', role: 'MEMBER' },
  })
  await sql`
    update pgboss.job set state = 'failed', started_on = now(), completed_on = now(),
           output = '{"name":"JobGivenUp","reason":"MAILBOX_REFUSED","step":"RCPT TO","status":550}'
    where name = 'send_invitation' and data ->> 'accountId' = ${account.id}`
  const { data } = await show('listMails', { state: 'FAILED', kind: 'invitation' }, grace)
  await show('resendMail', { mailId: data[0]!.id }, grace)
}

async function recorded(scene: Scene): Promise<void> {
  const { show, ask, grace } = scene
  const posted = await delivered(scene)
  try {
    const webhook = await ask('createWebhook', { body: posted.created })
    await posted.label('press')
    const [delivery] = await posted.until(webhook.id, (states) => states.length === 1 && states[0] === 'SUCCEEDED')
    await show('getDeliveryStats', { hours: 24 }, grace)
    await show('getRecordedDelivery', { deliveryId: delivery!.id }, grace)
  } finally {
    await posted.close()
  }
}

export async function retention(scene: Scene): Promise<void> {
  const { show, ask, tenantId, collectionId, grace } = scene
  const hold = await show(
    'placeHold',
    {
      body: { tenant_id: tenantId, scope: { kind: 'CONTAINER', id: collectionId }, reason: 'Case 4711' },
    },
    grace,
  )
  await show('getHold', { holdId: hold.id }, grace)
  await show('listHolds', { tenant_id: tenantId, state: 'IN_FORCE' }, grace)
  await show('getDeletionPlan', { tenantId }, grace)
  await show('releaseHold', { holdId: hold.id }, grace)
  await rules(scene)
  const server = await oidcProvider()
  scene.steady.rename(server.issuer, 'https://sso.acme.example')
  const provider = await ask(
    'createIdentityProvider',
    {
      body: {
        issuer: server.issuer,
        client_id: server.clientId,
        client_secret: server.clientSecret,
        display_name: 'Acme SSO',
      },
    },
    grace,
  ).finally(() => server.close())
  await ask('offerProvider', { providerId: provider.id, body: { offered: true } })
  await show('getWithdrawalPlan', { providerId: provider.id }, grace)
  await certificates(scene)
}

/** Acme keeps its trash for a week only. */
async function rules({ show, sql, tenantId }: Scene): Promise<void> {
  await show('listRetentionRules')
  const { hash } = await show('previewRetentionRule', { kind: 'TRASH', days: 7 })
  await show('setRetentionRule', { kind: 'TRASH', body: { days: 7, plan_hash: hash } })
  await sql`
    insert into retention_run (tenant_id, id, kind, due_on, removed, ended_at)
    values (${tenantId}, uuidv7(), 'RECORDS', now(), 12, now())`
  await show('listRetentionRuns')
}

/** Globex leaves, and its time is over at once. */
async function certificates({ show, ask, sql, daemon, grace }: Scene): Promise<void> {
  const { tenant } = await ask(
    'provisionTenant',
    { body: { slug: 'globex', display_name: 'Globex', owner_email: 'hank@globex.example' } },
    grace,
  )
  const at = { tenantId: tenant.id }
  await ask('deleteTenant', { ...at, body: { confirmation: 'Globex' } }, grace)
  await sql`update tenant set purge_after = now() - interval '1 second' where id = ${tenant.id}`
  let seconds = 0
  const clock = { now: () => Date.now(), monotonicSeconds: () => seconds }
  const booted = await bootInstallation(daemon.config, { works: false, applicationName: 'svc examples', clock })
  for (; (await pursuePurge(booted.installation, tenant.id)) !== 'purged'; seconds += 3600)
    if (seconds > 3600 * 20) throw new Error('the purge did not end')
  await booted.close()
  await show('listPurgeCertificates', { slug: 'globex' }, grace)
  await show('getPurgeCertificate', at, grace)
  await show('verifyPurgeCertificate', at, grace)
}

export async function backup(scene: Scene): Promise<void> {
  const { show, daemon, tenantId, grace, ask, steady } = scene
  // Ids and moments are pressed differently each time.
  steady.hold({ size_bytes: 12_971 })
  const target = await show(
    'createBackupTarget',
    { body: { name: 'Disk', kind: 'LOCAL', config: { path: 'archives' } } },
    grace,
  )
  const at = { targetId: target.id }
  await show('testBackupTarget', at, grace)
  await show('listBackupTargets', {}, grace)
  const { job_id } = await ask('exportTenant', { tenantId, body: { target_id: target.id } }, grace)
  const booted = await bootInstallation(daemon.config, { works: false, applicationName: 'svc examples' })
  await exportTenantJob.run(booted.installation, { tenantId, jobId: job_id }).finally(() => booted.close())
  await show('listArchives', at, grace)
  await backups(scene, target.id)
  await schedules(scene, target.id)
  await restores(scene, target.id)
  await show('deleteBackupTarget', at, grace)
}

async function backups({ show, ask, tenantId, grace, daemon }: Scene, targetId: string): Promise<void> {
  const body = { tenant_id: tenantId, target_id: targetId, keep_days: 30 }
  const recipient = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p'
  const first = await show('createBackup', { body: { ...body, recipients: [recipient] } }, grace)
  const second = await ask('createBackup', { body }, grace)
  const booted = await bootInstallation(daemon.config, { works: false, applicationName: 'svc examples' })
  try {
    for (const { job_id } of [first, second])
      await backupTenantJob.run(booted.installation, { tenantId, jobId: job_id })
  } finally {
    await booted.close()
  }
  const at = { backupId: first.id }
  await show('getBackup', at, grace)
  await show('listBackups', { tenant_id: tenantId, state: 'COMPLETE' }, grace)
  await show('verifyBackup', { ...at, body: { depth: 'HASHES' } }, grace)
  await show('removeBackup', at, grace)
}

async function restores({ show, ask, tenantId, grace, daemon }: Scene, targetId: string): Promise<void> {
  const booted = await bootInstallation(daemon.config, { works: false, applicationName: 'svc examples' })
  const { installation } = booted
  try {
    const made = await ask('createBackup', { body: { tenant_id: tenantId, target_id: targetId } }, grace)
    await backupTenantJob.run(installation, { tenantId, jobId: made.job_id })
    const { data } = await ask('listItems', { size: 1 })
    const [item] = data
    if (item) await ask('deleteItem', { itemId: item.id })
    const body = { into: 'REPLACE' as const, tenant_id: tenantId, source: { backup_id: made.id } }
    const asked = await show('createRestore', { body }, grace)
    await restoreJob.run(installation, { tenantId, jobId: asked.job_id })
    const at = { restoreId: asked.id }
    const planned = await show('getRestore', at, grace)
    const applying = await show('applyRestore', { ...at, body: { plan_hash: planned.plan?.hash ?? '' } }, grace)
    await restoreJob.run(installation, { tenantId, jobId: applying.job_id })
    await show('listRestores', { tenant_id: tenantId, state: 'DONE' }, grace)
    const undoing = await show('undoRestore', { ...at, body: { edited_since: 'KEEP' } }, grace)
    await restoreJob.run(installation, { tenantId, jobId: undoing.job_id })
  } finally {
    await booted.close()
  }
}

async function schedules({ show, tenantId, grace }: Scene, targetId: string): Promise<void> {
  const body = {
    name: 'Nightly',
    target_id: targetId,
    cron: '30 2 * * *',
    time_zone: 'Europe/Zurich',
    tenants: [tenantId],
  }
  const { id } = await show('createBackupSchedule', { body: { ...body, keep: { daily: 14, monthly: 12 } } }, grace)
  await show('listBackupSchedules', {}, grace)
  await show('changeBackupSchedule', { scheduleId: id, body: { cron: '30 4 * * *' } }, grace)
  await show('deleteBackupSchedule', { scheduleId: id }, grace)
}

export async function ai({ show, ask, steady, grace, hubId, collectionId }: Scene): Promise<void> {
  const server = await aiServer()
  server.says = 'The press release is written; the photographer is still to be booked.'
  steady.rename(server.url, 'https://models.example')
  try {
    const model = await ask(
      'offerAiProvider',
      {
        body: {
          display_name: 'Small and fast',
          processor: 'Models Ltd',
          kind: 'VENDOR_COMPATIBLE',
          base_url: `${server.url}/v1`,
          completion_model: 'small',
          jurisdiction: 'EEA',
          api_key: 'key-of-the-vendor',
        },
      },
      grace,
    )
    const at = { modelId: model.id }
    await show('chooseAiModel', at)
    await show('listAiModels')
    const item = await ask('createItem', { body: { container_id: collectionId, title: 'Write the press release' } })
    const { notice } = await ask('getAiObjection')
    await ask('noteAiNotice', { body: { version: notice.version } })
    await show('summarizeContainer', { containerId: hubId })
    await show('summarizeItem', { itemId: item.id })
    await show('unchooseAiModel', at)
  } finally {
    await server.close()
  }
}
