/**
 * The events a change can write: the name and when it is written.
 *
 * An event is a CloudEvent of the type `{namespace}.{name}.v1`; its bytes are made once,
 * here, by the transaction that changed the state, and are the same in the outbox, in a
 * delivery and in a pull. Spec: Events; decisions 5.
 */
import { type Actor, accountIdOf } from './actor.ts'
import { newId } from './id.ts'
import { writeJson } from './json.ts'

export const eventNames = {
  'work.tenant.provisioned': 'a workspace was provisioned',
  'work.tenant.suspended': 'a workspace was suspended',
  'work.tenant.resumed': 'a workspace was resumed',
  'work.tenant.quotas_changed': "a workspace's ceilings were changed",
  'work.tenant.deletion_requested': 'the deletion of a workspace was asked for',
  'work.tenant.deletion_cancelled': 'the deletion of a workspace was cancelled',
  'work.tenant.password_opened': 'a workspace was let sign in with passwords for some hours',
  'work.tenant.password_closed': 'a password opening was closed before its end',
  'lifecycle.hold.placed': 'a legal hold was placed',
  'lifecycle.hold.released': 'a legal hold was released',
  'lifecycle.hold.replaced': 'a legal hold was put back in force after a recovery',
  'work.container.created': 'a hub or a collection was created',
  'work.container.changed': 'the name or the description of a container was changed',
  'work.container.privacy_changed': 'a container was hidden or opened',
  'work.container.reordered': 'a container was moved among its siblings',
  'work.container.moved': 'a collection was moved to another hub',
  'work.container.archived': 'a container was archived',
  'work.container.unarchived': 'a container was unarchived',
  'work.container.deleted': 'a container was deleted',
  'work.container.restored': 'a deleted container was brought back',
  'work.bucket.created': 'a bucket was created',
  'work.bucket.changed': 'the name, limit, colour or doneness of a bucket was changed',
  'work.bucket.reordered': 'a bucket was moved among those of its container',
  'work.bucket.emptied': 'entries of a bucket moved out of it, ahead of its deletion',
  'work.bucket.deleted': 'a bucket was deleted, and its entries moved out of it',
  'work.label.created': 'a label was created',
  'work.label.changed': 'the name, colour or description of a label was changed',
  'work.label.deleted': 'a label was taken out of the vocabulary of its container',
  'work.label.restored': 'a deleted label was put back',
  'work.custom_field.created': 'a custom field was defined',
  'work.custom_field.changed': 'options, need or types of a custom field were changed',
  'work.custom_field.deleted': 'a custom field was deleted',
  'work.item.created': 'an item was created',
  'work.item.changed': 'the title, description or due moment of an item was changed',
  'work.item.moved': 'an item was moved to another container, bucket or place',
  'work.item.completed': 'an item was completed',
  'work.item.reopened': 'an item was opened again',
  'work.item.label_added': 'a label was put on an item',
  'work.item.label_removed': 'a label was taken off an item',
  'work.item.field_set': 'the value of a custom field of an item was set or cleared',
  'work.item.deleted': 'an item was deleted',
  'ai.model.switched_on': 'a workspace switched an AI model on',
  'ai.model.switched_off': 'a workspace switched its AI model off',
  'identity.account.invited': 'an account was invited',
  'identity.account.joined': 'an account redeemed its invitation',
  'identity.account.password_changed': 'an account changed its password',
  'identity.account.connected': 'an account was connected with an identity provider',
  'identity.membership.granted': 'an account was given a role on the workspace or in a container',
  'identity.membership.changed': 'an account was given another role',
  'identity.membership.removed': 'a role was taken away',
  'identity.second_factor.confirmed': 'an account put a second factor in force',
  'identity.second_factor.replaced': 'an account moved its second factor to another app',
  'identity.second_factor.removed': 'the second factor of an account was removed',
  'identity.second_factor.recovery_codes_made': 'an account made new recovery codes',
  'identity.second_factor.recovery_code_used': 'a recovery code stood in for the second factor',
  'identity.service_account.created': 'a service account was created',
  'identity.invitation.expired': 'an invitation ended unredeemed',
  'identity.session.started': 'somebody signed in',
  'identity.session.ended': 'a session was ended, or revoked',
  'identity.token.created': 'a personal access token was minted',
  'identity.token.revoked': 'a personal access token was revoked',
} as const

export type EventName = keyof typeof eventNames

export interface NewEvent {
  readonly name: EventName
  /** Path of the resource below `/api/v1`. */
  readonly subject: string
  /** The representation after the change; never a secret. */
  readonly data: unknown
}

export interface EventRow {
  readonly tenant_id: string
  readonly id: string
  readonly type: string
  readonly occurred_at: string
  readonly body: string
}

/** The outbox row of an event of one workspace. */
export function eventRow(namespace: string, tenantId: string, actor: Actor, at: Date, event: NewEvent): EventRow {
  const id = newId()
  const type = `${namespace}.${event.name}.v1`
  const time = at.toISOString()
  const body = writeJson({
    specversion: '1.0',
    id,
    type,
    source: `/tenants/${tenantId}`,
    subject: event.subject,
    time,
    datacontenttype: 'application/json',
    actor: accountIdOf(actor) ?? actor.kind.toLowerCase(),
    data: event.data,
  })
  return { tenant_id: tenantId, id, type, occurred_at: time, body }
}
