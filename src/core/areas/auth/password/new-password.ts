/**
 * A new password, wherever it comes from: set-up, an invitation, a change, a reset.
 *
 * It is checked against the rules with no transaction open, because a blocklist is a file and each
 * earlier password costs a hash of 30 ms. Then `writePassword` stores it in the transaction of the
 * rule.
 *
 * Spec: InstanceSettings (password switches).
 */

import { Problem } from '../../../contract/problem.ts'
import type { SignInValues } from '../../../contract/settings/defaults.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { anyone } from '../../../kernel/values/actor.ts'
import { newId } from '../../../kernel/values/id.ts'
import { type Blocklist, BlocklistUnusable, blocklistPath, readBlocklist } from '../../settings/blocklist.ts'
import { readSettings, type Settings } from '../../settings/settings.ts'
import { isCommonPassword } from './common-password.ts'
import type { Hasher } from './hashing-lane.ts'
import { hashPassword, isPassword } from './password.ts'
import { faultsOf, type PasswordFault } from './password-rules.ts'

export interface NewPassword {
  /** On whose behalf it is hashed. */
  readonly hasher: Hasher
  readonly password: string
  /** Its place in the body, e.g. `/new_password`. */
  readonly pointer: string
  /** What belongs to the account and its workspace. */
  readonly names: readonly (string | null | undefined)[]
  /** The account whose earlier passwords may not be used again; absent for an account that has had none. */
  readonly account?: { readonly tenantId: string; readonly id: string }
}

/**
 * Hashes a password that passes every rule. Refuses request.invalid with each rule it breaks, auth.blocklist_unusable.
 */
export async function hashNewPassword(installation: Installation, given: NewPassword): Promise<string> {
  const { settings, earlier } = await installation.transaction(anyone, { readOnly: true }, async (ctx) => {
    const inForce = await readSettings(ctx)
    return { settings: inForce, earlier: given.account ? await readEarlier(ctx, given.account, inForce.signIn) : [] }
  })
  const faults = await passwordFaults(installation, settings, given.password, given.names)
  if (faults.length === 0 && (await isOneOf(given, earlier)))
    faults.push({ code: 'password.used_before', params: { history: settings.signIn.password_history } })
  if (faults.length > 0)
    throw new Problem('request.invalid', {}, { errors: faults.map((fault) => ({ pointer: given.pointer, ...fault })) })
  return hashPassword(given.hasher, given.password)
}

/** Every rule that a new password breaks, except the rule about earlier passwords. Refuses auth.blocklist_unusable. */
export async function passwordFaults(
  { config }: Installation,
  { signIn, blocklistFile }: Settings,
  password: string,
  names: NewPassword['names'],
): Promise<PasswordFault[]> {
  const list =
    blocklistFile === null || !signIn.password_reject_common
      ? undefined
      : await usable(readBlocklist(blocklistPath(config, blocklistFile)))
  return faultsOf(password, signIn, {
    names: names.filter((name) => name !== null && name !== undefined),
    isCommon: (text) => isCommonPassword(text, list && ((form) => list.has(form))),
  })
}

/**
 * A configured list that cannot be read refuses every password: otherwise nobody would notice that it no longer
 * applies.
 */
async function usable(list: Promise<Blocklist>): Promise<Blocklist> {
  try {
    return await list
  } catch (error) {
    if (error instanceof BlocklistUnusable) throw new Problem('auth.blocklist_unusable', { reason: error.reason })
    throw error
  }
}

/** The hashes that may not be used again: the one in force and those before it, `password_history` in all. */
async function readEarlier(
  ctx: Ctx,
  { tenantId, id }: { readonly tenantId: string; readonly id: string },
  { password_history: history }: SignInValues,
): Promise<readonly string[]> {
  if (history === 0) return []
  const rows = await ctx.inWorkspace(
    tenantId,
    () => ctx.tx<{ password_hash: string }[]>`
      select password_hash from (
        select password_hash, true as is_in_force, id from account where tenant_id = ${tenantId} and id = ${id} and password_hash is not null
        union all
        select password_hash, false, id from password_history where tenant_id = ${tenantId} and account_id = ${id}
      ) every_one order by is_in_force desc, id desc limit ${history}`,
  )
  return rows.map(({ password_hash }) => password_hash)
}

async function isOneOf({ hasher, password }: NewPassword, hashes: readonly string[]): Promise<boolean> {
  for (const hash of hashes) if (await isPassword(hasher, password, hash)) return true
  return false
}

/** Stores the hash in the workspace in force, and keeps as many earlier hashes as the history asks for. */
export async function writePassword(ctx: Ctx, tenantId: string, accountId: string, newHash: string): Promise<void> {
  const { signIn } = await readSettings(ctx)
  const kept = Math.max(0, signIn.password_history - 1)
  const [before] = await ctx.tx<{ password_hash: string | null }[]>`
    select password_hash from account where tenant_id = ${tenantId} and id = ${accountId} for update`
  await ctx.tx`
    update account set password_hash = ${newHash}, password_changed_at = now(), start_password_until = null, updated_at = now(), version = version + 1
    where tenant_id = ${tenantId} and id = ${accountId}`
  if (before?.password_hash && kept > 0)
    await ctx.tx`
      insert into password_history (tenant_id, id, account_id, password_hash)
      values (${tenantId}, ${newId()}, ${accountId}, ${before.password_hash})`
  await ctx.tx`
    delete from password_history where tenant_id = ${tenantId} and account_id = ${accountId} and id not in (
      select id from password_history where tenant_id = ${tenantId} and account_id = ${accountId} order by id desc limit ${kept})`
}
