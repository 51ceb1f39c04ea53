/** Integrating: what a program asks of the contract itself, events and their webhooks, jobs, and the trail. */

import { bootInstallation } from '../../../src/core/app/boot.ts'
import { exportTenantJob } from '../../../src/core/areas/backup/export-job.ts'
import { startDispatcher } from '../../../src/core/areas/webhooks/dispatch/dispatcher.ts'
import { eventTypeOperations } from '../../../src/core/contract/events/operations.ts'
import { metaOperations } from '../../../src/core/contract/meta/operations.ts'
import { receiver, status } from '../../kit/receiver.ts'
import type { Scene } from './scene.ts'

/** Their answers are whole registers: an example shows the first of each. */
export const abridged: ReadonlySet<string> = new Set([
  ...Object.keys(metaOperations),
  ...Object.keys(eventTypeOperations),
  'listPresets',
])

export async function meta({ show, ask, steady }: Scene): Promise<void> {
  await show('getServer', {}, null)
  await show('getWorkspace')
  await show('listProblems', {}, null)
  // The contract's own examples have moments of their own.
  steady.keep(await ask('listEventTypes'))
  await show('listEventTypes', {})
}

export async function audit({ show, ask, ada, alan, collectionId, grace, inHours }: Scene): Promise<void> {
  await ask('grantMembership', { body: { account_id: alan.accountId, role: 'ADMIN', container_id: collectionId } })
  await show('listAuditEntries', { actor_id: ada.accountId, from: inHours(-24), size: 2 })
  await show('explainSignIn', { body: { workspace: 'acme', email: 'alan@acme.example' } }, grace)
}

export async function jobs({ show, ask, steady, daemon, grace, tenantId }: Scene): Promise<void> {
  const target = await ask(
    'createBackupTarget',
    { body: { name: 'Disk', kind: 'LOCAL', config: { path: 'archives' } } },
    grace,
  )
  const { job_id } = await ask('exportTenant', { tenantId, body: { target_id: target.id } }, grace)
  const booted = await bootInstallation(daemon.config, { works: false, applicationName: 'svc examples' })
  await exportTenantJob.run(booted.installation, { tenantId, jobId: job_id }).finally(() => booted.close())
  steady.hold({ done: 12_971, total: 12_971 })
  await show('getJob', { jobId: job_id }, grace)
}

/** A webhook whose target answered, and one whose target did not until all attempts were made. */
export async function delivered({ daemon, ask, steady, collectionId }: Scene) {
  const target = await receiver()
  const booted = await bootInstallation(daemon.config, { works: false, applicationName: 'svc examples' })
  const { installation } = booted
  const dispatcher = startDispatcher(installation, await installation.egress(), { onFailure: () => {} })
  steady.rename(target.url, 'https://hooks.acme.example/svc')
  steady.rename(`127.0.0.1:${target.port}`, 'hooks.acme.example')
  steady.rename('127.0.0.1', '198.51.100.7')
  const created = { target_url: target.url, event_types: ['svc.work.label.created.v1'] }
  const label = (name: string) => ask('createLabel', { containerId: collectionId, body: { name, color_token: 'red' } })
  return {
    target,
    created,
    label,
    fails: () => target.respond(status(503, {}, 'maintenance until ten')),
    recovers: () => target.respond(status(204)),
    /** Waits until the deliveries are as told. */
    async until(webhookId: string, holds: (states: readonly string[]) => boolean) {
      for (const deadline = Date.now() + 20_000; Date.now() < deadline; ) {
        const { data } = await ask('listDeliveries', { webhookId })
        if (holds(data.map((delivery) => delivery.status))) return data
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
      throw new Error('the deliveries did not end')
    },
    async close() {
      await dispatcher.close()
      await booted.close()
      await target.close()
    },
  }
}

export async function webhooks(scene: Scene): Promise<void> {
  const { show } = scene
  const posted = await delivered(scene)
  try {
    const webhook = await show('createWebhook', { body: posted.created })
    const at = { webhookId: webhook.id }
    await posted.label('press')
    const [delivery] = await posted.until(webhook.id, (states) => states.length === 1 && states[0] === 'SUCCEEDED')
    await show('listDeliveries', { ...at, status: 'SUCCEEDED' })
    await show('getDelivery', { ...at, deliveryId: delivery!.id })
    await show('getWebhook', at)
    await show('listWebhooks')
    await show('sendEvent', { ...at, body: { event_id: delivery!.event_id } })
    await show('rotateWebhookSecret', { ...at, body: { grace_seconds: 3600 } })
    await posted.until(webhook.id, (states) => states.every((state) => state === 'SUCCEEDED'))
    posted.fails()
    await posted.label('legal')
    const dead = await posted.until(webhook.id, (states) => states.includes('DEAD_LETTER'))
    posted.recovers()
    await show('replayDelivery', { ...at, deliveryId: dead.find((one) => one.status === 'DEAD_LETTER')!.id })
    await show('pullEvents', { eventType: 'svc.work.label.created.v1', limit: 1 })
    await show('changeWebhook', { ...at, body: { event_types: ['svc.work.label.deleted.v1'], state: 'PAUSED' } })
    await show('deleteWebhook', at)
  } finally {
    await posted.close()
  }
}
