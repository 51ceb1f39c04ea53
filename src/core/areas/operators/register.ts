/**
 * The operator register: the accounts whose credentials may act on the installation.
 *
 *    no step-up ──▶ on probation ──its end, or entered again with a step-up──▶ full
 *    step-up, set-up, empty register, at the database ───────────────────────▶ full
 *
 * A register that has had an operator always keeps one that can act (can-act.ts). Every change
 * locks the whole register, so two operators who remove each other at the same moment cannot
 * both succeed.
 *
 * Locks follow one order: a workspace's row, then the register. Every change is mailed to the
 * operators (mail/operators.ts).
 *
 * Spec: Admin, rules 2 and 3; decisions 4, Operator; 7, Probation; docs/decisions/0130, 0132.
 */

import type { Answer, Received } from '../../contract/operation.ts'
import type { Operator, operatorOperations as ops } from '../../contract/operators/operations.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { isAccount } from '../../kernel/values/actor.ts'
import { accountSigningIn } from '../access/addresses.ts'
import { tellOperators } from '../mail/operators.ts'
import { canAct } from './can-act.ts'

interface Candidate {
  readonly account_id: string
  readonly workspace_id: string
  readonly slug: string
  readonly state: string
}

interface Entry {
  readonly account: Pick<Candidate, 'account_id' | 'workspace_id' | 'slug'>
  /** Null makes a full operator. */
  readonly probationUntil: string | null
}

interface Registered {
  readonly account_id: string
  readonly workspace_id: string
  readonly slug: string
  /** Null also after the probation has ended. */
  readonly probation_until: string | null
  readonly can_act: boolean
}

/** The register, in the order of entry. */
export async function listOperators(ctx: Ctx): Promise<Answer<typeof ops.listOperators>> {
  const data = await ctx.tx<Operator[]>`
    select o.account_id, a.display_name as name, a.email as address, coalesce(a.email, a.sign_in_name, a.display_name) as sign_in_name, a.kind,
           json_build_object('id', t.id, 'slug', t.slug) as workspace, o.added_at, o.added_by,
           case when o.probation_until > now() then o.probation_until end as probation_until
    from operator o
    join account a on a.tenant_id = o.workspace_id and a.id = o.account_id
    join tenant t on t.id = o.workspace_id
    order by o.added_at, o.account_id`
  return { data: [...data] }
}

/**
 * Enters an account: with a step-up as a full operator, without one on probation. For an account that is already
 * registered, a step-up ends the probation; without a step-up the call succeeds and changes nothing. While the
 * register is empty, the same statement also enters the caller, as a full operator.
 * Refuses not_found, admin.operator_not_active, admin.operator_on_probation.
 */
export async function addOperator(ctx: Ctx, { body }: Received<typeof ops.addOperator>): Promise<void> {
  const account = await findAccount(ctx, body)
  demandAdmitted(ctx, await lockRegister(ctx))
  if (!account) refuse('not_found')
  if (account.state !== 'ACTIVE') refuse('admin.operator_not_active')

  const caller = await callerToEnter(ctx, account)
  const isFirst = isAccount(ctx.actor) && !ctx.actor.isOperator && caller === undefined
  const probationUntil = isFirst ? null : await endOfProbation(ctx)
  await enter(ctx, [...(caller ? [{ account: caller, probationUntil: null }] : []), { account, probationUntil }])
}

/** Enters an account that a rewind of the database took away, as it was. Refuses not_found, admin.operator_not_active. */
export async function addOperatorAgain(ctx: Ctx, accountId: string, probationUntil: string | null): Promise<void> {
  const account = await findAccount(ctx, { account_id: accountId })
  await lockRegister(ctx)
  if (!account) refuse('not_found')
  if (account.state !== 'ACTIVE') refuse('admin.operator_not_active')

  await enter(ctx, [{ account, probationUntil }])
}

