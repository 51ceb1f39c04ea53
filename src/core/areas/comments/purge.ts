/**
 * Purges the texts of deleted comments: with the deletion, or, where a legal hold covered one, some time after its release.
 *
 * A hold covers a comment by the whole workspace, by the container or its hub, by the item or one above it, or by the author.
 * Placing one waits for the workspace's changes under way, and these for it, so no text goes under a hold. What nobody
 * replies to loses its row; anything else keeps a row without text, mentions and reactions, until the last reply goes.
 * Spec: items 3 and 4, O4; docs/decisions/0225.
 */
import { z } from 'zod'
import { holdOpen } from '../../kernel/transaction/admission.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { firstId } from '../../kernel/transaction/page.ts'
import { defineJob } from '../../kernel/transaction/runnable-job.ts'
import { isCommentHeld } from '../items/trash/holds.ts'

interface Purged {
  readonly id: string
  readonly reply_to_id: string | null
}

/** The comments are deleted, and their items locked: no reply to them comes or goes meanwhile. */
export function purgeTexts({ tx }: Ctx, tenantId: string, comments: readonly Purged[]): void {
  const ids = tx.list(comments.map(({ id }) => id))
  const parents = comments.flatMap(({ reply_to_id }) => reply_to_id ?? [])
  // Replies first: a comment without any goes, too, if it was deleted before.
  if (parents.length > 0)
    void tx`delete from comment k where k.tenant_id = ${tenantId} and k.id in ${ids} and k.reply_to_id is not null`
  void tx`
    delete from comment k where k.tenant_id = ${tenantId} and k.deleted_at is not null
      and (k.id in ${ids} or k.id in ${tx.list(parents)} and k.body = '')
      and not exists (select from comment r where r.tenant_id = ${tenantId} and r.reply_to_id = k.id)`
  void tx`
    with emptied as (update comment set body = '', media_ids = '[]', mentioned_group_ids = '[]' where tenant_id = ${tenantId} and id in ${ids}),
      unmentioned as (delete from comment_mention where tenant_id = ${tenantId} and comment_id in ${ids})
    delete from comment_reaction where tenant_id = ${tenantId} and comment_id in ${ids}`
}

const purger = { kind: 'SYSTEM', job: 'purge_comments' } as const
/** Comments of one transaction, so that none lasts long. */
const portion = 100
/** Workspaces that one transaction looks at. */
const lookedAt = 200

/** Purges the texts whose hold was released. Killed anywhere, the next run goes on where it stopped. */
export const purgeComments = defineJob({
  name: 'purge_comments',
  payload: z.object({}).nullish(),
  retryLimit: 1,
  longestSeconds: 600,
  cron: '23 */6 * * *',
  async run(installation) {
    for (let after: string | undefined = firstId; after !== undefined; ) {
      const { workspaces, last } = await findKept(installation, after)
      for (const tenantId of workspaces) await purgeWorkspace(installation, tenantId)
      after = last
    }
  },
})

/** The active workspaces of one batch that keep texts of deleted comments; `last` is undefined after the last batch. */
function findKept(installation: Installation, after: string) {
  return installation.transaction(purger, { readOnly: true }, async (ctx) => {
    const tenants = await ctx.tx<{ id: string; state: string }[]>`
      select id, state from tenant where id > ${after}::uuid order by id limit ${lookedAt}`
    const found = new Set<string>()
    const active = tenants.filter(({ state }) => state === 'ACTIVE')
    await Promise.all(
      active.map(({ id }) =>
        ctx.inWorkspaceAtOnce(id, () => [hasKept(ctx, id).then((has) => (has ? found.add(id) : undefined))]),
      ),
    )
    return { workspaces: [...found], last: tenants.length < lookedAt ? undefined : tenants.at(-1)?.id }
  })
}

async function hasKept({ tx }: Ctx, tenantId: string): Promise<boolean> {
  const found = await tx`
    select 1 from comment where tenant_id = ${tenantId} and deleted_at is not null and body <> '' limit 1`
  return found.length > 0
}

async function purgeWorkspace(installation: Installation, tenantId: string): Promise<void> {
  for (let after: string | undefined = firstId; after !== undefined; ) {
    const from: string = after
    after = await installation.transaction(purger, { tenantId }, (ctx) => purgePortion(ctx, tenantId, from))
  }
}

/** Purges the first texts behind an id that no hold covers, and answers the last one's id; undefined if there are none. */
async function purgePortion(ctx: Ctx, tenantId: string, after: string): Promise<string | undefined> {
  const { tx } = ctx
  // No hold is placed before the commit.
  void holdOpen(tx, tenantId)
  const found = await tx<(Purged & { item_id: string })[]>`
    select k.id, k.reply_to_id, k.item_id from comment k
    where k.tenant_id = ${tenantId} and k.deleted_at is not null and k.body <> '' and k.id > ${after}::uuid
      and not ${isCommentHeld(tx, tenantId)}
    order by k.id limit ${portion}`
  if (found.length === 0) return undefined
  const items = [...new Set(found.map(({ item_id }) => item_id))]
  await tx`select 1 from item where tenant_id = ${tenantId} and id in ${tx.list(items)} order by id for no key update`

  purgeTexts(ctx, tenantId, found)
  return found.at(-1)?.id
}
