/** Events of items and views; private views are told to nobody. Spec: Index, Items; items 7; decisions 3 and 5. */
import type { z } from 'zod'
import { defineEvents, exampleId } from '../event.ts'
import { Item } from './operations.ts'
import { View } from './views.ts'

const example: z.input<typeof Item> = {
  id: exampleId(11),
  container_id: exampleId(5),
  bucket_id: exampleId(6),
  type: 'TASK',
  title: 'Write the invitation',
  description: null,
  state: 'OPEN',
  position: 'a0',
  parent_id: null,
  sibling_position: null,
  label_ids: [exampleId(7)],
  member_ids: [exampleId(3)],
  assignee_id: exampleId(3),
  custom_fields: { size: 'M' },
  start_at: null,
  due_at: '2026-11-27T22:59:59.999Z',
  start_on: null,
  due_on: '2026-11-27',
  time_zone: 'Europe/Zurich',
  cover: null,
  completed_at: null,
  archived_at: null,
  created_at: '2026-11-20T17:15:00.000Z',
  created_by: exampleId(3),
  updated_at: '2026-11-20T17:15:00.000Z',
  version: 1,
}
const whole = { subject: '/items/{id}', kind: 'item', container: 'container_id', data: Item, example } as const
const created = {
  ...whole,
  searched: 'ITEM',
  notifies: {
    tells: [
      { category: 'ASSIGNED', whom: ['assignee_id'] },
      { category: 'CHANGED', whom: ['member_ids'] },
    ],
  },
} as const
/** Whoever made the item, or is its member. */
const people = { category: 'CHANGED', whom: ['created_by', 'member_ids'] } as const
const tellsPeople = { notifies: { tells: [people] } } as const

/** The item after a change, and what the change moved, as it was. */
const ChangedItem = Item.extend({
  previous: Item.partial().describe(
    'the members that the change gave another value, as they were before; nothing where it came from another container',
  ),
})
/** A change whose example moved these members, and of which nobody is notified. */
const moving = <Members extends Partial<z.input<typeof Item>>>(previous: Members) =>
  ({ ...whole, data: ChangedItem, example: { ...example, version: 2, previous } }) as const
/** The same, of which its people are notified. */
const changing = <Members extends Partial<z.input<typeof Item>>>(previous: Members) =>
  ({ ...moving(previous), ...tellsPeople }) as const
/** Of a change that may change the words by which an item is found. */
const changingWords = <Members extends Partial<z.input<typeof Item>>>(previous: Members) =>
  ({ ...changing(previous), searched: 'ITEM' }) as const

const view: z.input<typeof View> = {
  id: exampleId(12),
  container_id: exampleId(5),
  name: 'Due this week',
  layout: 'LIST',
  filter: { field: 'due', op: 'on', value: { unit: 'WEEK', offset: 0 } },
  sort: [{ by: 'due', order: 'ASC' }],
  group_by: null,
  columns: ['title', 'due'],
  visibility: 'SHARED',
  created_by: exampleId(3),
  created_at: '2026-11-20T17:15:00.000Z',
  updated_at: '2026-11-20T17:15:00.000Z',
  version: 1,
}
const wholeView = {
  subject: '/views/{id}',
  kind: 'view',
  container: 'container_id',
  data: View,
  example: view,
} as const

export const itemEvents = defineEvents({
  'work.item.created': { when: 'an item was created', ...created },
  'work.item.changed': {
    when: 'the title, description or dates of an item were changed',
    ...changingWords({ title: 'Write invitations' }),
  },
  'work.item.moved': {
    when: 'an item was moved to another container, bucket or place',
    ...changingWords({ bucket_id: exampleId(16), position: 'aG' }),
  },
  'work.item.reordered': {
    when: 'an item got another place in its bucket or among its siblings',
    ...moving({ position: 'aG' }),
  },
  'work.item.completed': { when: 'an item was completed', ...changing({ state: 'OPEN', completed_at: null }) },
  'work.item.reopened': {
    when: 'an item was opened again',
    ...changing({ state: 'DONE', completed_at: '2026-11-20T18:15:00.000Z' }),
  },
  'work.item.label_added': { when: 'a label was put on an item', ...changingWords({ label_ids: [] }) },
  'work.item.label_removed': {
    when: 'a label was taken off an item',
    ...changingWords({ label_ids: [exampleId(7), exampleId(8)] }),
  },
  'work.item.field_set': {
    when: 'the value of a custom field of an item was set or cleared',
    ...changingWords({ custom_fields: { size: 'L' } }),
  },
  'work.item.assigned': {
    when: 'an account was made responsible for an item, and with that a member',
    ...changing({ assignee_id: null, member_ids: [] }),
    notifies: { tells: [{ category: 'ASSIGNED', whom: ['assignee_id'] }, people] },
  },
  'work.item.unassigned': {
    when: 'nobody is responsible for an item any more',
    ...changing({ assignee_id: exampleId(3) }),
  },
  'work.item.member_added': { when: 'an account was added to the members of an item', ...changing({ member_ids: [] }) },
  'work.item.member_removed': {
    when: 'an account was taken off the members of an item',
    ...changing({ member_ids: [exampleId(3), exampleId(4)] }),
    notifies: { tells: [{ category: 'CHANGED', whom: ['created_by', 'member_ids', 'previous.member_ids'] }] },
  },
  'work.item.archived': { when: 'an item was archived', ...changing({ archived_at: null }) },
  'work.item.unarchived': {
    when: 'an item was brought back from the archive',
    ...changing({ archived_at: '2026-11-20T18:15:00.000Z' }),
  },
  'work.item.deleted': { when: 'an item was deleted; the item as it was', ...changingWords({}) },
  'work.item.restored': { when: 'an item was brought back from the trash', ...changingWords({ position: 'aG' }) },
  'work.item.purged': {
    when: 'an item was taken from the trash for good, by hand or by time',
    ...whole,
    data: Item.pick({ id: true, container_id: true }),
    example: { id: example.id, container_id: example.container_id },
  },
  'work.view.created': { when: 'a shared view was made, or a private one was shared', ...wholeView },
  'work.view.changed': { when: 'a shared view was changed', ...wholeView },
  'work.view.deleted': { when: 'a shared view was deleted, or made private', ...wholeView },
})
