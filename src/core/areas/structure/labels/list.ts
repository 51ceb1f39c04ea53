/** Lists a container's labels. Spec: Structure: labels; decisions 3. */

import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Label, labelOperations as ops } from '../../../contract/structure/operations.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { visibleContainerIds } from '../../access/access.ts'

/** One row of nulls for a container that the caller sees and that has no labels. */
type LabelRow = (Label | Record<keyof Label, null>) & { readonly locale: string }

/** Ordered by name in the workspace's locale, independent of the database's collation. Refuses not_found. */
export async function listLabels(
  ctx: Ctx,
  { containerId }: Received<typeof ops.listLabels>,
): Promise<Answer<typeof ops.listLabels>> {
  const { tenantId } = ctx.account
  const rows = await ctx.tx.last<LabelRow[]>`
    select l.id, l.container_id, l.name, l.color_token, l.description, l.created_at, l.updated_at, l.version,
           (select default_locale from tenant where id = ${tenantId}) as locale
    from (${visibleContainerIds(ctx)} and c.id = ${containerId}) seen
    left join label l on l.tenant_id = ${tenantId} and l.container_id = seen.id and l.deleted_at is null`
  if (rows.length === 0) refuse('not_found')
  const { compare } = new Intl.Collator(rows[0]?.locale)
  const labels = rows.filter((row) => row.id !== null)
  return { data: labels.sort((a, b) => compare(a.name, b.name) || (a.name < b.name ? -1 : 1)) }
}
