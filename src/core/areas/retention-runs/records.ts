/**
 * Records that have ended: tokens and sessions that were revoked, except those of an account that a legal hold covers.
 * Spec: Keeping, 4, RECORDS.
 */
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Taken } from './take.ts'

/** Removes as many of them as named, at most; a session behind its tokens. */
export async function takeRecords(ctx: Ctx, tenantId: string, before: string, size: number): Promise<Taken> {
  const { tx } = ctx
  const isDue = (row: Part) => tx.part`${row}.tenant_id = ${tenantId} and ${row}.revoked_at <= ${before}::timestamptz`
  const isHeld = (row: Part) => tx.part`exists (
    select from legal_hold l where l.tenant_id = ${tenantId} and l.released_at is null and l.scope_kind = 'ACCOUNT' and l.scope_id = ${row}.account_id)`
  const tokens = await tx<{ id: string }[]>`
    delete from credential where tenant_id = ${tenantId} and id in (
      select c.id from credential c where ${isDue(tx.part`c`)} and not ${isHeld(tx.part`c`)}
      order by c.revoked_at, c.id limit ${size} for update skip locked)
    returning id`
  if (tokens.length === size) return { removed: size, held: 0, isMore: true }
  const sessions = await tx<{ id: string }[]>`
    delete from session where tenant_id = ${tenantId} and id in (
      select s.id from session s where ${isDue(tx.part`s`)} and not ${isHeld(tx.part`s`)}
        and not exists (select from credential c where c.tenant_id = s.tenant_id and c.session_id = s.id)
      order by s.revoked_at, s.id limit ${size - tokens.length} for update skip locked)
    returning id`
  const removed = tokens.length + sessions.length
  if (removed === size) return { removed, held: 0, isMore: true }
  const [kept] = await tx<{ held: number }[]>`
    select ((select count(*) from credential c where ${isDue(tx.part`c`)}) + (select count(*) from session s where ${isDue(tx.part`s`)}))::int as held`
  return { removed, held: kept?.held ?? 0, isMore: false }
}
