/**
 * The check of a keyring against the database, before a process uses it: at boot, and when the file
 * is read again.
 *
 *    every key that a value names is in the keyring             or: how many values would be lost
 *    every key is the one that this database knows by its name  compared by check values
 *    at least one value under each key opens                    samples of each kind are tried
 *    running daemons seal under no key that the keyring lacks
 *    all running daemons know a new current key                 then it is the installation's
 *
 * A damaged value affects only the operations that need it (503 secret.unavailable) and does not stop a process from
 * starting. A key is wrong if no value under it opens. Spec: decisions 4, Keyring; T-21.
 */

import { Problem } from '../../contract/problem.ts'
import type { SealedKind } from '../../contract/sealed-kinds.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { Keyring } from '../../kernel/sealing/keyring.ts'
import { type Sealed, unseal } from '../../kernel/sealing/sealing.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { SystemActor } from '../../kernel/values/actor.ts'
import { ConfigurationError } from '../../kernel/values/configuration-error.ts'
import { findAhead, findUnaware, holdKeyringsStill } from './daemon-keyrings.ts'
import { countByKey, findActiveKey, type KeyCount } from './keyring-use.ts'

const system: SystemActor = { kind: 'SYSTEM', job: 'ring_check' }
const book = 'docs/runbooks/keyring.md'

/**
 * Accepts the keyring, and makes its current key the installation's if that key is new. Answers
 * notes for the operator. Throws ConfigurationError, one line.
 */
export function admitKeyring(installation: Installation, keyring: Keyring): Promise<readonly string[]> {
  return installation.transaction(system, {}, async (ctx) => {
    const { tx } = ctx
    await holdKeyringsStill(tx)
    const counts = await countByKey(tx)
    refuseLost(keyring, counts)
    const known = await tx<
      KnownKey[]
    >`select key_id, check_value, promoted_at is not null as was_current from keyring_key`
    refuseForeign(keyring, counts, known)
    const samples = await trySamples(tx, keyring, counts)
    refuseWrong(keyring, counts, samples, known)
    await refuseBehind(tx, keyring)
    for (const id of keyring.ids)
      await tx`insert into keyring_key (key_id, check_value) values (${id}, ${keyring.checkValue(id)}) on conflict (key_id) do nothing`
    return [...notesOn(samples), ...(await settleCurrent(ctx, keyring, known))]
  })
}

interface KnownKey {
  readonly key_id: string
  readonly check_value: Buffer
  readonly was_current: boolean
}

const under = (counts: readonly KeyCount[], id: string) =>
  counts.filter(({ key_id }) => key_id === id).reduce((sum, { count }) => sum + count, 0)

function refuseLost(keyring: Keyring, counts: readonly KeyCount[]): void {
  const lost = [...new Set(counts.map(({ key_id }) => key_id))].filter((id) => !keyring.has(id))
  if (lost.length === 0) return
  const listed = lost.map((id) => `${under(counts, id)} stored value(s) need the key "${id}"`).join('; ')
  throw new ConfigurationError(`${listed}, which ${keyring.path} lacks. Restore the keyring from its backup (${book}).`)
}

function refuseForeign(keyring: Keyring, counts: readonly KeyCount[], known: readonly KnownKey[]): void {
  for (const { key_id, check_value } of known) {
    if (!keyring.has(key_id) || keyring.checkValue(key_id).equals(check_value)) continue
    throw new ConfigurationError(
      `The key "${key_id}" in ${keyring.path} is not the key of that name that this database was used with; ${under(counts, key_id)} stored value(s) under it would be lost. Restore the keyring from its backup (${book}).`,
    )
  }
}

/**
 * Throws for a key under which no value opens, although its bytes are those that the database knows, or it knows none.
 */
