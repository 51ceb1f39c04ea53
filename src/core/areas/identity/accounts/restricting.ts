/**
 * The restriction of an account: it is stored, and nothing else is done with it, until it ends.
 *
 *    free ──restricted, with a ground──▶ restricted ──not restricted──▶ free, and the person is mailed
 *
 * What that means for a name, a search, an assignment or a mail is asked of one place (areas/access/restriction.ts). Both acts are
 * in the ledger, of which the last counts: no rewind ends a restriction. Spec: Keeping, 2, N6; docs/decisions/0474.
 */
import type { Answer, Received } from '../../../contract/operation.ts'
import type {
  AccountRestriction,
  restrictionOperations as ops,
  RestrictionGround,
} from '../../../contract/privacy/restriction.ts'
import { refuse, refuseMember } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { accountIdOf } from '../../../kernel/values/actor.ts'
import { tellAccount } from '../../mail/jobs.ts'

/** Refuses not_found, auth.role_required, admin.operator_required, precondition.failed, request.invalid, privacy.person_only. */
export async function setAccountRestriction(
  ctx: Ctx,
  { accountId, body: { restricted, ground, request_id } }: Received<typeof ops.setAccountRestriction>,
): Promise<Answer<typeof ops.setAccountRestriction>> {
  const { tenantId } = ctx.account
  if (restricted && ground === undefined) refuseMember('/ground', 'member.required')
  if (!restricted && ground !== undefined) refuseMember('/ground', 'member.unknown')
  const { version } = await lockPerson(ctx, tenantId, accountId)
  ctx.unchanged(version)
  return restrictAccount(ctx, { tenantId, accountId, ground: ground ?? null, requestId: request_id })
}

interface Restricting {
  readonly tenantId: string
  readonly accountId: string
  /** Null ends it. */
  readonly ground: RestrictionGround | null
  readonly requestId?: string | undefined
}

/**
 * Restricts an account, or ends that; what is so already stays as it is. For a request, a job and a recovery as well: the
 * workspace's role is in force. Refuses not_found, privacy.person_only.
 */
export async function restrictAccount(ctx: Ctx, asked: Restricting): Promise<AccountRestriction> {
  const { tenantId, accountId, ground } = asked
  const { version } = await lockPerson(ctx, tenantId, accountId)
  const held = await findRestriction(ctx, tenantId, accountId)
  if ((held?.ground ?? null) === ground) return answered(accountId, version, held)
  return ground === null ? free(ctx, asked) : restrict(ctx, asked, ground)
}

interface Held {
  readonly ground: RestrictionGround
  readonly since: string
  readonly by: string | null
}

const answered = (account_id: string, version: number, held: Held | undefined): AccountRestriction => ({
  ...{ account_id, is_restricted: held !== undefined, version },
  ...{ ground: held?.ground ?? null, since: held?.since ?? null, by: held?.by ?? null },
})

async function lockPerson({ tx }: Ctx, tenantId: string, accountId: string): Promise<{ readonly version: number }> {
  const [row] = await tx<{ kind: string; version: number }[]>`
    select kind, version from account
    where tenant_id = ${tenantId} and id = ${accountId} and state <> 'ERASED' for no key update`
  if (!row) refuse('not_found')
  if (row.kind !== 'PERSON') refuse('privacy.person_only')
  return row
}

async function findRestriction({ tx }: Ctx, tenantId: string, accountId: string): Promise<Held | undefined> {
  const [row] = await tx<Held[]>`
    select ground, since, set_by as by from account_restriction where tenant_id = ${tenantId} and account_id = ${accountId}`
  return row
}

async function restrict(ctx: Ctx, asked: Restricting, ground: RestrictionGround): Promise<AccountRestriction> {
  const { tx } = ctx
  const { tenantId, accountId, requestId = null } = asked
  const [held] = await tx<Held[]>`
    insert into account_restriction (tenant_id, account_id, ground, set_by, request_id)
    values (${tenantId}, ${accountId}, ${ground}, ${accountIdOf(ctx.actor)}, ${requestId})
    on conflict (tenant_id, account_id) do update
      set ground = excluded.ground, set_by = excluded.set_by, request_id = excluded.request_id
    returning ground, since, set_by as by`
  const version = await touch(ctx, tenantId, accountId)
  await ctx.record('identity.account.restricted', { id: accountId, ground }, { ground })
  ctx.recordObligation({ act: 'account.restricted', tenant_id: tenantId, account_id: accountId, ground })
  return answered(accountId, version, held)
}

/** The person is told with it: the mail is queued before the end is committed, and no end is told of that did not come. */
async function free(ctx: Ctx, { tenantId, accountId }: Restricting): Promise<AccountRestriction> {
  const { tx } = ctx
  void tx`delete from account_restriction where tenant_id = ${tenantId} and account_id = ${accountId}`
  const version = await touch(ctx, tenantId, accountId)
  const noticeId = await ctx.record('identity.account.unrestricted', { id: accountId })
  await tellAccount(ctx, { tenantId, accountId, noticeId, name: 'restriction_ended', at: await ctx.now() })
  ctx.recordObligation({ act: 'account.unrestricted', tenant_id: tenantId, account_id: accountId })
  return answered(accountId, version, undefined)
}

/**
 * While a legal hold keeps parts of an erased account, these are restricted as data that are kept for claims. Nobody reads
 * them, and no line of the ledger tells of it: the erasure, which has its own, comes to the same after a recovery.
 */
export async function restrictRemains(
  { tx }: Ctx,
  of: {
    readonly tenantId: string
    readonly accountId: string
    readonly requestId: string | null
    readonly isKept: boolean
  },
): Promise<void> {
  const { tenantId, accountId, requestId, isKept } = of
  if (!isKept) await tx`delete from account_restriction where tenant_id = ${tenantId} and account_id = ${accountId}`
  else
    await tx`
      insert into account_restriction (tenant_id, account_id, ground, request_id)
      values (${tenantId}, ${accountId}, 'CLAIMS', ${requestId})
      on conflict (tenant_id, account_id) do update set ground = excluded.ground, request_id = excluded.request_id`
}

async function touch({ tx }: Ctx, tenantId: string, accountId: string): Promise<number> {
  const [row] = await tx<{ version: number }[]>`
    update account set updated_at = now(), version = version + 1 where tenant_id = ${tenantId} and id = ${accountId} returning version`
  if (!row) throw new Error('an account that is locked is there')
  return row.version
}
