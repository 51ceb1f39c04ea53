/** The own account's objection to AI, and the notice of it. Spec: Keeping, 2, N10, N11. */
import type { Answer, Received } from '../../contract/operation.ts'
import type { aiObjectionOperations as ops } from '../../contract/privacy/ai-objection.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { lockPerson } from '../consents/acts.ts'
import { findNotice, findSeen, hashOfModel, noteSeen, tellOf, versionOf } from '../consents/ai-notice.ts'
import { findModelInUse, type SeenModel } from './models.ts'
import { tellEverybody } from './notice-mails.ts'

export async function getAiObjection(ctx: Ctx): Promise<Answer<typeof ops.getAiObjection>> {
  return standing(ctx, await findModelInUse(ctx, ctx.account.tenantId))
}

/** Refuses privacy.person_only, privacy.text_changed. */
export async function noteAiNotice(
  ctx: Ctx,
  { body: { version } }: Received<typeof ops.noteAiNotice>,
): Promise<Answer<typeof ops.noteAiNotice>> {
  const { tenantId, accountId } = ctx.account
  if (!(await lockPerson(ctx, tenantId, accountId))) refuse('privacy.person_only')
  const model = await findModelInUse(ctx, tenantId)
  const current = await currentVersion(ctx, tenantId, model)
  if (version !== current) refuse('privacy.text_changed', { version: current })
  const seen = await findSeen(ctx, tenantId, accountId)
  if (model && seen?.sha256 !== hashOfModel(model)) await noteSeen(ctx, version, model, seen)
  return standing(ctx, model)
}

/** Written down where a model changed and nobody was told yet. */
async function currentVersion(ctx: Ctx, tenantId: string, model: SeenModel | undefined): Promise<number> {
  if (!model) return (await findNotice(ctx, tenantId))?.version ?? 0
  return tellEverybody(ctx, tenantId, await tellOf(ctx, tenantId, model))
}

async function standing(ctx: Ctx, model: SeenModel | undefined): Promise<Answer<typeof ops.getAiObjection>> {
  const { tenantId, accountId } = ctx.account
  const [objection] = await ctx.tx<{ act: string; at: string }[]>`
    select act, at from consent where tenant_id = ${tenantId} and account_id = ${accountId} and kind = 'ai_content'
    order by n desc limit 1`
  const isObjected = objection?.act === 'WITHDRAWN'
  const [notice, seen] = [await findNotice(ctx, tenantId), await findSeen(ctx, tenantId, accountId)]
  return {
    is_objected: isObjected,
    objected_at: isObjected ? objection.at : null,
    notice: {
      version: model ? versionOf(notice, model) : (notice?.version ?? 0),
      is_due: model !== undefined && seen?.sha256 !== hashOfModel(model),
      noticed_version: seen?.version ?? null,
      noticed_at: seen?.at ?? null,
    },
    model: model ?? null,
  }
}
