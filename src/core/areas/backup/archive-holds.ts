/**
 * The legal holds of a workspace's archive, for `:replace-legal-holds`: the whole archive is
 * verified first, so that no hold is taken from an archive that was tampered with.
 *
 * Spec: Admin: workspaces, rule 3; LegalHoldRecord; T-26.
 */
import { z } from 'zod'
import { Problem, refuse } from '../../contract/problem.ts'
import { moment, uuid } from '../../contract/vocabulary.ts'
import type { Keyring } from '../../kernel/sealing/keyring.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import type { Actor } from '../../kernel/values/actor.ts'
import { limits } from './archive-format.ts'
import { invalid, openArchive } from './archive-reader.ts'
import { withStore } from './open-store.ts'
import { type Store, StoreFailure } from './store.ts'
import { targetServing } from './target.ts'

/** A line of legal_holds.jsonl.zst: the columns of the table. */
const HoldLine = z.object({
  id: uuid,
  scope_kind: z.enum(['TENANT', 'CONTAINER', 'ITEM', 'ACCOUNT']),
  scope_id: uuid.nullable(),
  reason: z.string(),
  placed_by: uuid,
  placed_at: moment,
  released_at: moment.nullable(),
})

/** In the form of the specification. */
export interface LegalHoldRecord {
  readonly id: string
  readonly scope: { readonly kind: 'TENANT' | 'CONTAINER' | 'ITEM' | 'ACCOUNT'; readonly id: string | null }
  readonly reason: string
  readonly placed_by: string
  readonly placed_at: string
  readonly released_at: string | null
}

/** Refuses archive.path_refused, archive.invalid, backup.target_failed. At most 1,000 holds, none twice. */
export async function readLegalHolds(
  store: Store,
  path: string,
  tenantId: string,
  keyring: Keyring,
): Promise<LegalHoldRecord[]> {
  const archive = await openArchive(store, path, tenantId, keyring)
  const declared = archive.manifest.files.find(({ entity }) => entity === 'legal_holds')
  if ((declared?.rows ?? 0) > limits.holds) return invalid('too_many_holds')
  await archive.verify()

  const holds = new Map<string, LegalHoldRecord>()
  for await (const row of archive.rows('legal_holds')) {
    const line = HoldLine.safeParse(row)
    if (!line.success || (line.data.scope_kind === 'TENANT') !== (line.data.scope_id === null)) return invalid('hold')
    const { id, scope_kind, scope_id, reason, placed_by, placed_at, released_at } = line.data
    if (holds.has(id)) return invalid('duplicate_id')
    holds.set(id, { id, scope: { kind: scope_kind, id: scope_id }, reason, placed_by, placed_at, released_at })
  }
  return [...holds.values()]
}

/**
 * The same, from a target that serves the workspace, with no transaction open. Refuses request.invalid for an unknown
 * target, too.
 */
export async function readLegalHoldsAt(
  installation: Installation,
  actor: Actor,
  tenantId: string,
  archive: { readonly target_id: string; readonly path: string },
): Promise<LegalHoldRecord[]> {
  const target = await targetServing(installation, actor, tenantId, archive.target_id)
  if (!target)
    refuse('request.invalid', undefined, {
      errors: [{ pointer: '/archive/target_id', code: 'reference.unknown', params: {} }],
    })
  try {
    return await withStore(installation, target, (store) =>
      readLegalHolds(store, archive.path, tenantId, installation.keyring),
    )
  } catch (error) {
    throw error instanceof StoreFailure ? new Problem('backup.target_failed', { reason: error.reason }) : error
  }
}
