/**
 * An obligation as a recovery sees it: everything about one is in one object.
 *
 *    lines of the ledgers ──desired──▶ what has to be so ──plan──▶ steps ──repeat──▶ done, or what is in the way
 *    one line without an outcome ──isSo──▶ done or void
 *
 * Of the lines of one name, the object reads the desired state, compares it with the database, does again what is
 * missing, and says all this to people. all.ts lists the objects; what reads ledgers, plans, repeats, checks and
 * draws tables goes through that list. Ours: The obligation ledger; docs/decisions/0169.
 */

import type { ObligationName, ObligationOf } from '../../../contract/obligation.ts'
import { Problem } from '../../../contract/problem.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'
import type { Entry } from '../../../kernel/ledger/ledger.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import type { RecoveryActor } from '../../../kernel/values/actor.ts'
import type { Check } from '../finding.ts'

export type Hindrance =
  /** The workspace was made in the rewound period and is gone with it. */
  | 'workspace_lost'
  | 'account_lost'
  | 'account_not_active'
  /** A hold in force is stronger than a purge. */
  | 'held'
  /** Nobody would be left in the register. */
  | 'last_operator'
  /** The workspace would be left without an OWNER who can sign in. */
  | 'last_owner'
  /** Nobody knows whether the purge had ended. */
  | 'uncertain'

/** One act that has to be done again. */
export interface Step<What extends string = string> {
  readonly what: What
  readonly tenant_id: string
  /** The hold's, account's, token's or workspace's. */
  readonly id: string
  readonly hindered_by: Hindrance | null
  /** The ledger does not know whether it had happened; it is done because it protects. */
  readonly is_uncertain: boolean
}

/** A line of any ledger, with whether its outcome is known. */
export type Line<Act> = Entry<Act> & { readonly isSettled: boolean }

export interface Planning {
  readonly installation: Installation
  readonly workspaces: {
    /** Those of holds and purges that are there. */
    readonly present: ReadonlySet<string>
    /** Those whose purge the ledgers know to have ended. */
    readonly purged: ReadonlySet<string>
    /** Those of holds and purges that have a certificate: purged, whichever host's ledger says so. */
    readonly certified: ReadonlySet<string>
  }
  /** The steps of the obligations before this one in all.ts. */
  readonly before: readonly Step[]
}

export interface Repeating {
  readonly installation: Installation
  readonly actor: RecoveryActor
  readonly recoveryPoint: string
}

export interface Checking {
  readonly installation: Installation
  readonly recoveryPoint: string | null
}

export interface ObligationRules<Name extends ObligationName, Desired, What extends string = string> {
  /** What has to be so, from the lines of all ledgers in the order of their moments. */
  desired(lines: readonly Line<ObligationOf<Name>>[]): Desired
  /** Asks whether what a line says is so, as `is_so`; never after a rewind. `at` is the line's moment. */
  isSo(tx: Tx, act: ObligationOf<Name>, at: string): Promise<readonly { readonly is_so: boolean }[]>
  /** What has to be so and is not. Changes nothing. */
  plan(planning: Planning, desired: Desired): Promise<readonly Step<What>[]>
  /** Does the steps again, in their order, each by the rule that did it the first time; answers of each what was in the way. */
  repeat(repeating: Repeating, desired: Desired, steps: readonly Step<What>[]): Promise<readonly (Hindrance | null)[]>
  /** Whether hindered steps are repeated too: the rule knows best what is in its way. */
  readonly repeatsHindered?: true
  /** What people should know although nothing is to be done again; absent: only that. */
  check?(checking: Checking, desired: Desired): Promise<Check>
  /** Each kind of step, as tables name it. */
  readonly words: Readonly<Record<What, string>>
}

const reader = { kind: 'SYSTEM', job: 'reconcile' } as const

/** Reads as the installation, in a transaction of its own. */
export const read = <T>({ installation }: { readonly installation: Installation }, work: (ctx: Ctx) => Promise<T>) =>
  installation.transaction(reader, { readOnly: true }, work)

const batch = 500

/** What one statement asks for at once. */
export async function* batches<T>(all: Iterable<T>): AsyncGenerator<T[]> {
  const rest = [...all]
  while (rest.length > 0) yield rest.splice(0, batch)
}

/** Repeats one step after another. */
export async function oneByOne<S extends Step>(
  steps: readonly S[],
  act: (step: S) => Promise<Hindrance | null>,
): Promise<readonly (Hindrance | null)[]> {
  const hindrances: (Hindrance | null)[] = []
  for (const step of steps) hindrances.push(await act(step))
  return hindrances
}

const hindranceOf: Partial<Record<string, Hindrance>> = {
  not_found: 'account_lost',
  'admin.operator_not_active': 'account_not_active',
  'admin.operator_last': 'last_operator',
  'membership.last_owner': 'last_owner',
}

/** What a refusal of the rule says is in the way; null where it did its work. */
export async function unlessRefused(act: () => Promise<unknown>): Promise<Hindrance | null> {
  try {
    await act()
    return null
  } catch (error) {
    const hindrance = error instanceof Problem ? hindranceOf[error.code] : undefined
    if (!hindrance) throw error
    return hindrance
  }
}
