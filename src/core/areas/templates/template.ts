/** Makes, changes and deletes templates. Spec: items 7, O21, O23 and O24; docs/decisions/0226. */
import { isDeepStrictEqual } from 'node:util'
import type { Received } from '../../contract/operation.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import { mostTemplates, type templateOperations as ops, type Template } from '../../contract/templates/operations.ts'
import { lockClasses } from '../../kernel/database/lock-classes.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { newId } from '../../kernel/values/id.ts'
import { isTemplateHeld } from '../items/trash/holds.ts'
import { changedMembers } from '../structure/changed-members.ts'
import { checkContent } from './content.ts'
import { columnsOf, demandPlace, lockTemplate } from './row.ts'
import { contentFrom } from './source.ts'

type New = Received<typeof ops.createTemplate>['body']

/** Refuses request.invalid, auth.role_required, container.archived, structure.full, item.circular, item.tree_full. */
export async function createTemplate(ctx: Ctx, { body }: Received<typeof ops.createTemplate>): Promise<Template> {
  const { tx } = ctx
  const { tenantId, accountId } = ctx.account
  const containerId = body.container_id ?? null
  await demandPlace(ctx, containerId)
  const content = await contentOf(ctx, body)
  const variables = checkContent(body.kind, content, body.from ? '/from' : '/content')
  await refuseFull(ctx)

  const [template] = await tx<[Template]>`
    insert into template as t (tenant_id, id, kind, name, description, container_id, variables, content, created_by)
    values (${tenantId}, ${newId()}, ${body.kind}, ${body.name}, ${body.description ?? null}, ${containerId},
            ${tx.json(variables)}, ${tx.json(content)}, ${accountId})
    returning ${columnsOf(ctx)}, t.content`

  await ctx.record('work.template.created', template, { kind: template.kind })
  return template
}

/** Refuses not_found, auth.role_required, container.archived, precondition.failed, request.invalid, item.circular, item.tree_full. */
export async function updateTemplate(
  ctx: Ctx,
  { templateId, body }: Received<typeof ops.updateTemplate>,
): Promise<Template> {
  const { tx } = ctx
  const row = await lockTemplate(ctx, templateId)
  const sent = body.content
  const variables = sent ? checkContent(row.kind, sent, '/content') : row.variables
  const next = {
    name: body.name ?? row.name,
    description: body.description === undefined ? row.description : body.description,
    // jsonb keeps the members of an object in an order of its own.
    content: sent && !isDeepStrictEqual(sent, row.content) ? sent : row.content,
  }
  const members = changedMembers<Template>(row, next)
  if (members.length === 0) return row

  const [template] = await tx<[Template]>`
    update template t set name = ${next.name}, description = ${next.description}, variables = ${tx.json(variables)},
           content = ${tx.json(next.content)}, updated_at = now(), version = version + 1
    where t.tenant_id = ${ctx.account.tenantId} and t.id = ${templateId}
    returning ${columnsOf(ctx)}, t.content`

  await ctx.record('work.template.changed', template, { members })
  return template
}

/**
 * Under a legal hold the row stays, in no answer, until the removal of what was purged may take it.
 * Refuses not_found, auth.role_required, container.archived, precondition.failed.
 */
export async function deleteTemplate(ctx: Ctx, { templateId }: Received<typeof ops.deleteTemplate>): Promise<void> {
  const row = await lockTemplate(ctx, templateId)
  const { tx } = ctx
  const { tenantId } = ctx.account
  void tx`update template set deleted_at = now() where tenant_id = ${tenantId} and id = ${templateId}`
  void tx`delete from template t where t.tenant_id = ${tenantId} and t.id = ${templateId} and not ${isTemplateHeld(tx, tenantId)}`
  await ctx.record('work.template.deleted', row)
}

async function contentOf(ctx: Ctx, { kind, content, from }: New) {
  if (content && from) refuseMember('/from', 'member.conflicts', { with: ['content'] })
  if (from) return contentFrom(ctx, kind, from)
  return content ?? refuseMember('/content', 'member.required')
}

/** The count is exact: a lock serialises concurrent calls. Refuses structure.full. */
async function refuseFull({ tx, account: { tenantId } }: Ctx): Promise<void> {
  void tx`select pg_advisory_xact_lock(${lockClasses.templates}, hashtext(${tenantId}))`
  const [row] = await tx<
    { count: number }[]
  >`select count(*)::int as count from template where tenant_id = ${tenantId} and deleted_at is null`
  if ((row?.count ?? 0) >= mostTemplates) refuse('structure.full', { limit: mostTemplates })
}
