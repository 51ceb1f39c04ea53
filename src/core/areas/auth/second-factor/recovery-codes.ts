/**
 * Recovery codes: ten single-use replacements for a lost authenticator app.
 *
 *    7k2m-q9x4-0hvt-b3rw     80 random bits in Crockford's base32
 *
 * 80 random bits need no slow hash. The hash includes the account, so a row that is moved to
 * another account is useless.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { newId } from '../../../kernel/values/id.ts'

export interface Holder {
  readonly tenantId: string
  readonly accountId: string
}

const count = 10
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

function newCode(): string {
  let bits = BigInt(`0x${randomBytes(10).toString('hex')}`)
  let code = ''
  for (let place = 0; place < 16; place += 1) {
    code += alphabet[Number(bits % 32n)]
    bits /= 32n
  }
  return code.replace(/(.{4})(?=.)/g, '$1-')
}

/** Accepts the code as people may type it: in capitals, with other dashes, with letters for similar digits. */
const asMade = (typed: string) =>
  typed
    .toLowerCase()
    .replaceAll(/[^0-9a-z]/g, '')
    .replaceAll('o', '0')
    .replaceAll(/[il]/g, '1')

const hashOf = ({ accountId }: Holder, code: string) =>
  createHash('sha256')
    .update(`svc recovery code ${accountId} ${asMade(code)}`)
    .digest()

/** Replaces the account's codes and answers the new ones; only their hashes are stored. */
export async function makeCodes(ctx: Ctx, holder: Holder): Promise<string[]> {
  const { tenantId, accountId } = holder
  const codes = Array.from({ length: count }, newCode)
  await voidCodes(ctx, holder)
  const rows = codes.map((code) => ({
    tenant_id: tenantId,
    id: newId(),
    account_id: accountId,
    hash: hashOf(holder, code),
  }))
  await ctx.tx`insert into recovery_code ${ctx.tx.rows(rows, 'tenant_id', 'id', 'account_id', 'hash')}`
  return codes
}

/** Uses a code up and answers whether it was valid; of two uses at once one succeeds. */
export async function spendCode(ctx: Ctx, holder: Holder, code: string): Promise<boolean> {
  const spent = await ctx.tx`
    update recovery_code set used_at = now()
    where tenant_id = ${holder.tenantId} and account_id = ${holder.accountId} and hash = ${hashOf(holder, code)} and used_at is null`
  return spent.count === 1
}

export const voidCodes = (ctx: Ctx, { tenantId, accountId }: Holder) =>
  ctx.tx`delete from recovery_code where tenant_id = ${tenantId} and account_id = ${accountId}`
