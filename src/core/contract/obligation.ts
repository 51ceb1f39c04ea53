/**
 * Obligations: actions that a recovery of the database to an earlier time must not undo.
 *
 * Rules record them with `ctx.recordObligation`. An obligation contains no content, only ids,
 * times and codes. The reason of a hold, which a recovery must restore, is sealed for its line
 * in the ledger (ledger.ts).
 *
 * Acts of areas still to come are added here with their area: a secret rotated, a provider
 * withdrawn, an erasure done. Ours: The obligation ledger; docs/decisions/0041.
 */
import { z } from 'zod'
import { moment, uuid } from './vocabulary.ts'

const scope = z.strictObject({
  kind: z.enum(['TENANT', 'CONTAINER', 'ITEM', 'ACCOUNT']),
  id: uuid.nullable(),
})

const acts = [
  z.strictObject({
    act: z.literal('hold.placed'),
    tenant_id: uuid,
    id: uuid,
    scope,
    placed_by: uuid,
    placed_at: moment,
    reason: z.string(),
  }),
  z.strictObject({ act: z.literal('hold.released'), tenant_id: uuid, id: uuid }),
  z.strictObject({ act: z.literal('workspace.purged'), tenant_id: uuid }),
  z.strictObject({
    act: z.literal('operator.added'),
    tenant_id: uuid,
    account_id: uuid,
    /** Absent: a full operator, as are those of lines from before there were probations. */
    probation_until: moment.optional(),
  }),
  z.strictObject({ act: z.literal('operator.removed'), tenant_id: uuid, account_id: uuid }),
  /** It lost its last role in the workspace, and with it every credential. */
  z.strictObject({ act: z.literal('account.left'), tenant_id: uuid, account_id: uuid }),
  z.strictObject({ act: z.literal('token.revoked'), tenant_id: uuid, id: uuid }),
] as const

export const Obligation = z.discriminatedUnion('act', acts)
export type Obligation = z.output<typeof Obligation>

/** What a ledger's line says besides obligations. */
export const Note = z.discriminatedUnion('act', [
  z.strictObject({ act: z.literal('ledger.opened'), installation_id: uuid }),
  /** What became of earlier lines: their transaction committed, or it did not. */
  z.strictObject({
    act: z.literal('settled'),
    of: z.array(z.int().positive()).min(1),
    outcome: z.enum(['done', 'void']),
  }),
])
export type Note = z.output<typeof Note>
