/** Templates: an item, or a board with its items, to make again. Spec: items 7, O20 to O25; docs/decisions/0226. */
import { z } from 'zod'
import { Container } from '../containers/operations.ts'
import { Item, recovery, writing } from '../items/operations.ts'
import { defineOperations } from '../operation.ts'
import { day, moment, pageOf, paging, text, uuid, version } from '../vocabulary.ts'
import { mostContentBytes, mostItems, mostVariables, TemplateContent } from './content.ts'

const spec = 'items 7, O20 to O25'

/** Templates of a workspace. */
export const mostTemplates = 500

const kind = z.enum(['ITEM', 'BOARD'])
const name = text(1, 120)
const description = text(0, 2_000)

const variable = z.object({
  key: z.string(),
  default: z.string().nullable().describe('null: applying the template takes a value'),
})

/** Without its content, which may have 256 KiB. */
export const TemplateListed = z
  .object({
    id: uuid,
    kind,
    name: z.string(),
    description: z.string().nullable(),
    container_id: uuid.nullable().describe('whose people see it; null: all of the workspace but guests'),
    variables: z.array(variable).describe('`{{key}}` and `{{key=default}}` in the texts, in their order'),
    created_by: uuid,
    created_at: moment,
    updated_at: moment,
    version,
  })
  .meta({ id: 'TemplateListed' })
export type TemplateListed = z.output<typeof TemplateListed>

export const Template = TemplateListed.extend({ content: TemplateContent }).meta({ id: 'Template' })
export type Template = z.output<typeof Template>

const TemplateSource = z
  .strictObject({
    item_id: uuid.optional().describe('for an ITEM; either this or `container_id`'),
    container_id: uuid.optional().describe('for a BOARD: a collection'),
    include: z
      .array(z.enum(['ITEMS', 'CHILDREN', 'LABELS', 'FIELDS', 'DATES']))
      .max(5)
      .optional()
      .describe(
        'absent: all. CHILDREN are what is below an item, and of a board which item is below which; FIELDS are values, and of a board also its definitions',
      ),
  })
  .meta({ id: 'TemplateSource' })
export type TemplateSource = z.output<typeof TemplateSource>

const TemplateCreate = z
  .strictObject({
    name,
    kind,
    description: description.nullish(),
    container_id: uuid.nullish().describe('a hub or a collection; absent: the workspace'),
    content: TemplateContent.optional().describe('either this or `from`'),
    from: TemplateSource.optional(),
  })
  .meta({ id: 'TemplateCreate' })

const TemplateUpdate = z
  .strictObject({
    name: name.optional(),
    description: description.nullable().optional(),
    content: TemplateContent.optional().describe('whole'),
  })
  .meta({ id: 'TemplateUpdate' })

const TemplateApply = z
  .strictObject({
    container_id: uuid.optional().describe('for an ITEM: the collection that it goes to'),
    bucket_id: uuid.nullish().describe("for an ITEM: absent: the template's; null: none"),
    parent_id: uuid
      .optional()
      .describe(
        'for a BOARD: the hub that it goes to; for an ITEM: the item of the collection whose last child it becomes',
      ),
    name: name.optional().describe('for a BOARD: of the new collection'),
    values: z
      .record(z.string().regex(/^[a-z][a-z0-9_]{0,49}$/), text(0, 1_000))
      .default({})
      .describe('of variables, by key'),
    anchor_on: day.optional().describe("day 0 of the dates; absent: today in the workspace's zone"),
  })
  .meta({ id: 'TemplateApply' })

const TemplateApplied = z
  .object({
    item: Item.optional(),
    container: Container.optional(),
    left_out: z
      .array(z.object({ pointer: z.string(), code: z.string() }))
      .describe('what could not be made, by its pointer into the content'),
  })
  .meta({ id: 'TemplateApplied' })
export type TemplateApplied = z.output<typeof TemplateApplied>

