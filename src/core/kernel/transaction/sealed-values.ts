/**
 * Stores, decrypts and removes sealed values in their single table. sealed-kinds.ts declares
 * the kinds, sealing.ts has the format. Spec: Authentication, rule 5; Admin: encryption keyring.
 */

import { type Place, type Sealed, seal, unseal } from '../sealing/sealing.ts'
import type { Ctx } from './context.ts'

/**
 * Seals and stores a value at its place, replacing an older one. Need not be awaited: the commit fails if this fails.
 */
export function storeSealed(ctx: Ctx, place: Place, plaintext: string): Promise<unknown> {
  const sealed = seal(ctx.keyring, place, plaintext)
  return ctx.tx`
    insert into sealed_value (tenant_id, kind, owner_id, key_id, wrap, ciphertext)
    values (${place.tenantId}, ${place.kind}, ${place.ownerId}, ${sealed.key_id}, ${sealed.wrap}, ${sealed.ciphertext})
    on conflict (tenant_id, kind, owner_id) do update
    set key_id = excluded.key_id, wrap = excluded.wrap, ciphertext = excluded.ciphertext`
}

/** Opens the value at its place. Refuses secret.unavailable when it is missing, altered, or its key is not in the keyring. */
export async function openSealed(ctx: Ctx, place: Place): Promise<string> {
  const [row] = await ctx.tx<Sealed[]>`
    select key_id, wrap, ciphertext from sealed_value
    where tenant_id = ${place.tenantId} and kind = ${place.kind} and owner_id = ${place.ownerId}`
  return unseal(ctx.keyring, place, row ?? { key_id: '', wrap: Buffer.alloc(0), ciphertext: Buffer.alloc(0) })
}

/** Removes the value at its place, if there is one. Need not be awaited. */
export const removeSealed = ({ tx }: Ctx, { tenantId, kind, ownerId }: Place): Promise<unknown> => tx`
  delete from sealed_value where tenant_id = ${tenantId} and kind = ${kind} and owner_id = ${ownerId}`
