/**
 * What a template holds: everything by name, dates as days from an anchor, and texts with `{{variables}}`.
 *
 * One shape for both kinds. A template of an item holds the item and what is below it, and nothing else; that of a board holds
 * what a new collection gets. Spec: items 7, O20 to O25; docs/decisions/0226.
 */
import { z } from 'zod'
import { itemType } from '../item-types.ts'
import { fieldKinds } from '../structure/custom-fields.ts'
import { count, text } from '../vocabulary.ts'

/** Of the content as JSON. */
export const mostContentBytes = 256 * 1024
export const mostItems = 500
export const mostVariables = 50
export const mostBuckets = 50
export const mostLabels = 100
export const mostFields = 50

/** How far from its anchor a date is at most, in days. */
export const farthestDays = 3_660
const days = (what: string) => z.int().min(-farthestDays).max(farthestDays).nullish().describe(what)
const name = text(1, 120)
const key = z.string().regex(/^[a-z][a-z0-9_]{0,49}$/)
const value = z.union([text(1, 10_000), z.number(), z.boolean(), z.array(text(1, 200)).max(200)])

const TemplateItem = z
  .strictObject({
    title: text(1, 500).describe('may have variables'),
    type: itemType.default('TASK'),
    description: text(0, 20_000).nullish().describe('may have variables'),
    bucket: name.nullish().describe('by its name; absent: the leftmost; null: none'),
    parent: z
      .int()
      .min(0)
      .max(mostItems - 1)
      .nullish()
      .describe('the place in `items`, from 0, of the item that it is a part of; absent: a root'),
    labels: z.array(name).max(100).default([]).describe('by their names'),
    custom_fields: z.record(key, value).default({}).describe('by key; texts may have variables'),
    start_in_days: days('the day of the start, from the anchor; beside `due_in_days`'),
    due_in_days: days('the day when it is due, from the anchor'),
  })
  .meta({ id: 'TemplateItem' })
export type TemplateItem = z.output<typeof TemplateItem>

const TemplateBucket = z
  .strictObject({
    name,
    wip_limit: count(1, 2_147_483_647).nullish(),
    is_done_bucket: z.boolean().default(false),
    color_token: text(0, 200).nullish(),
  })
  .meta({ id: 'TemplateBucket' })

const TemplateLabel = z
  .strictObject({ name, color_token: text(1, 200), description: text(0, 10_000).nullish() })
  .meta({ id: 'TemplateLabel' })

const TemplateField = z
  .strictObject({
    key,
    kind: z.enum(fieldKinds),
    options: z.array(text(1, 200)).max(200).nullish(),
    is_required: z.boolean().default(false),
    applies_to: z.array(itemType).min(1).max(4).default(['TASK']),
  })
  .meta({ id: 'TemplateField' })

export const TemplateContent = z
  .strictObject({
    buckets: z.array(TemplateBucket).max(mostBuckets).default([]).describe('of a board, from the left'),
    labels: z.array(TemplateLabel).max(mostLabels).default([]).describe('of a board'),
    fields: z
      .array(TemplateField)
      .max(mostFields)
      .default([])
      .describe("of a board: the collection's own custom fields"),
    items: z.array(TemplateItem).max(mostItems).describe('for an item: itself, and then what is below it'),
  })
  .meta({ id: 'TemplateContent' })
export type TemplateContent = z.output<typeof TemplateContent>
