/** Lists templates, and reads one. Spec: items 7, O20 and O22. */
import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { templateOperations as ops, Template, TemplateListed } from '../../contract/templates/operations.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { type Followed, firstId, pageOfRows, pageStart, withinPage } from '../../kernel/transaction/page.ts'
import { columnsOf, isSeen } from './row.ts'

/** Refuses cursor.invalid. */
export async function listTemplates(
  ctx: Ctx,
  { kind, container_id, cursor, size }: Received<typeof ops.listTemplates>,
): Promise<Answer<typeof ops.listTemplates>> {
  const { tx } = ctx
  const list = { operation: 'listTemplates', filters: { kind, container_id } }
  const after = pageStart(ctx, list, cursor) ?? firstId
  const rows = tx.part`
    select ${columnsOf(ctx)} from template t
    where t.tenant_id = ${ctx.account.tenantId} and ${isSeen(ctx)} and t.id > ${after}::uuid
      ${kind === undefined ? tx.part`` : tx.part`and t.kind = ${kind}`}
      ${container_id === undefined ? tx.part`` : tx.part`and t.container_id = ${container_id}`}
    order by t.id limit ${size + 1}`
  const bytes = tx.part`coalesce(octet_length(description), 0) + octet_length(variables::text)`
  const page = withinPage(ctx, rows, { order: tx.part`id`, bytes })
  return pageOfRows(ctx, list, await tx.last<(TemplateListed & Followed)[]>`${page}`, size)
}

/** Refuses not_found. */
export async function getTemplate(ctx: Ctx, { templateId }: Received<typeof ops.getTemplate>): Promise<Template> {
  const [template] = await ctx.tx.last<Template[]>`
    select ${columnsOf(ctx)}, t.content from template t
    where t.tenant_id = ${ctx.account.tenantId} and t.id = ${templateId} and ${isSeen(ctx)}`
  return template ?? refuse('not_found')
}
