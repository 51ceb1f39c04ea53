/**
 * Asking the model that a workspace has switched on.
 *
 *    read rows, compose, reserve tokens │ the call │ settle, answer
 *            one transaction            │   none   │ one transaction
 *
 * The same for every consumer: a consumer only decides which rows become which question. Neither
 * question nor answer is stored, logged or part of any evidence (T-38).
 */

import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { type Actor, isAccount } from '../../kernel/values/actor.ts'
import { demandNoticed } from '../consents/ai-notice.ts'
import { type Completion, refusalOfModel } from './adapter.ts'
import { modelInUse, type SeenModel } from './models.ts'
import { openAdapter } from './open-adapter.ts'
import type { Composed } from './question.ts'
import { boundOf, type Reservation, reserveTokens, settleTokens } from './token-budget.ts'

export interface Told {
  readonly text: string
  readonly model: SeenModel
  /** As counted against the quota. */
  readonly tokens: number
  /** Lines that were left out for the sake of whoever objects. */
  readonly excluded: number
}

/**
 * Composes a question from the workspace's rows and asks it. Refuses tenant_suspended, ai.no_model, ai.notice_due,
 * quota.exceeded, ai.model_failed, secret.unavailable, and what `compose` refuses.
 */
export async function askModel(
  installation: Installation,
  actor: Actor,
  compose: (ctx: Ctx, tenantId: string) => Promise<Composed>,
): Promise<Told> {
  if (!isAccount(actor)) throw new Error('models answer a workspace’s people only')
  const { tenantId } = actor
  const prepared = await installation.transaction(actor, { tenantId, admits: true }, async (ctx) => {
    const { question, excluded } = await compose(ctx, tenantId)
    const model = await modelInUse(ctx, tenantId)
    await demandNoticed(ctx, model.seen)
    return { question, excluded, model, reservation: await reserveTokens(ctx, tenantId, boundOf(question)) }
  })
  const { question, excluded, model, reservation } = prepared
  const settle = (reported: Completion['tokens']) => settled(installation, actor, reservation, reported)
  const called = openAdapter(installation, model.opened).then((adapter) => adapter.complete(question))
  const { text, tokens } = await called.catch(async (error: unknown) => {
    await settle(0)
    return refusalOfModel(error)
  })
  await settle(tokens)
  return { text, model: model.seen, tokens: tokens ?? reservation.tokens, excluded }
}

/** Also settles for a workspace that was suspended meanwhile, because the tokens were used. */
const settled = (installation: Installation, actor: Actor, reservation: Reservation, reported: Completion['tokens']) =>
  installation.transaction(actor, { tenantId: reservation.tenantId }, (ctx) => settleTokens(ctx, reservation, reported))
