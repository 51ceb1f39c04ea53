/** What a client learns about the server before anybody has signed in. Spec: people 6, M1. */
import type { serverOperations as ops } from '../../contract/meta/server.ts'
import { type Answer, largestBody } from '../../contract/operation.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { languages } from '../mail/texts/language.ts'

export async function getServer(ctx: Ctx): Promise<Answer<typeof ops.getServer>> {
  const { mode, eventNamespace, mail, outboxDays, bodyLimitBytes } = ctx.config
  const [row] = await ctx.tx.last<{ time: string; has_models: boolean }[]>`
    select now() as time, exists (select from ai_model) as has_models`
  if (!row) throw new Error('a select without a table answers one row')
  return {
    contract_version: '1',
    time: row.time,
    mode,
    event_namespace: eventNamespace,
    capabilities: { mail: mail.relay ? 'RELAY' : 'FOLDER', oauth: false, scim: false, ai: row.has_models, media: true },
    limits: {
      body_bytes: Math.min(largestBody.bytes, bodyLimitBytes),
      page_size: 200,
      idempotency_hours: 24,
      event_days: outboxDays,
    },
    locales: [...languages],
  }
}