const ofTemplate = z.strictObject({ templateId: uuid })
const reading = { caller: 'workspace', scope: 'workspace:read', role: 'VIEWER', within: 'container' } as const
const keeping = ['auth.role_required', 'container.archived'] as const
const inTrees = ['item.circular', 'item.tree_full'] as const

export const templateOperations = defineOperations('templates', {
  listTemplates: {
    method: 'GET',
    path: '/templates',
    summary: 'The templates that the caller sees, oldest first, without their content',
    spec,
    query: z.strictObject({ kind: kind.optional(), container_id: uuid.optional(), ...paging(200, 50) }),
    success: { status: 200, answer: pageOf(TemplateListed) },
    needs: reading,
    refuses: ['cursor.invalid'],
    recovery,
    assumed: ['one of a container is seen by whoever sees the container, one of the workspace by all but guests'],
  },
  createTemplate: {
    method: 'POST',
    path: '/templates',
    summary: 'Make a template of a content, or from an item or a board',
    spec,
    body: TemplateCreate,
    takes: 'large',
    success: { status: 201, answer: Template, location: (made: { id: string }) => `/templates/${made.id}` },
    needs: writing,
    idempotent: true,
    refuses: [...keeping, ...inTrees, 'structure.full'],
    recovery,
    assumed: [
      'MEMBER in its container, ADMIN on the workspace where it has none',
      `${mostTemplates} templates of a workspace; a content has at most ${mostContentBytes / 1024} KiB as JSON, ${mostItems} items and ${mostVariables} variables`,
      'a variable is `{{key}}` or `{{key=default}}` in titles, descriptions and texts of values; of several defaults the first counts',
      'made from something: day 0 is its earliest date; archived items, people and USER values are left out',
      'a board’s hub, people and privacy are no part of it',
      'siblings are in the order of the content, which is that of a board where it was made from one; the bounds of trees hold for a content',
    ],
  },
  getTemplate: {
    method: 'GET',
    path: '/templates/{templateId}',
    summary: 'One template, with its content',
    spec,
    params: ofTemplate,
    success: { status: 200, answer: Template },
    needs: reading,
    recovery,
  },
  updateTemplate: {
    method: 'PATCH',
    path: '/templates/{templateId}',
    patch: 'merge',
    summary: 'Change the name, the description or the content of a template',
    spec,
    params: ofTemplate,
    body: TemplateUpdate,
    takes: 'large',
    success: { status: 200, answer: Template },
    needs: writing,
    ifMatch: true,
    refuses: [...keeping, ...inTrees],
    recovery,
    assumed: ['`content` is set whole; kind and container stay', 'what was made from it stays as it is'],
  },
  deleteTemplate: {
    method: 'DELETE',
    path: '/templates/{templateId}',
    summary: 'Delete a template; what was made from it stays',
    spec,
    params: ofTemplate,
    success: { status: 204 },
    needs: writing,
    ifMatch: true,
    refuses: keeping,
    recovery,
  },
  applyTemplate: {
    method: 'POST',
    path: '/templates/{templateId}:apply',
    summary: 'Make an item, or a board with its items, from a template',
    spec,
    params: ofTemplate,
    body: TemplateApply,
    success: {
      status: 201,
      answer: TemplateApplied,
      location: ({ item, container }: TemplateApplied) => (item ? `/items/${item.id}` : `/containers/${container?.id}`),
    },
    needs: writing,
    idempotent: true,
    refuses: [...keeping, 'item.archived', 'item.tree_full', 'quota.exceeded'],
    recovery,
    assumed: [
      'MEMBER in the collection or the hub that it goes to; all is made in one transaction, or nothing',
      'a name that means nothing there, and a value that its field does not take, are left out and told in `left_out`',
      'a value of a required field may be missing, as in an item that was written before the field was required',
      'each thing that is made is told by its own event',
      'what is below an item goes to its own buckets; `bucket_id` is the bucket of the item itself',
    ],
  },
})