/** Writes the entries. For each that changes the register: a journal entry, mails and an obligation. */
async function enter(ctx: Ctx, entries: readonly Entry[]): Promise<void> {
  const rows = entries.map(({ account, probationUntil }) => ({
    account_id: account.account_id,
    workspace_id: account.workspace_id,
    added_by: isAccount(ctx.actor) ? ctx.actor.accountId : null,
    probation_until: probationUntil,
  }))
  const entered = await ctx.tx<{ account_id: string }[]>`
    insert into operator ${ctx.tx.rows(rows, 'account_id', 'workspace_id', 'added_by', 'probation_until')}
    on conflict (account_id) do update set probation_until = null
    where operator.probation_until > now() and excluded.probation_until is null
    returning account_id`

  for (const { account, probationUntil } of entries) {
    const { account_id, workspace_id } = account
    if (!entered.some((row) => row.account_id === account_id)) continue
    const probation = probationUntil === null ? {} : { probation_until: probationUntil }
    const notice = await ctx.journal(
      'operator.added',
      { id: workspace_id, slug: account.slug },
      { subject: { kind: 'account', id: account_id }, params: probation },
    )
    await tellOperators(ctx, 'operator_added', notice)
    ctx.recordObligation({ act: 'operator.added', tenant_id: workspace_id, account_id, ...probation })
  }
}

/** Removes an account; its next call is refused. Refuses admin.operator_not_registered, admin.operator_last, admin.operator_on_probation. */
export async function removeOperator(ctx: Ctx, { accountId }: Received<typeof ops.removeOperator>): Promise<void> {
  const register = await lockRegister(ctx)
  const gone = register.find((operator) => operator.account_id === accountId)
  // First: if the last two operators remove each other, the later one gets this refusal, not `operator_required`.
  if (!isKept(register, (operator) => operator === gone)) refuse('admin.operator_last')
  demandAdmitted(ctx, register)
  if (!gone) refuse('admin.operator_not_registered')

  const notice = await ctx.journal(
    'operator.removed',
    { id: gone.workspace_id, slug: gone.slug },
    { subject: { kind: 'account', id: accountId } },
  )
  // Before the row is deleted: the removed operator gets the mail too.
  await tellOperators(ctx, 'operator_removed', notice)
  await ctx.tx`delete from operator where account_id = ${accountId}`
  ctx.recordObligation({ act: 'operator.removed', tenant_id: gone.workspace_id, account_id: accountId })
}

/** Locks the register until the commit and reads it. The lock is the installation's row: the register may be empty. */
async function lockRegister(ctx: Ctx): Promise<readonly Registered[]> {
  await ctx.tx`select 1 from installation for update`
  return ctx.tx<Registered[]>`
    select o.account_id, o.workspace_id, t.slug, case when o.probation_until > now() then o.probation_until end as probation_until,
           coalesce(${canAct(ctx.tx)}, false) as can_act
    from operator o
    join tenant t on t.id = o.workspace_id
    left join account a on a.tenant_id = o.workspace_id and a.id = o.account_id`
}

/**
 * Checks the caller again under the lock. After the gate, the caller may have been removed or put on probation, or the
 * empty register may have been filled.
 */
function demandAdmitted({ actor }: Ctx, register: readonly Registered[]): void {
  if (!isAccount(actor)) return
  const own = register.find((operator) => operator.account_id === actor.accountId)
  if (own?.probation_until) refuse('admin.operator_on_probation', { until: own.probation_until })
  if (!own && (register.length > 0 || actor.isOperator)) refuse('admin.operator_required')
}

/** Whether an operator that can act stays. If none could act before: whether any operator stays. */
function isKept(register: readonly Registered[], goes: (operator: Registered) => boolean): boolean {
  const stay = register.filter((operator) => !goes(operator))
  if (stay.length === register.length || stay.some((operator) => operator.can_act)) return true
  return stay.length > 0 && !register.some((operator) => operator.can_act)
}

