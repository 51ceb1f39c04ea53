/** Dates of items: moments, or days. Spec: items 1, Dates. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { day, moment, text } from '../vocabulary.ts'
import { change } from './operations.ts'

const spec = 'items 1, Dates'

export const DueSet = z
  .strictObject({
    due_on: day.nullish().describe('a day; either this or `due_at`'),
    due_at: moment.nullish(),
    start_on: day.nullish().describe('beside `due_on`'),
    start_at: moment.nullish().describe('beside `due_at`'),
    time_zone: text(1, 64).nullish().describe("IANA; absent: the workspace's"),
  })
  .meta({ id: 'DueSet' })

export const itemDateOperations = defineOperations('items', {
  setItemDue: {
    ...change,
    method: 'PUT',
    path: '/items/{itemId}/due',
    summary: 'Set when an item is due and when it starts: moments, or days',
    spec,
    body: DueSet,
    refuses: ['container.archived', 'item.archived'],
    assumed: [
      'all dates are set whole: without a start there is none afterwards',
      'a start behind the due date, or more than 366 days before it, is refused at its own member',
    ],
  },
  clearItemDue: {
    ...change,
    method: 'DELETE',
    path: '/items/{itemId}/due',
    summary: 'Take the dates off an item',
    spec,
    success: { status: 204 },
    refuses: ['container.archived', 'item.archived'],
    assumed: ['the start goes as well; an item without dates stays as it is'],
  },
})
