/**
 * Start passwords: what an administrator hands to somebody who has no address.
 *
 *    handed over ──sign-in──▶ 403 auth.password_expired {because: START} ──:set-password──▶ a password of the own
 *         └─ 7 days pass, or another one is issued ─▶ serves no more, and a job takes it away
 *
 * It opens no session: whoever handed it over knows it. 80 random bits in four groups, hashed like any password.
 * Spec: people 1, N3 and N5; docs/decisions/0412, 0482.
 */
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { defineJob } from '../../../kernel/transaction/runnable-job.ts'
import { isIssued } from '../../access/issued-moment.ts'
import type { Hasher } from './hashing-lane.ts'
import { hashPassword } from './password.ts'

/** Without i, l, o and u, which people mistake. */
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

export interface StartPassword {
  /** Shown once, never stored. */
  readonly password: string
  readonly hash: string
}

/** Hashes with no transaction open. Refuses service.unavailable. */
export async function mintStartPassword(hasher: Hasher): Promise<StartPassword> {
  const signs = [...randomBytes(16)].map((byte) => alphabet[byte % alphabet.length]).join('')
  const password = signs.replace(/(.{4})(?=.)/g, '$1-')
  return { password, hash: await hashPassword(hasher, password) }
}

/** Puts it in the place of the account's password, and answers until when it serves. The account's row is new or locked. */
export async function writeStartPassword(
  ctx: Ctx,
  { tenantId, accountId }: { readonly tenantId: string; readonly accountId: string },
  { hash }: StartPassword,
): Promise<string> {
  const { tx, config } = ctx
  const [row] = await tx<[{ until: string }]>`
    update account
    set password_hash = ${hash}, password_changed_at = now(), updated_at = now(), version = version + 1,
        start_password_until = now() + make_interval(days => ${config.startPasswordDays})
    where tenant_id = ${tenantId} and id = ${accountId} returning start_password_until as until`
  await ctx.enqueue(endStartPassword, { tenantId, accountId }, { startAfter: new Date(row.until) })
  return row.until
}

/** Whether the start password of the account `a` serves; null: its password is none. */
export const startServes = (tx: Pick<Tx, 'part'>): Part => tx.part`
  case when a.start_password_until is not null
       then a.start_password_until > now() and ${isIssued(tx, tx.part`a.password_changed_at`)} end`

/** Takes an expired start password away, so that no clock that falls back lets it serve again. */
export const endStartPassword = defineJob({
  name: 'end_start_password',
  payload: z.object({ tenantId: z.guid(), accountId: z.guid() }),
  retryLimit: 5,
  async run(installation, { tenantId, accountId }) {
    // The database's clock decides, not the queue's: a job that runs early leaves it, and so does one of the one before.
    await installation.transaction({ kind: 'SYSTEM', job: 'end_start_password' }, { tenantId }, async ({ tx }) => {
      await tx`
        update account set password_hash = null, start_password_until = null, updated_at = now(), version = version + 1
        where tenant_id = ${tenantId} and id = ${accountId} and start_password_until <= now()`
    })
  },
})
