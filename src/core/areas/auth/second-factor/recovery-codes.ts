/**
 * Recovery codes: ten single-use stand-ins for a lost authenticator app.
 *
 *    7k2m-q9x4-0hvt-b3rw     80 random bits in Crockford's base32
 *
 * 80 bits need no slow hash. The account is part of what is hashed, so that a row that is
 * moved to another account opens nothing.
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

/** As it may be typed: in capitals, with other dashes, with letters for the digits they look like. */
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

/** Replaces whatever codes the account had, and answers the new ones: only their hashes are kept. */
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

/** Uses one up; of two uses at once one succeeds. Whether it was one. */
export async function spendCode(ctx: Ctx, holder: Holder, code: string): Promise<boolean> {
  const spent = await ctx.tx`
    update recovery_code set used_at = now()
    where tenant_id = ${holder.tenantId} and account_id = ${holder.accountId} and hash = ${hashOf(holder, code)} and used_at is null`
  return spent.count === 1
}

export const voidCodes = (ctx: Ctx, { tenantId, accountId }: Holder) =>
  ctx.tx`delete from recovery_code where tenant_id = ${tenantId} and account_id = ${accountId}`
