/** Lists the definitions in force. Spec: Structure: custom fields, rule 1. */

import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { CustomFieldDefinition, customFieldOperations as ops } from '../../../contract/structure/custom-fields.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { visibleContainer } from '../../access/access.ts'
import { columnsOf } from './definition.ts'

/**
 * Ordered by key; of the same key, the workspace's definition comes before the collection's.
 * Refuses not_found for what is no collection that the caller sees.
 */
export async function listCustomFields(
  ctx: Ctx,
  { collection_id: collectionId }: Received<typeof ops.listCustomFields>,
): Promise<Answer<typeof ops.listCustomFields>> {
  const { tenantId } = ctx.account
  if (collectionId && (await visibleContainer(ctx, collectionId)).kind !== 'COLLECTION') refuse('not_found')
  const data = await ctx.tx.last<CustomFieldDefinition[]>`
    select ${columnsOf(ctx)}
    from custom_field
    where tenant_id = ${tenantId} and (collection_id is null or collection_id = ${collectionId ?? null}) and deleted_at is null
    order by key collate "C", collection_id nulls first`
  return { data }
}
