/** The types of items, and what each is capable of. Spec: Resources, Custom field definition; decisions 2, Item types. */
import { z } from 'zod'

export const itemTypes = ['TASK', 'EVENT', 'NOTE', 'ACTIVITY'] as const
export type ItemType = (typeof itemTypes)[number]
export const itemType = z.enum(itemTypes).describe('decides what the item can have')

type Capability = 'CUSTOM_FIELDS'

const capabilities: Readonly<Record<ItemType, readonly Capability[]>> = {
  TASK: ['CUSTOM_FIELDS'],
  EVENT: ['CUSTOM_FIELDS'],
  NOTE: ['CUSTOM_FIELDS'],
  ACTIVITY: [],
}

export const isCapable = (type: ItemType, capability: Capability) => capabilities[type].includes(capability)