/** Whether an operator that can act stays without the workspace's accounts. Locks the register until the commit. */
export const isRegisterKeptWithout = async (ctx: Ctx, tenantId: string): Promise<boolean> =>
  isKept(await lockRegister(ctx), ({ workspace_id }) => workspace_id === tenantId)

/**
 * Removes the accounts of a workspace that is purged, and mails only the operators that stay: a mail to the
 * workspace's own accounts would outlive the workspace. `isRegisterKeptWithout` must hold.
 */
export async function removeOperatorsOf(
  ctx: Ctx,
  tenant: { readonly id: string; readonly slug: string },
): Promise<void> {
  const gone = await ctx.tx<{ account_id: string }[]>`
    delete from operator where workspace_id = ${tenant.id} returning account_id`
  for (const { account_id } of gone) {
    const notice = await ctx.journal('operator.removed', tenant, { subject: { kind: 'account', id: account_id } })
    await tellOperators(ctx, 'operator_removed', notice)
    ctx.recordObligation({ act: 'operator.removed', tenant_id: tenant.id, account_id })
  }
}

/** Removes the account of a person who is forgotten; it is told by the mail of its request. `keepAnOperator` must hold. */
export async function removeErasedOperator(ctx: Ctx, tenantId: string, accountId: string): Promise<void> {
  const [tenant] = await ctx.tx<{ id: string; slug: string }[]>`select id, slug from tenant where id = ${tenantId}`
  const gone = await ctx.tx`delete from operator where account_id = ${accountId}`
  if (gone.count === 0) return
  await ctx.tx`update operator set added_by = null where added_by = ${accountId}`
  const notice = await ctx.journal('operator.removed', tenant ?? null, { subject: { kind: 'account', id: accountId } })
  await tellOperators(ctx, 'operator_removed', notice)
  ctx.recordObligation({ act: 'operator.removed', tenant_id: tenantId, account_id: accountId })
}

/** The end of a probation that begins now; null if the call makes a full operator. */
async function endOfProbation({ tx, actor, config }: Ctx): Promise<string | null> {
  if (!isAccount(actor) || actor.isProven) return null
  const [end] = await tx<{ until: string }[]>`
    select now() + make_interval(hours => ${config.operatorProbationHours}) as until`
  return end?.until ?? null
}

/** Finds the named account. Its workspace's row cannot be deleted or suspended until the commit. */
async function findAccount(
  ctx: Ctx,
  { account_id, workspace, email }: Received<typeof ops.addOperator>['body'],
): Promise<Candidate | undefined> {
  if (account_id !== undefined) {
    if (workspace !== undefined || email !== undefined)
      refuseMember('/account_id', 'member.conflicts', { with: ['workspace', 'email'] })
    const [byId] = await ctx.tx<Candidate[]>`
      select a.id as account_id, a.tenant_id as workspace_id, t.slug, a.state from account a join tenant t on t.id = a.tenant_id where a.id = ${account_id} for key share of t`
    return byId
  }
  if (workspace === undefined) refuseMember('/workspace', 'member.required')
  if (email === undefined) refuseMember('/email', 'member.required')
  const [byAddress] = await ctx.tx<Candidate[]>`
    select a.id as account_id, a.tenant_id as workspace_id, t.slug, a.state from tenant t
    join account a on a.tenant_id = t.id and a.id = ${accountSigningIn(ctx.tx, ctx.tx.part`t.id`, email)} where t.slug = ${workspace} for key share of t`
  return byAddress
}

/** The caller, if it is not in the register yet. The gate admits such a caller only while the register is empty. */
async function callerToEnter(ctx: Ctx, account: Candidate): Promise<Candidate | undefined> {
  const { actor } = ctx
  if (!isAccount(actor) || actor.isOperator || actor.accountId === account.account_id) return undefined
  const [tenant] = await ctx.tx<{ slug: string }[]>`select slug from tenant where id = ${actor.tenantId}`
  return { account_id: actor.accountId, workspace_id: actor.tenantId, slug: tenant?.slug ?? '', state: 'ACTIVE' }
}
