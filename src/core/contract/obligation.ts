/**
 * Obligations: actions that a recovery of the database to an earlier time must not undo.
 *
 * Rules record them with `ctx.recordObligation`. An obligation contains no content, only ids, times and
 * codes. The reason of a hold, which a recovery must restore, is sealed for its line
 * (kernel/ledger/ledger.ts).
 *
 * Later releases and other hosts read the lines: an action keeps its members, and new members
 * are optional. areas/recovery/obligations has one object for each name here, which says what a
 * recovery does. Ours: The obligation ledger; docs/decisions/0041, 0169.
 */
import { z } from 'zod'
import { moment, uuid } from './vocabulary.ts'

const scope = z.strictObject({
  kind: z.enum(['TENANT', 'CONTAINER', 'ITEM', 'ACCOUNT']),
  id: uuid.nullable(),
})

/** The acts by what they are about, in the order of the checks of a recovery. */
const obligations = {
  holds: [
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
  ],
  purges: [z.strictObject({ act: z.literal('workspace.purged'), tenant_id: uuid })],
  operators: [
    z.strictObject({
      act: z.literal('operator.added'),
      tenant_id: uuid,
      account_id: uuid,
      /** Absent: a full operator, as are those of lines from before there were probations. */
      probation_until: moment.optional(),
    }),
    z.strictObject({ act: z.literal('operator.removed'), tenant_id: uuid, account_id: uuid }),
  ],
  tokens: [z.strictObject({ act: z.literal('token.revoked'), tenant_id: uuid, id: uuid })],
  /** An account that lost its last role in the workspace, and with it every credential. */
  departures: [z.strictObject({ act: z.literal('account.left'), tenant_id: uuid, account_id: uuid })],
  /** An account that was disabled, or may return: the last of an account counts. */
  disablings: [
    z.strictObject({ act: z.literal('account.disabled'), tenant_id: uuid, account_id: uuid }),
    z.strictObject({ act: z.literal('account.enabled'), tenant_id: uuid, account_id: uuid }),
  ],
  /** A restriction of an account, or its end: the last of an account counts. */
  restrictions: [
    z.strictObject({
      act: z.literal('account.restricted'),
      tenant_id: uuid,
      account_id: uuid,
      ground: z.enum(['ACCURACY', 'UNLAWFUL', 'CLAIMS', 'OBJECTION']),
    }),
    z.strictObject({ act: z.literal('account.unrestricted'), tenant_id: uuid, account_id: uuid }),
  ],
  /** A consent that was withdrawn, or an objection, and their ends: the last of an account and kind counts. */
  consents: [
    z.strictObject({ act: z.literal('consent.withdrawn'), tenant_id: uuid, account_id: uuid, kind: z.string() }),
    z.strictObject({ act: z.literal('consent.given'), tenant_id: uuid, account_id: uuid, kind: z.string() }),
  ],
  /** An account whose person is forgotten, with the choices of the erasure as codes. Nothing leads back. */
  erasures: [
    z.strictObject({
      act: z.literal('account.erased'),
      tenant_id: uuid,
      account_id: uuid,
      texts: z.enum(['KEEP', 'REDACT', 'REMOVE']),
      files: z.enum(['KEEP', 'REMOVE']),
      /** Texts of others in which the names are struck out: `ITEM:<id>`. */
      mentions: z.array(z.string().max(60)).max(1000),
    }),
  ],
} as const

export type ObligationName = keyof typeof obligations
export const obligationNames = Object.keys(obligations) as ObligationName[]

/** What a line says of one name: `ObligationOf<'tokens'>`. */
export type ObligationOf<Name extends ObligationName> = z.output<(typeof obligations)[Name][number]>
export type Obligation = ObligationOf<ObligationName>

const declared = Object.entries(obligations).flatMap(([name, acts]) =>
  acts.map((schema) => ({ name: name as ObligationName, schema })),
)
const nameByAct = new Map(declared.map(({ name, schema }) => [schema.shape.act.value, name]))

export const Obligation = z.union(declared.map(({ schema }) => schema))

/** Whether an act is one of a name's. */
export const isObligationOf = <Name extends ObligationName>(name: Name, act: Obligation): act is ObligationOf<Name> =>
  nameByAct.get(act.act) === name

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
