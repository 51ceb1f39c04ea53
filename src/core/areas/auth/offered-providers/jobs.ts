/**
 * Jobs of offered providers: the end of an offer, and telling the workspaces that rely on it. Spec: Offered identity
 * provider.
 */
import { z } from 'zod'
import { installationScope, moment } from '../../../contract/vocabulary.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { defineJob } from '../../../kernel/transaction/runnable-job.ts'
import { tellAdministrators } from '../../mail/jobs.ts'

/** Workspaces told in one transaction. */
const batch = 200

/** Writes the notice into the trail of each workspace that has the provider switched on, and queues the mails. */
export const tellWorkspaces = defineJob({
  name: 'tell_workspaces',
  payload: z.object({
    providerId: z.guid(),
    name: z.enum(['provider_withdrawn', 'provider_ended', 'provider_restored']),
    at: moment,
    /** The last workspace of the previous batch. */
    after: z.guid().optional(),
  }),
  retryLimit: 5,
  async run(installation, payload) {
    await installation.transaction({ kind: 'SYSTEM', job: 'tell_workspaces' }, {}, async (ctx) => {
      const [provider] = await ctx.tx<{ shown_as: string }[]>`
        select coalesce(display_name, issuer) as shown_as from identity_provider
        where tenant_id = ${installationScope} and id = ${payload.providerId}`
      if (!provider) return
      const on = await workspacesAfter(ctx, payload.providerId, payload.after)
      for (const tenantId of on) await tellWorkspace(ctx, tenantId, payload, provider.shown_as)
      const after = on.at(-1)
      if (on.length === batch && after !== undefined) await ctx.enqueue(tellWorkspaces, { ...payload, after })
    })
  },
})

async function workspacesAfter(ctx: Ctx, providerId: string, after: string | undefined): Promise<string[]> {
  const rows = await ctx.tx<{ tenant_id: string }[]>`
    select tenant_id from provider_switch where provider_id = ${providerId} and tenant_id > ${after ?? installationScope}::uuid
    order by tenant_id limit ${batch}`
  return rows.map(({ tenant_id }) => tenant_id)
}

interface Telling {
  readonly providerId: string
  readonly name: 'provider_withdrawn' | 'provider_ended' | 'provider_restored'
  readonly at: string
}

async function tellWorkspace(ctx: Ctx, tenantId: string, { providerId, name, at }: Telling, shownAs: string) {
  const noticeId = await ctx.inWorkspace(tenantId, () =>
    ctx.audit(name.replace('provider_', 'identity_provider.'), {
      subject: { kind: 'identity_provider', id: providerId },
      params: { provider: shownAs, at },
    }),
  )
  await ctx.enqueue(tellAdministrators, { tenantId, noticeId, name, at })
}

/** Records that an offer has ended, so that a clock that jumps back does not reopen it, and tells the workspaces. */
export const endOffer = defineJob({
  name: 'end_offer',
  payload: z.object({ providerId: z.guid() }),
  retryLimit: 5,
  async run(installation, { providerId }) {
    await installation.transaction({ kind: 'SYSTEM', job: 'end_offer' }, {}, (ctx) => noteEnd(ctx, providerId))
  },
})

async function noteEnd(ctx: Ctx, providerId: string): Promise<void> {
  const [ended] = await ctx.tx<{ withdraw_at: string }[]>`
    update identity_provider set ended_at = now(), version = version + 1
    where tenant_id = ${installationScope} and id = ${providerId} and ended_at is null and withdraw_at <= now()
    returning withdraw_at`
  if (!ended) return
  await ctx.journal('identity_provider.ended', null, { subject: { kind: 'identity_provider', id: providerId } })
  await ctx.enqueue(tellWorkspaces, { providerId, name: 'provider_ended', at: ended.withdraw_at })
}

/**
 * Looks every minute for offers that are due. This replaces a job that was lost, or that ran too early by a fast clock.
 */
export const endDueOffers = defineJob({
  name: 'end_due_offers',
  payload: z.object({}).nullish(),
  retryLimit: 0,
  cron: '* * * * *',
  async run(installation) {
    await installation.transaction({ kind: 'SYSTEM', job: 'end_due_offers' }, {}, async (ctx) => {
      const due = await ctx.tx<{ id: string }[]>`
        select id from identity_provider
        where tenant_id = ${installationScope} and withdraw_at <= now() and ended_at is null order by id limit 100 for update skip locked`
      for (const { id } of due) await noteEnd(ctx, id)
    })
  },
})
