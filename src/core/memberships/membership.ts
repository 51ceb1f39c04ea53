/**
 * Memberships: granted, changed, taken away.
 *
 *    none ──grant──▶ a role on the workspace or in a container ──grant──▶ another role
 *                                   └──remove──▶ none
 *
 * Nobody grants more than he has in that place, nor touches what somebody above him has. The
 * workspace keeps an OWNER who can sign in. Changes of one workspace take turns behind a lock, so
 * that of two OWNERs who remove each other one stays.
 *
 * Elsewhere: what a role lets an account see (containers/access.ts), and where it is asked for
 * (gate.ts): both read the rows at each request. Spec: Index, Identity; decisions 2; decision 0101.
 */

import { account } from '../auth/session.ts'
import { findVisibleContainer, visibleContainerIds } from '../containers/access.ts'
import type { Ctx } from '../context.ts'
import { lockClasses } from '../database/lock-classes.ts'
import type { EventName } from '../events.ts'
import { newId } from '../id.ts'
import type { Answer, Received } from '../operation.ts'
import { firstId, pageOfRows, pageStart } from '../page.ts'
import { refuse, refuseMember } from '../problem.ts'
import { type Role, rankOf } from '../schema.ts'
import { disableWebhooksOf } from '../webhooks/disabling.ts'
import type { Membership, membershipOperations as ops } from './contract.ts'

/** Refuses cursor.invalid. */
export async function listMemberships(
  ctx: Ctx,
  { account_id, container_id, cursor, size }: Received<typeof ops.listMemberships>,
): Promise<Answer<typeof ops.listMemberships>> {
  const list = { operation: 'listMemberships', filters: { account_id, container_id } }
  const { tenantId, isGuest } = account(ctx)
  const after = pageStart(ctx, list, cursor)
  const { tx } = ctx
  const rows = await tx.last<Membership[]>`
    select m.id, m.account_id, m.container_id, m.role, m.created_at, m.updated_at, m.version from membership m
    where m.tenant_id = ${tenantId} and m.id > ${after ?? firstId}::uuid
      ${account_id === undefined ? tx.part`` : tx.part`and m.account_id = ${account_id}`}
      ${container_id === undefined ? tx.part`` : tx.part`and m.container_id = ${container_id}`}
      and ((m.container_id is null and not ${isGuest === true}) or m.container_id in (${visibleContainerIds(ctx)}))
    order by m.id limit ${size + 1}`
  return pageOfRows(ctx, list, rows, size)
}

/** Refuses request.invalid, auth.role_required, membership.last_owner. */
export async function grantMembership(
  ctx: Ctx,
  { body }: Received<typeof ops.grantMembership>,
): Promise<Answer<typeof ops.grantMembership>> {
  const { tenantId } = account(ctx)
  await lockMemberships(ctx, tenantId)
  const mine = await roleAt(ctx, body.container_id ?? null)
  if (mine === undefined) refuseMember('/container_id', 'reference.unknown')
  demand(mine, 'ADMIN')
  demand(mine, body.role)
  const place = { account_id: body.account_id, container_id: body.container_id ?? null, role: body.role }
  if (!(await isAccountHere(ctx, tenantId, body.account_id))) refuseMember('/account_id', 'reference.unknown')

  const held = await findMembership(ctx, tenantId, place)
  if (!held) return addMembership(ctx, place)
  if (held.role === body.role) return held
  demand(mine, held.role)
  await keepAnOwner(ctx, tenantId, held)
  const [changed] = await ctx.tx<Membership[]>`
    update membership set role = ${body.role}, updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${held.id} returning ${columns(ctx)}`
  if (!changed) refuse('not_found')
  await record(ctx, 'identity.membership.changed', changed, { from: held.role })
  return changed
}

