/**
 * The catalog of events: every area's declarations, spread into one object.
 *
 * A new event is its declaration alone; only an area's first one names the area's `…Events` here.
 * Spec: Events, 9; decisions 5.
 */
import type { z } from 'zod'
import { aiEvents } from './ai/events.ts'
import { identityEvents } from './auth/events.ts'
import { commentEvents } from './comments/events.ts'
import { consentEvents } from './consents/events.ts'
import { containerEvents } from './containers/events.ts'
import { nameOf } from './event.ts'
import { groupEvents } from './groups/events.ts'
import { itemEvents } from './items/events.ts'
import { mediaEvents } from './media/events.ts'
import { membershipEvents } from './memberships/events.ts'
import { notificationEvents } from './notifications/events.ts'
import { privacyEvents } from './privacy/events.ts'
import { retentionEvents } from './retention/events.ts'
import { structureEvents } from './structure/events.ts'
import { templateEvents } from './templates/events.ts'
import { tenantEvents } from './tenants/events.ts'
import { webhookEvents } from './webhooks/events.ts'

export const catalog = {
  ...tenantEvents,
  ...retentionEvents,
  ...privacyEvents,
  ...containerEvents,
  ...structureEvents,
  ...itemEvents,
  ...commentEvents,
  ...templateEvents,
  ...mediaEvents,
  ...identityEvents,
  ...notificationEvents,
  ...membershipEvents,
  ...groupEvents,
  ...consentEvents,
  ...aiEvents,
  ...webhookEvents,
}

export type Catalog = typeof catalog
export type EventName = keyof Catalog

/** What a change says of itself; the compiler holds the data against the name's schema. */
export type NewEvent<Name extends EventName = EventName> = {
  readonly [N in Name]: {
    readonly name: N
    /** The representation after the change; never a secret. */
    readonly data: z.input<Catalog[N]['data']>
  }
}[Name]

/** Data that fits every one of the names, so that a rule may choose among them. */
export type DataOf<Name extends EventName> = {
  readonly [N in Name]: (data: z.input<Catalog[N]['data']>) => void
}[Name] extends (data: infer Data) => void
  ? Data
  : never

/** The name behind a full type; undefined for a type that no event of this installation has. */
export function knownName(namespace: string, type: string): EventName | undefined {
  const name = nameOf(namespace, type)
  return name !== undefined && Object.hasOwn(catalog, name) ? (name as EventName) : undefined
}
