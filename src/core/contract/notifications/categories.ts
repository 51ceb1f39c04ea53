/**
 * What people are told of, by which channel, and how unless they decide otherwise.
 * Spec: people 3, Notifications.
 */
export const notificationCategories = [
  'SECURITY',
  'ADMINISTRATION',
  'ASSIGNED',
  'MENTIONED',
  'DUE',
  'COMMENTED',
  'ACCESS',
  'AUTOMATION',
  'CHANGED',
] as const
export type NotificationCategory = (typeof notificationCategories)[number]

export const notificationChannels = ['MAIL', 'IN_APP'] as const
export type NotificationChannel = (typeof notificationChannels)[number]

/** DAILY is a digest, which only mail has. */
export const notificationDeliveries = ['IMMEDIATE', 'DAILY', 'OFF'] as const
export type NotificationDelivery = (typeof notificationDeliveries)[number]

/** Whoever misses one of these may lose the account or the workspace: nobody switches them off. */
export const lockedCategories: readonly NotificationCategory[] = ['SECURITY', 'ADMINISTRATION']

/** How a category is mailed where the account has decided nothing. In the application everything is shown at once. */
const mailDefaults: Readonly<Record<NotificationCategory, NotificationDelivery>> = {
  SECURITY: 'IMMEDIATE',
  ADMINISTRATION: 'IMMEDIATE',
  ASSIGNED: 'IMMEDIATE',
  MENTIONED: 'IMMEDIATE',
  DUE: 'IMMEDIATE',
  COMMENTED: 'DAILY',
  ACCESS: 'DAILY',
  AUTOMATION: 'DAILY',
  CHANGED: 'OFF',
}

export const defaultDelivery = (category: NotificationCategory, channel: NotificationChannel): NotificationDelivery =>
  channel === 'MAIL' ? mailDefaults[category] : 'IMMEDIATE'

/** A member of an event's data with an id of an account, a list of them, or null; `previous.member_ids` as it was before. */
type DataMember = string

/** Where the accounts are found that are told of an event. */
export type Whom =
  | DataMember
  /** The same in the params of the trail's entry, which no webhook gets. */
  | { readonly param: string }
  /** Who made or joined the item whose id the member holds. */
  | { readonly peopleOfItem: DataMember }
  /** Who wrote the comment. */
  | { readonly authorOfComment: DataMember }
  | { readonly membersOfGroup: DataMember }

export interface Told {
  readonly category: NotificationCategory
  readonly whom: readonly Whom[]
  /** A mail of another kind tells it at once (areas/mail/kinds.ts), so that none of ours follows. */
  readonly hasOwnMail?: true
}

/** Who is told of an event. An account that several name is told by the first of them. */
export interface Notifies {
  /** What it is told of, where that is not the event's subject: `/items/{item_id}`. */
  readonly about?: string
  readonly tells: readonly Told[]
}