function refuseWrong(
  keyring: Keyring,
  counts: readonly KeyCount[],
  samples: readonly Samples[],
  known: readonly KnownKey[],
): void {
  for (const id of keyring.ids) {
    const ofKey = samples.filter(({ key_id }) => key_id === id)
    const tried = ofKey.reduce((sum, one) => sum + one.tried, 0)
    // If only one value was tried, and the database knows the key, then the value is damaged and the key is right.
    const isProven = known.some(({ key_id }) => key_id === id) && tried === 1
    if (tried === 0 || isProven || ofKey.some(({ opened }) => opened > 0)) continue
    throw new ConfigurationError(
      `The key "${id}" in ${keyring.path} decrypts none of the ${under(counts, id)} stored value(s) under it. Restore the keyring from its backup (${book}).`,
    )
  }
}

async function refuseBehind(tx: Tx, keyring: Keyring): Promise<void> {
  const [ahead] = await findAhead(tx, keyring)
  if (ahead === undefined) return
  throw new ConfigurationError(
    `A running daemon (${ahead}) seals under a key that ${keyring.path} lacks. Copy the keyring of that daemon to this host (${book}).`,
  )
}

const notesOn = (samples: readonly Samples[]) =>
  samples
    .filter(({ tried, opened }) => opened < tried)
    .map(
      ({ key_id, kind, tried, opened }) =>
        `${tried - opened} of ${tried} checked values of ${kind} under the key "${key_id}" cannot be decrypted; operations that need them are refused (${book}).`,
    )

/**
 * Makes the keyring's current key the installation's if it never was. A file cannot go back to an earlier current key.
 */
async function settleCurrent(ctx: Ctx, keyring: Keyring, known: readonly KnownKey[]): Promise<readonly string[]> {
  const active = await findActiveKey(ctx.tx)
  if (active === keyring.current) return []
  const wasCurrent = known.some(({ key_id, was_current }) => key_id === keyring.current && was_current)
  if (wasCurrent && active !== undefined && keyring.has(active))
    return [
      `${keyring.path} has "${keyring.current}" as its current key, but the installation's current key is "${active}". Run: svc keyring promote ${active}`,
    ]
  const unaware = await promoteKey(ctx, keyring, keyring.current)
  if (unaware.length > 0) throw new ConfigurationError(`${unawareOf(keyring.current, unaware)} ${unawareRemedy}`)
  return []
}

export const unawareOf = (keyId: string, places: readonly string[]) =>
  `The key "${keyId}" cannot be made current: ${places.length} running daemon(s) do not have it (${places.join(', ')}).`
export const unawareRemedy = 'First copy the keyring to their hosts and send them SIGHUP (docs/keyring.md).'

/**
 * Makes a key of the keyring the installation's current one; reseals use it from their next slice on. If running
 * daemons do not hold the key, answers these daemons and changes nothing.
 */
export async function promoteKey(ctx: Ctx, keyring: Keyring, keyId: string): Promise<readonly string[]> {
  const unaware = await findUnaware(ctx.tx, keyring, keyId)
  if (unaware.length > 0) return unaware
  const before = await findActiveKey(ctx.tx)
  if (before === keyId) return []
  await ctx.tx`update keyring_key set promoted_at = clock_timestamp() where key_id = ${keyId}`
  if (before !== undefined) await ctx.journal('encryption.key_promoted', null, { params: { key_id: keyId, before } })
  return []
}

export interface Samples {
  readonly key_id: string
  readonly kind: SealedKind
  /** How many values were tried, at most `mostTried`. */
  readonly tried: number
  readonly opened: number
}

const mostTried = 5

/** Opens some values of each key and kind. The opened values are not kept. */
export async function trySamples(tx: Tx, keyring: Keyring, counts: readonly KeyCount[]): Promise<readonly Samples[]> {
  const samples: Samples[] = []
  for (const { key_id, kind } of counts) {
    const rows = await tx<(Sealed & { tenant_id: string; owner_id: string })[]>`
      select tenant_id, owner_id, key_id, wrap, ciphertext from sealed_value
      where key_id = ${key_id} and kind = ${kind} limit ${mostTried}`
    const opened = rows.filter((row) =>
      opens(() => unseal(keyring, { tenantId: row.tenant_id, kind: kind as SealedKind, ownerId: row.owner_id }, row)),
    )
    samples.push({ key_id, kind: kind as SealedKind, tried: rows.length, opened: opened.length })
  }
  return samples
}

function opens(open: () => unknown): boolean {
  try {
    open()
    return true
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}
