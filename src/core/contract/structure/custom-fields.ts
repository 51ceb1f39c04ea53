/** Definitions of custom fields. Spec: Resources, Custom field definition; Structure: custom fields; decisions 3. */
import { z } from 'zod'
import { itemType } from '../item-types.ts'
import { defineOperations } from '../operation.ts'
import { listOf, moment, text, uuid, version } from '../vocabulary.ts'

export const fieldKinds = ['TEXT', 'NUMBER', 'DATE', 'SELECT', 'MULTI_SELECT', 'BOOL', 'USER', 'URL'] as const
export type FieldKind = (typeof fieldKinds)[number]

export const CustomFieldDefinition = z
  .object({
    id: uuid,
    collection_id: uuid.nullable().describe('null where the field is defined for the whole workspace'),
    key: z.string(),
    kind: z.enum(fieldKinds),
    options: z.array(z.string()).nullable(),
    is_required: z.boolean(),
    applies_to: z.array(itemType),
    created_at: moment,
    updated_at: moment,
    version,
  })
  .meta({ id: 'CustomFieldDefinition' })
export type CustomFieldDefinition = z.output<typeof CustomFieldDefinition>

/** How many definitions one scope has at most: the workspace, or one collection. */
export const mostFields = 500

const key = z.string().regex(/^[a-z][a-z0-9_]{0,49}$/)
const options = z.array(text(1, 200)).max(200).describe('for SELECT and MULTI_SELECT: not empty, each of them once')
const appliesTo = z.array(itemType).describe('types with the capability CUSTOM_FIELDS, each of them once')

const CustomFieldDefinitionCreate = z
  .strictObject({
    collection_id: uuid.nullish().describe('none: the field is defined for the whole workspace'),
    key: key.describe('immutable afterwards'),
    kind: z.enum(fieldKinds).describe('immutable afterwards'),
    options: options.optional(),
    is_required: z.boolean().default(false),
    applies_to: appliesTo.default(['TASK']),
  })
  .meta({ id: 'CustomFieldDefinitionCreate' })

const CustomFieldDefinitionUpdate = z
  .strictObject({
    options: options.optional(),
    is_required: z.boolean().optional(),
    applies_to: appliesTo.optional(),
  })
  .meta({ id: 'CustomFieldDefinitionUpdate' })

const recovery = { refused: "content is the workspace's own; `:export` is the operator's way" } as const
/** ADMIN where the field is defined: in its collection, or on the workspace. The gate asks for it anywhere, the rule there. */
const writing = { caller: 'workspace', scope: 'workspace:write', role: 'ADMIN', within: 'container' } as const

export const customFieldOperations = defineOperations('structure', {
  listCustomFields: {
    method: 'GET',
    path: '/custom-fields',
    summary: 'The definitions in force, by key',
    spec: 'Structure: custom fields, rule 1',
    query: z.strictObject({
      collection_id: uuid.optional().describe("the collection's own beside the workspace's; absent: the workspace's"),
    }),
    success: { status: 200, answer: listOf(CustomFieldDefinition) },
    needs: { caller: 'workspace', scope: 'workspace:read', role: 'VIEWER', within: 'container' },
    refuses: ['not_found'],
    recovery,
    assumed: ["of two under one key, the workspace's comes first"],
  },
  createCustomField: {
    method: 'POST',
    path: '/custom-fields',
    summary: 'Define a field for the items of a collection, or of the whole workspace',
    spec: 'Structure: custom fields; Resources, CustomFieldDefinitionCreate',
    body: CustomFieldDefinitionCreate,
    success: {
      status: 201,
      answer: CustomFieldDefinition,
      location: (made: CustomFieldDefinition) => `/custom-fields/${made.id}`,
    },
    needs: writing,
    refuses: [
      'custom_field.key_taken',
      'custom_field.type_not_supported',
      'structure.full',
      'container.archived',
      'auth.role_required',
    ],
    idempotent: true,
    recovery,
    assumed: [
      `a scope has at most ${mostFields} fields, a field 1..200 options of 1..200 each, unique as they are written`,
      'applies_to names at least one type',
      'a collection_id that is no collection the caller sees is 422 with reference.unknown',
    ],
  },
  updateCustomField: {
    method: 'PATCH',
    path: '/custom-fields/{fieldId}',
    summary: "Change a field's options, whether it is required, or what it applies to",
    spec: 'Structure: custom fields, rule 3; Resources, CustomFieldDefinitionUpdate',
    params: z.strictObject({ fieldId: uuid }),
    body: CustomFieldDefinitionUpdate,
    patch: 'merge',
    success: { status: 200, answer: CustomFieldDefinition },
    needs: writing,
    refuses: ['custom_field.type_not_supported', 'container.archived', 'auth.role_required'],
    ifMatch: true,
    recovery,
  },
  deleteCustomField: {
    method: 'DELETE',
    path: '/custom-fields/{fieldId}',
    summary: 'Delete a field; values stay in the entries and stop being visible',
    spec: 'Structure: custom fields, rule 2',
    params: z.strictObject({ fieldId: uuid }),
    success: { status: 204 },
    needs: writing,
    refuses: ['container.archived', 'auth.role_required'],
    ifMatch: true,
    recovery,
  },
})
