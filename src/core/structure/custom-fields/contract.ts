/** Definitions of custom fields. Spec: Resources, Custom field definition; Structure: custom fields; decisions 3. */
import { z } from 'zod'
import { itemType } from '../../item-types.ts'
import { moment, uuid, version } from '../../schema.ts'

export const fieldKinds = ['TEXT', 'NUMBER', 'DATE', 'SELECT', 'MULTI_SELECT', 'BOOL', 'USER', 'URL'] as const
export type FieldKind = (typeof fieldKinds)[number]

const CustomFieldDefinition = z
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
