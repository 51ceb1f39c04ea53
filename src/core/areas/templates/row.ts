/** Rows of templates, who sees them, and who may change them. Spec: items 7, O20 to O24; docs/decisions/0226. */
import { refuse } from '../../contract/problem.ts'
import type { Template, TemplateListed } from '../../contract/templates/operations.ts'
import { type Role, rankOf } from '../../contract/vocabulary.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { referencedContainer, visibleContainerIds, writableContainer } from '../access/access.ts'

/** The columns of a template `t` as it is listed. */
export const columnsOf = ({ tx }: Ctx): Part => tx.part`
  t.id, t.kind, t.name, t.description, t.container_id, t.variables, t.created_by, t.created_at, t.updated_at, t.version`

/** Whether the template `t` is there and the caller sees it. One of the whole workspace is no guest's: it names what a guest does not see. */
export function isSeen(ctx: Ctx): Part {
  const { tx, account } = ctx
  const ofAll = account.isGuest ? tx.part`` : tx.part`t.container_id is null or`
  return tx.part`t.deleted_at is null and (${ofAll} t.container_id in (${visibleContainerIds(ctx)}))`
}

/** A template that the caller sees. Refuses not_found. */
export async function visibleTemplate(ctx: Ctx, templateId: string): Promise<Template> {
  const [template] = await ctx.tx<Template[]>`
    select ${columnsOf(ctx)}, t.content from template t
    where t.tenant_id = ${ctx.account.tenantId} and t.id = ${templateId} and ${isSeen(ctx)}`
  return template ?? refuse('not_found')
}

/** The template, locked. Its container is locked first. Refuses not_found, auth.role_required, container.archived, precondition.failed. */
export async function lockTemplate(ctx: Ctx, templateId: string): Promise<Template> {
  const { tenantId, isGuest } = ctx.account
  const [found] = await ctx.tx<Pick<TemplateListed, 'container_id'>[]>`
    select container_id from template where tenant_id = ${tenantId} and id = ${templateId} and deleted_at is null`
  if (!found || (found.container_id === null && isGuest)) refuse('not_found')
  if (found.container_id === null) demandOnWorkspace(ctx, 'ADMIN')
  else await writableContainer(ctx, found.container_id, 'MEMBER')
  const [template] = await ctx.tx<Template[]>`
    select ${columnsOf(ctx)}, t.content from template t
    where t.tenant_id = ${tenantId} and t.id = ${templateId} and t.deleted_at is null for no key update`
  if (!template) refuse('not_found')
  ctx.unchanged(template.version)
  return template
}

/** The right to have a template there. Refuses request.invalid at /container_id, auth.role_required, container.archived. */
export async function demandPlace(ctx: Ctx, containerId: string | null): Promise<void> {
  if (containerId === null) demandOnWorkspace(ctx, 'ADMIN')
  else await referencedContainer(ctx, containerId, 'MEMBER', '/container_id')
}

function demandOnWorkspace({ account: { role, isGuest } }: Ctx, demanded: Role): void {
  if (isGuest || rankOf[role] < rankOf[demanded]) refuse('auth.role_required', { role: demanded })
}
