/**
 * Everybody is mailed when what is told of the model changes: with the choice of a workspace, and when an operator changes a model
 * that workspaces have on. Spec: Keeping, 2, N10; docs/decisions/0475.
 */
import { z } from 'zod'
import { moment } from '../../contract/vocabulary.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { firstId } from '../../kernel/transaction/page.ts'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import type { tellOf } from '../consents/ai-notice.ts'
import { sendMail } from '../mail/jobs.ts'

const portion = 500

/** Queues a mail for each person of the workspace, some hundreds in a transaction. */
export const tellAiNotice = defineJob({
  name: 'tell_ai_notice',
  payload: z.object({ tenantId: z.guid(), noticeId: z.guid(), at: moment, after: z.guid().optional() }),
  retryLimit: 5,
  async run(installation, { tenantId, noticeId, at, after = firstId }): Promise<void> {
    await installation.transaction({ kind: 'SYSTEM', job: 'tell_ai_notice' }, { tenantId }, async (ctx) => {
      const people = await ctx.tx<{ id: string }[]>`
        select id from account
        where tenant_id = ${tenantId} and id > ${after}::uuid and kind = 'PERSON' and state = 'ACTIVE' and email is not null
        order by id limit ${portion}`
      for (const { id } of people)
        await ctx.enqueue(sendMail, { tenantId, noticeId, accountId: id, name: 'ai_model_changed', at })
      const last = people.at(-1)?.id
      if (people.length === portion && last !== undefined)
        await ctx.enqueue(tellAiNotice, { tenantId, noticeId, at, after: last })
    })
  },
})

/** Queues the mails of a version that was just written, and answers it. The workspace's role is in force. */
export async function tellEverybody(
  ctx: Ctx,
  tenantId: string,
  { version, noticeId }: Awaited<ReturnType<typeof tellOf>>,
): Promise<number> {
  if (noticeId !== undefined) await ctx.enqueue(tellAiNotice, { tenantId, noticeId, at: await ctx.now() })
  return version
}
