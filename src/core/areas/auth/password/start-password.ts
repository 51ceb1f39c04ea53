/**
 * Start passwords: what an administrator hands to somebody who has no address.
 *
 *    handed over ──sign-in──▶ 403 auth.password_expired {because: START} ──:set-password──▶ a password of the own
 *         └─ 7 days pass, or another one is issued ─▶ serves no more
 *
 * It opens no session: whoever handed it over knows it. 80 random bits in four groups, hashed like any password.
 * Spec: people 1, N3 and N5; docs/decisions/0412.
 */
import { randomBytes } from 'node:crypto'
import type { Ctx } from '../../../kernel/transaction/context.ts'
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
  { tx, config }: Ctx,
  { tenantId, accountId }: { readonly tenantId: string; readonly accountId: string },
  { hash }: StartPassword,
): Promise<string> {
  const [row] = await tx<[{ until: string }]>`
    update account
    set password_hash = ${hash}, password_changed_at = now(), updated_at = now(), version = version + 1,
        start_password_until = now() + make_interval(days => ${config.startPasswordDays})
    where tenant_id = ${tenantId} and id = ${accountId} returning start_password_until as until`
  return row.until
}
