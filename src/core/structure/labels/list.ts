/** Lists a container's labels. Spec: Structure: labels; decisions 3. */
import { account } from '../../auth/session.ts'
import type { Ctx } from '../../context.ts'
import type { Answer, Received } from '../../operation.ts'
import { refuse } from '../../problem.ts'
import type { Label, labelOperations as ops } from '../contract.ts'

type LabelRow = { readonly [Member in keyof Label]: Label[Member] | null } & { readonly locale: string }

/** Ordered by name as the workspace's language orders it, whatever the database was built with. Refuses not_found. */
export async function listLabels(
  ctx: Ctx,
  { containerId }: Received<typeof ops.listLabels>,
): Promise<Answer<typeof ops.listLabels>> {
  const { tenantId } = account(ctx)
  const rows = await ctx.tx.last<LabelRow[]>`
    select l.id, l.container_id, l.name, l.color_token, l.description, l.created_at, l.updated_at, l.version, t.default_locale as locale
    from container c
    join tenant t on t.id = ${tenantId}
    left join label l on l.tenant_id = ${tenantId} and l.container_id = c.id
    where c.tenant_id = ${tenantId} and c.id = ${containerId} and c.deleted_at is null
    limit 1000`
  const [first] = rows
  if (!first) refuse('not_found')
  const { compare } = new Intl.Collator(first.locale)
  return {
    data: rows.filter((row): row is Label & LabelRow => row.id !== null).sort((a, b) => compare(a.name, b.name)),
  }
}
