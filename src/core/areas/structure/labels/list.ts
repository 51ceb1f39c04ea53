/** Lists a container's labels. Spec: Structure: labels; decisions 3. */

import type { Answer, Received } from '../../../contract/operation.ts'
import type { Label, labelOperations as ops } from '../../../contract/structure/operations.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { visibleContainer } from '../../access/access.ts'

/** Ordered by name in the workspace's locale, independent of the database's collation. Refuses not_found. */
export async function listLabels(
  ctx: Ctx,
  { containerId }: Received<typeof ops.listLabels>,
): Promise<Answer<typeof ops.listLabels>> {
  const { tenantId } = ctx.account
  const [, [tenant], labels] = await Promise.all([
    visibleContainer(ctx, containerId),
    ctx.tx<{ locale: string }[]>`select default_locale as locale from tenant where id = ${tenantId}`,
    ctx.tx.last<Label[]>`
      select id, container_id, name, color_token, description, created_at, updated_at, version from label
      where tenant_id = ${tenantId} and container_id = ${containerId} and deleted_at is null`,
  ])
  const { compare } = new Intl.Collator(tenant?.locale)
  return { data: labels.sort((a, b) => compare(a.name, b.name) || (a.name < b.name ? -1 : 1)) }
}
