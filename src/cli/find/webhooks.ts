/** Webhooks and deliveries as people name them on a command line. */
import { Args } from '@oclif/core'
import { type Delivery, type Webhook, webhookOperations } from '../../core/contract/webhooks/operations.ts'
import type { Caller } from '../call/caller.ts'
import { Failure } from '../failure.ts'
import { only } from './pick.ts'

/** What `findWebhook` takes. */
export const webhookArgument = Args.string({
  ignoreStdin: true,
  required: true,
  description: "the webhook's id, the start of its id, or its target",
})

/** The webhook of that id, of an id that begins so, or of that target. Fails (notFound, conflict) where none or several are meant. */
export async function findWebhook(caller: Caller, named: string): Promise<Webhook> {
  const { data } = await caller.call(webhookOperations.listWebhooks, {})
  const found = data.filter(({ id, target_url }) => target_url === named || (named.length >= 4 && id.startsWith(named)))
  const exact = found.filter(({ id }) => id === named)
  return only(
    exact.length > 0 ? exact : found,
    () => new Failure('conflict', `"${named}" matches ${found.length} webhooks.`, 'Give the whole id.'),
    () => new Failure('notFound', `There is no webhook "${named}".`, '`svc webhooks list` shows all webhooks.'),
  )
}

/** Sets a webhook going, or stops it. Fails as findWebhook does. */
export async function setWebhookState(caller: Caller, named: string, state: 'ACTIVE' | 'PAUSED'): Promise<Webhook> {
  const { id } = await findWebhook(caller, named)
  return caller.call(webhookOperations.changeWebhook, { webhookId: id, body: { state } })
}

/** A delivery by its id alone: it is looked for in every webhook, unless one is named. Fails (notFound). */
export async function findDelivery(
  caller: Caller,
  deliveryId: string,
  webhook: string | undefined,
): Promise<{ webhook: Webhook; delivery: Delivery }> {
  const among =
    webhook === undefined
      ? (await caller.call(webhookOperations.listWebhooks, {})).data
      : [await findWebhook(caller, webhook)]
  for (const one of among) {
    const delivery = await caller
      .call(webhookOperations.getDelivery, { webhookId: one.id, deliveryId })
      .catch((error: unknown) => {
        if ((error as { code?: unknown }).code === 'not_found') return undefined
        throw error
      })
    if (delivery) return { webhook: one, delivery }
  }
  throw new Failure(
    'notFound',
    `No webhook of this workspace has a delivery "${deliveryId}".`,
    '`svc deliveries list WEBHOOK` lists deliveries; they are stored as long as events.',
  )
}
