/**
 * The rules of a recovery for one obligation, in one object.
 *
 *    lines of the ledgers ──desired──▶ desired state ──plan──▶ steps ──repeat──▶ done, or its hindrance
 *    one line without an outcome ──isSo──▶ done or void
 *
 * The object reads the desired state from the lines of one name, compares it with the database, repeats what is missing
 * and has the texts for people. all.ts lists the objects; all code that reads ledgers, plans, repeats, checks or prints
 * tables uses that list. Ours: The obligation ledger; docs/decisions/0169.
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
  /** The workspace was created in the rewound period, and the rewind removed it. */
  | 'workspace_lost'
  | 'account_lost'
  | 'account_not_active'
  /** A hold in force stops the purge. */
  | 'held'
  /** The register would be left without an operator that can act. */
  | 'last_operator'
  /** The workspace would be left without an OWNER who can sign in. */
  | 'last_owner'
  /** The ledgers do not have the outcome of the purge. */
  | 'uncertain'

/** One act that must be repeated. */
export interface Step<What extends string = string> {
  readonly what: What
  readonly tenant_id: string
  /** The id of the hold, account, token or workspace. */
  readonly id: string
  readonly hindered_by: Hindrance | null
  /** The ledgers do not have the outcome of the act. */
  readonly is_uncertain: boolean
}

/** A line of any ledger; `isSettled` if its outcome is known. */
export type Line<Act> = Entry<Act> & { readonly isSettled: boolean }

export interface Planning {
  readonly installation: Installation
  readonly workspaces: {
    /** Workspaces of holds and purges that the database has. */
    readonly present: ReadonlySet<string>
    /** Workspaces whose purge has ended, according to the ledgers. */
    readonly purged: ReadonlySet<string>
    /** Workspaces of holds and purges with a certificate: they are purged, even if no ledger here says so. */
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
  /** The desired state, from the lines of all ledgers in the order of their moments. */
  desired(lines: readonly Line<ObligationOf<Name>>[]): Desired
  /** Asks whether the database has what a line says, as `is_so`; never after a rewind. `at` is the line's moment. */
  isSo(tx: Tx, act: ObligationOf<Name>, at: string): Promise<readonly { readonly is_so: boolean }[]>
  /** The steps from the database's state to the desired state. Changes nothing. */
  plan(planning: Planning, desired: Desired): Promise<readonly Step<What>[]>
  /** Repeats the steps in order, each by the rule that did it the first time. Answers the hindrance of each step. */
  repeat(repeating: Repeating, desired: Desired, steps: readonly Step<What>[]): Promise<readonly (Hindrance | null)[]>
  /** Whether hindered steps are repeated too: the rule decides itself what hinders it. */
  readonly repeatsHindered?: true
  /** The check if no step is open; absent: `ok`. */
  check?(checking: Checking, desired: Desired): Promise<Check>
  /** The text of each kind of step, for tables. */
  readonly words: Readonly<Record<What, string>>
}

const reader = { kind: 'SYSTEM', job: 'reconcile' } as const

/** Reads as the installation, in a separate transaction. */
export const read = <T>({ installation }: { readonly installation: Installation }, work: (ctx: Ctx) => Promise<T>) =>
  installation.transaction(reader, { readOnly: true }, work)

const batch = 500

/** Batches of 500, each for one statement. */
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

/** The hindrance that a refusal of the rule means; null if the rule succeeded. */
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
