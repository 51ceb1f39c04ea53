/** Hosts that may have data of a person: what was sent there, the workspace's own records say. Spec: Keeping, 2, N5; GDPR art. 15, 19. */
import type { Ctx } from '../../kernel/transaction/context.ts'

export interface Recipient {
  readonly kind: 'WEBHOOK' | 'AI_MODEL' | 'PROVIDER'
  readonly host: string
}

export async function readRecipients(ctx: Ctx, tenantId: string, accountId: string | null): Promise<Recipient[]> {
  const { tx } = ctx
  const webhooks = await tx<
    { host: string }[]
  >`select distinct host from webhook where tenant_id = ${tenantId} order by host`
  const providers = await tx<{ issuer: string }[]>`
    select distinct issuer from connected_identity where tenant_id = ${tenantId} and account_id = ${accountId} order by issuer`
  const [choice] = await tx<{ model_id: string }[]>`select model_id from ai_choice where tenant_id = ${tenantId}`
  const models = choice
    ? await ctx.asInstallationOnce(
        () =>
          tx<{ base_url: string }[]>`select base_url from ai_model where id = ${choice.model_id} and kind <> 'NOOP'`,
      )
    : []
  const hostOf = (url: string) => URL.parse(url)?.host ?? url
  return [
    ...webhooks.map(({ host }) => ({ kind: 'WEBHOOK' as const, host })),
    ...models.map(({ base_url }) => ({ kind: 'AI_MODEL' as const, host: hostOf(base_url) })),
    ...providers.map(({ issuer }) => ({ kind: 'PROVIDER' as const, host: hostOf(issuer) })),
  ]
}
