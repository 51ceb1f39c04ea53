/**
 * The operator register: whose credentials may act on the installation.
 *
 * It is never empty once it has held somebody: removals lock the whole register, so two
 * operators who remove each other at the same moment cannot both succeed.
 *
 * Spec: Admin, rules 2 and 3; decisions 4, Operator.
 */
import { isAccount } from '../../actor.ts'
import type { Ctx } from '../../context.ts'
import { fold } from '../../fold.ts'
import type { Answer, Received } from '../../operation.ts'
import { refuse, refuseMember } from '../../problem.ts'
import type { Operator, operatorOperations as ops } from './contract.ts'

interface Candidate {
  readonly account_id: string
  readonly workspace_id: string
  readonly slug: string
  readonly state: string
}

/** The register, in the order of entry. */
export async function listOperators(ctx: Ctx): Promise<Answer<typeof ops.listOperators>> {
  const data = await ctx.tx<Operator[]>`
    select o.account_id, a.display_name as name, a.email as address, coalesce(a.email, a.display_name) as sign_in_name, a.kind,
           json_build_object('id', t.id, 'slug', t.slug) as workspace, o.added_at, o.added_by
    from operator o
    join account a on a.tenant_id = o.workspace_id and a.id = o.account_id
    join tenant t on t.id = o.workspace_id
    order by o.added_at, o.account_id`
  return { data: [...data] }
}

/**
 * Enters an account; one that is there already is no error. While the register is empty
 * the caller is entered by the same statement. Refuses not_found, admin.operator_not_active.
 */
export async function addOperator(ctx: Ctx, { body }: Received<typeof ops.addOperator>): Promise<void> {
  demandAdmitted(ctx, await lockRegister(ctx))
  const account = await findAccount(ctx, body)
  if (!account) refuse('not_found')
  if (account.state !== 'ACTIVE') refuse('admin.operator_not_active')

  const caller = await callerToEnter(ctx, account)
  const entering = caller ? [caller, account] : [account]
  const rows = entering.map(({ account_id, workspace_id }) => ({
    account_id,
    workspace_id,
    added_by: isAccount(ctx.actor) ? ctx.actor.accountId : null,
  }))
  const entered = await ctx.tx<{ account_id: string }[]>`
    insert into operator ${ctx.tx.rows(rows, 'account_id', 'workspace_id', 'added_by')}
    on conflict (account_id) do nothing returning account_id`

  for (const { account_id } of entered) {
    const { workspace_id, slug } = entering.find((entry) => entry.account_id === account_id) ?? account
    await ctx.journal('operator.added', { id: workspace_id, slug }, { subject: { kind: 'account', id: account_id } })
    ctx.oblige({ act: 'operator.added', tenant_id: workspace_id, account_id })
  }
}

/** Removes an account; its next call is refused. Refuses admin.operator_not_registered, admin.operator_last. */
export async function removeOperator(ctx: Ctx, { accountId }: Received<typeof ops.removeOperator>): Promise<void> {
  const register = await lockRegister(ctx)
  // First, so that of the last two who remove each other the later one learns why, and not that he is none any more.
  if (register.length === 1 && register.includes(accountId)) refuse('admin.operator_last')
  demandAdmitted(ctx, register)
  if (!register.includes(accountId)) refuse('admin.operator_not_registered')

  const [gone] = await ctx.tx<{ workspace_id: string; slug: string }[]>`
    delete from operator o using tenant t where o.account_id = ${accountId} and t.id = o.workspace_id
    returning o.workspace_id, t.slug`
  if (!gone) return
  await ctx.journal(
    'operator.removed',
    { id: gone.workspace_id, slug: gone.slug },
    { subject: { kind: 'account', id: accountId } },
  )
  ctx.oblige({ act: 'operator.removed', tenant_id: gone.workspace_id, account_id: accountId })
}

/** Everybody in the register, while nobody else can change it: the installation's one row is its lock, even when it is empty. */
async function lockRegister(ctx: Ctx): Promise<string[]> {
  await ctx.tx`select 1 from installation for update`
  const rows = await ctx.tx<{ account_id: string }[]>`select account_id from operator`
  return rows.map((row) => row.account_id)
}

/** The gate let the caller in before the lock: somebody may have removed him, or filled the empty register, since. */
function demandAdmitted({ actor }: Ctx, register: readonly string[]): void {
  const isAdmitted =
    !isAccount(actor) || register.includes(actor.accountId) || (register.length === 0 && !actor.isOperator)
  if (!isAdmitted) refuse('admin.operator_required')
}

/** Whether the register would still hold somebody without the workspace's accounts; nobody can change it before the commit. */
export async function isRegisterKeptWithout(ctx: Ctx, tenantId: string): Promise<boolean> {
  await lockRegister(ctx)
  const [register] = await ctx.tx<{ count: number; leaving: number }[]>`
    select count(*)::int as count, (count(*) filter (where workspace_id = ${tenantId}))::int as leaving from operator`
  return register === undefined || register.leaving === 0 || register.leaving < register.count
}

/** Removes the accounts of a workspace that goes, and forgets whom they entered. The register must be kept without them. */
export async function removeOperatorsOf(
  ctx: Ctx,
  tenant: { readonly id: string; readonly slug: string },
): Promise<void> {
  const gone = await ctx.tx<{ account_id: string }[]>`
    delete from operator where workspace_id = ${tenant.id} returning account_id`
  for (const { account_id } of gone) {
    await ctx.journal('operator.removed', tenant, { subject: { kind: 'account', id: account_id } })
    ctx.oblige({ act: 'operator.removed', tenant_id: tenant.id, account_id })
  }
}

async function findAccount(
  ctx: Ctx,
  { account_id, workspace, email }: Received<typeof ops.addOperator>['body'],
): Promise<Candidate | undefined> {
  if (account_id !== undefined) {
    if (workspace !== undefined || email !== undefined)
      refuseMember('/account_id', 'member.conflicts', { with: ['workspace', 'email'] })
    const [byId] = await ctx.tx<Candidate[]>`
      select a.id as account_id, a.tenant_id as workspace_id, t.slug, a.state from account a join tenant t on t.id = a.tenant_id where a.id = ${account_id}`
    return byId
  }
  if (workspace === undefined) refuseMember('/workspace', 'member.required')
  if (email === undefined) refuseMember('/email', 'member.required')
  const [byAddress] = await ctx.tx<Candidate[]>`
    select a.id as account_id, a.tenant_id as workspace_id, t.slug, a.state from tenant t
    join account a on a.tenant_id = t.id and a.email_fold = ${fold(email)} where t.slug = ${workspace}`
  return byAddress
}

/** The caller, where he is not in the register yet: only an empty one lets him this far. */
async function callerToEnter(ctx: Ctx, account: Candidate): Promise<Candidate | undefined> {
  const { actor } = ctx
  if (!isAccount(actor) || actor.isOperator || actor.accountId === account.account_id) return undefined
  const [tenant] = await ctx.tx<{ slug: string }[]>`select slug from tenant where id = ${actor.tenantId}`
  return { account_id: actor.accountId, workspace_id: actor.tenantId, slug: tenant?.slug ?? '', state: 'ACTIVE' }
}
