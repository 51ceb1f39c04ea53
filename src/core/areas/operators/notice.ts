/** What the operators say to everybody: one text of the installation, for a time. Spec: people 3, A1 and A2; docs/decisions/0413. */
import type { Received } from '../../contract/operation.ts'
import type { InstallationNotice, noticeOperations as ops } from '../../contract/operators/notice.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { accountIdOf } from '../../kernel/values/actor.ts'

export const getNotice = (ctx: Ctx): Promise<InstallationNotice> => readNotice(ctx)

/** Needs the installation's role. */
export async function readNotice({ tx }: Pick<Ctx, 'tx'>): Promise<InstallationNotice> {
  const [row] = await tx<[InstallationNotice]>`
    select message, severity, starts_at as "from", ends_at as until, set_by, updated_at as set_at, version
    from installation_notice`
  return row
}

/** Refuses precondition.failed. */
export async function putNotice(ctx: Ctx, { body }: Received<typeof ops.putNotice>): Promise<InstallationNotice> {
  const { tx } = ctx
  await tx`select 1 from installation_notice for update`
  const before = await readNotice(ctx)
  ctx.unchanged(before.version)
  const { message, severity, from = null, until = null } = body
  const written = await tx`
    update installation_notice
    set message = ${message}, severity = ${severity}, starts_at = ${from}, ends_at = ${until},
        set_by = ${accountIdOf(ctx.actor) ?? null}, updated_at = now(), version = version + 1
    where (message, severity, starts_at, ends_at) is distinct from (${message}::text, ${severity}::text, ${from}::timestamptz, ${until}::timestamptz)`
  if (written.count === 0) return before
  await ctx.journal(
    message === null ? 'notice.cleared' : 'notice.set',
    null,
    message === null ? {} : { params: { severity } },
  )
  return readNotice(ctx)
}
