/**
 * The begin of an erasure, from which nothing leads back.
 *
 *    GRANTED, the wait over by two clocks ──begin──▶ the ledger has it, the account is ERASED ──sweep.ts──▶ the rest
 *
 * One transaction, behind the lock of the memberships: credentials end, names, addresses and roles go, and the obligation is in
 * the ledger before it commits. What a legal hold covers is copied into `erasure_held` first. An account that would leave the
 * workspace without an OWNER, or the register without an operator, waits. Spec: Keeping, 1 and 2; docs/decisions/0461.
 */
import type { Choices } from '../../../contract/privacy/requests.ts'
import { refuse } from '../../../contract/problem.ts'
import { holdOpen } from '../../../kernel/transaction/admission.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { newId } from '../../../kernel/values/id.ts'
import { lockMemberships } from '../../access/held-role.ts'
import { isInRegister } from '../../auth/token/ceiling.ts'
import { endCredentials, lockAccount } from '../../auth/token/ending.ts'
import { namesOf } from '../../erasure/mentions.ts'
import { codesOf } from '../../erasure/reading.ts'
import { atOnce } from '../../erasure/rules.ts'
import { statementOfRule } from '../../erasure/statement.ts'
import { undoEnded } from '../../erasure/undo.ts'
import { isOwner, keepAnOperator, keepAnOwner } from '../../memberships/last-owner.ts'
import { removeErasedOperator } from '../../operators/register.ts'
import { disableWebhooksOf } from '../../webhooks/disabling.ts'
import { heldNow, placeOf } from './place.ts'

export interface Erasing {
  readonly tenantId: string
  readonly accountId: string
  readonly requestId: string | null
  readonly choices: Choices
}

/** Answers the erasure's id; the one of before, if it has begun. Refuses not_found, membership.last_owner, admin.operator_last. */
export async function beginErasure(ctx: Ctx, erasing: Erasing): Promise<string> {
  const { tx } = ctx
  const { tenantId, accountId, requestId, choices } = erasing
  void holdOpen(tx, tenantId)
  await lockMemberships(ctx, tenantId)
  const begun = await findErasure(ctx, tenantId, accountId)
  await lockAccount(ctx, erasing)
  const [account] = await tx<{ display_name: string | null; sign_in_name: string | null; state: string }[]>`
    select display_name, sign_in_name, state from account where tenant_id = ${tenantId} and id = ${accountId}`
  if (begun && (!account || account.state === 'ERASED')) return begun
  if (!account) return refuse('not_found')
  await keepWhoMustStay(ctx, erasing)

  const addresses = await tx<{ email: string }[]>`
    select email from account_address where tenant_id = ${tenantId} and account_id = ${accountId} and removed_at is null
    union select email from account where tenant_id = ${tenantId} and id = ${accountId} and email is not null`
  const names = namesOf([account.display_name, account.sign_in_name, ...addresses.map(({ email }) => email)])
  await endCredentials(ctx, erasing, 'account_erased')
  const id = begun ?? newId()
  await tx`
    insert into erasure (tenant_id, id, account_id, request_id, choices, names)
    values (${tenantId}, ${id}, ${accountId}, ${requestId}, ${tx.json(choices)}, ${tx.json(names)})
    on conflict (tenant_id, id) do update
    set names = excluded.names, swept_at = null, listed_at = null, ended_at = null`
  const held = await heldNow(tx, erasing)
  for (const rule of atOnce) await tx`${statementOfRule(rule, placeOf(erasing), { erasureId: id, held })}`
  await disableWebhooksOf(ctx, tenantId, accountId)
  // Among the rows that a rewind replaced are the person's: nothing brings them back.
  void tx`${undoEnded(tx, tenantId)}`
  await ctx.record('work.account.erased', { id: accountId })
  ctx.recordObligation({ act: 'account.erased', tenant_id: tenantId, account_id: accountId, ...codesOf(choices) })
  return id
}

async function findErasure({ tx }: Ctx, tenantId: string, accountId: string): Promise<string | undefined> {
  const [row] = await tx<{ id: string }[]>`
    select id from erasure where tenant_id = ${tenantId} and account_id = ${accountId} for update`
  return row?.id
}

/** Refuses membership.last_owner, admin.operator_last. */
async function keepWhoMustStay(ctx: Ctx, { tenantId, accountId }: Erasing): Promise<void> {
  if (await isOwner(ctx, { tenantId, accountId })) await keepAnOwner(ctx, tenantId, accountId)
  if (!(await isInRegister(ctx, accountId))) return
  await keepAnOperator(ctx, accountId)
  await ctx.asInstallation(() => removeErasedOperator(ctx, tenantId, accountId))
}