/** Refuses not_found, auth.role_required, precondition.failed, membership.last_owner. */
export async function removeMembership(
  ctx: Ctx,
  { membershipId }: Received<typeof ops.removeMembership>,
): Promise<void> {
  const { tenantId } = account(ctx)
  await lockMemberships(ctx, tenantId)
  const [held] = await ctx.tx<Membership[]>`
    select ${columns(ctx)} from membership where tenant_id = ${tenantId} and id = ${membershipId}`
  const mine = held && (await roleAt(ctx, held.container_id))
  if (!held || mine === undefined) refuse('not_found')
  demand(mine, 'ADMIN')
  demand(mine, held.role)
  ctx.unchanged(held.version)
  await keepAnOwner(ctx, tenantId, held)

  await ctx.tx`delete from membership where tenant_id = ${tenantId} and id = ${held.id}`
  const containers = held.container_id === null ? await leaveContainers(ctx, tenantId, held.account_id) : 0
  await disableWebhooksOf(ctx, tenantId, held.account_id)

  await record(ctx, 'identity.membership.removed', held, containers > 0 ? { containers } : {})
}

/** A membership that nobody has to allow: that of whoever creates a container. */
export async function addMembership(
  ctx: Ctx,
  granted: Pick<Membership, 'account_id' | 'container_id' | 'role'>,
): Promise<Membership> {
  const { tenantId } = account(ctx)
  const [membership] = await ctx.tx<Membership[]>`
    insert into membership (tenant_id, id, account_id, container_id, role)
    values (${tenantId}, ${newId()}, ${granted.account_id}, ${granted.container_id}, ${granted.role}) returning ${columns(ctx)}`
  if (!membership) throw new Error('an insert answers its row')
  await record(ctx, 'identity.membership.granted', membership)
  return membership
}

const columns = ({ tx }: Ctx) => tx.part`id, account_id, container_id, role, created_at, updated_at, version`

const lockMemberships = ({ tx }: Ctx, tenantId: string) =>
  tx`select pg_advisory_xact_lock(${lockClasses.memberships}, hashtext(${tenantId}))`

/** The caller's role on the workspace or in a container; undefined where he does not see the place. */
async function roleAt(ctx: Ctx, containerId: string | null): Promise<Role | undefined> {
  if (containerId !== null) return (await findVisibleContainer(ctx, containerId))?.role
  const { role, isGuest } = account(ctx)
  return isGuest ? undefined : role
}

function demand(mine: Role, role: Role): void {
  if (rankOf[mine] < rankOf[role]) refuse('auth.role_required', { role })
}

async function isAccountHere({ tx }: Ctx, tenantId: string, accountId: string): Promise<boolean> {
  return (await tx`select 1 from account where tenant_id = ${tenantId} and id = ${accountId}`).length === 1
}

async function findMembership(
  ctx: Ctx,
  tenantId: string,
  { account_id, container_id }: Pick<Membership, 'account_id' | 'container_id'>,
): Promise<Membership | undefined> {
  const { tx } = ctx
  const place = container_id === null ? tx.part`container_id is null` : tx.part`container_id = ${container_id}`
  const [row] = await tx<Membership[]>`
    select ${columns(ctx)} from membership where tenant_id = ${tenantId} and account_id = ${account_id} and ${place}`
  return row
}

/** Somebody must be left who can give the workspace its next OWNER. */
async function keepAnOwner({ tx }: Ctx, tenantId: string, leaving: Membership): Promise<void> {
  if (leaving.container_id !== null || leaving.role !== 'OWNER') return
  const [other] = await tx`
    select 1 from membership m join account a on a.tenant_id = m.tenant_id and a.id = m.account_id and a.state = 'ACTIVE'
    where m.tenant_id = ${tenantId} and m.container_id is null and m.role = 'OWNER' and m.id <> ${leaving.id} limit 1`
  if (!other) refuse('membership.last_owner')
}

async function leaveContainers({ tx }: Ctx, tenantId: string, accountId: string): Promise<number> {
  const left = await tx`
    delete from membership where tenant_id = ${tenantId} and account_id = ${accountId} and container_id is not null`
  return left.count
}

const record = (
  ctx: Ctx,
  event: Extract<EventName, `identity.membership.${string}`>,
  membership: Membership,
  more: Readonly<Record<string, unknown>> = {},
) =>
  Promise.all([
    ctx.audit(event.slice('identity.'.length), {
      subject: { kind: 'membership', id: membership.id },
      params: {
        account_id: membership.account_id,
        container_id: membership.container_id,
        role: membership.role,
        ...more,
      },
    }),
    ctx.emit({ name: event, subject: `/memberships/${membership.id}`, data: membership }),
  ])
