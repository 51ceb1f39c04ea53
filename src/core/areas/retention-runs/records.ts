/**
 * Records that have ended: tokens and sessions that were revoked, except those of an account that a legal hold covers.
 * Spec: Keeping, 4, RECORDS.
 */
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Taken } from './taken.ts'

/** Removes as many of them as named, at most; a session behind its tokens. The run is locked: nobody else removes them now. */
export async function takeRecords(ctx: Ctx, tenantId: string, before: string, size: number): Promise<Taken> {
  const { tx } = ctx
  const holds = await tx<{ account_id: string }[]>`
    select scope_id as account_id from legal_hold
    where tenant_id = ${tenantId} and released_at is null and scope_kind = 'ACCOUNT'`
  const held = tx.list(holds.map(({ account_id }) => account_id))
  const isFree = holds.length === 0 ? tx.part`true` : tx.part`account_id not in ${held}`
  const tokens = await tx<{ id: string }[]>`
    select id from credential
    where tenant_id = ${tenantId} and revoked_at <= ${before}::timestamptz and ${isFree}
    order by revoked_at, id limit ${size}`
  await tx`delete from credential where tenant_id = ${tenantId} and id in ${tx.list(tokens.map(({ id }) => id))}`
  if (tokens.length === size) return { removed: size, held: 0, isMore: true }
  const sessions = await tx<{ id: string }[]>`
    select s.id from session s
    where s.tenant_id = ${tenantId} and s.revoked_at <= ${before}::timestamptz and ${isFree}
      and not exists (select from credential c where c.tenant_id = ${tenantId} and c.session_id = s.id)
    order by s.revoked_at, s.id limit ${size - tokens.length}`
  await tx`delete from session where tenant_id = ${tenantId} and id in ${tx.list(sessions.map(({ id }) => id))}`
  const removed = tokens.length + sessions.length
  if (removed === size) return { removed, held: 0, isMore: true }
  const [kept] = await tx<{ held: number }[]>`
    select ((select count(*) from credential where tenant_id = ${tenantId} and revoked_at <= ${before}::timestamptz)
          + (select count(*) from session where tenant_id = ${tenantId} and revoked_at <= ${before}::timestamptz))::int as held`
  return { removed, held: kept?.held ?? 0, isMore: false }
}
