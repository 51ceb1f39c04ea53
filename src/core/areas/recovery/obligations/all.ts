/**
 * The obligations, in the order in which a recovery repeats them: first those that protect, last those that destroy.
 * A name in contract/obligation.ts without its object here does not compile.
 */

import { isObligationOf, type Obligation, type ObligationName } from '../../../contract/obligation.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'
import { consents } from './consents.ts'
import { departures } from './departures.ts'
import { disablings } from './disablings.ts'
import { erasures } from './erasures.ts'
import { holds } from './holds.ts'
import type { Line, ObligationRules, Step } from './obligation.ts'
import { operators } from './operators.ts'
import { purges } from './purges.ts'
import { restrictions } from './restrictions.ts'
import { tokens } from './tokens.ts'

const all = { holds, operators, departures, disablings, restrictions, consents, tokens, erasures, purges }

/** The state that the ledgers of an installation require, independent of the database. */
export type DesiredState = { readonly [Name in ObligationName]: ReturnType<(typeof all)[Name]['desired']> }

export const obligations: { readonly [Name in ObligationName]: ObligationRules<Name, DesiredState[Name]> } = all

export const inOrder = Object.keys(obligations) as ObligationName[]

/** The desired state, from the lines of all ledgers in the order of their moments. */
export function desiredStateOf(lines: readonly Line<Obligation>[]): DesiredState {
  const sorted = lines.toSorted(byMoment)
  return Object.fromEntries(inOrder.map((name) => [name, desiredOf(name, sorted)])) as unknown as DesiredState
}

const desiredOf = <Name extends ObligationName>(name: Name, lines: readonly Line<Obligation>[]): DesiredState[Name] =>
  obligations[name].desired(
    lines.flatMap((line) => (isObligationOf(name, line.act) ? [{ ...line, act: line.act }] : [])),
  )

const byMoment = (one: Line<Obligation>, other: Line<Obligation>) =>
  one.at === other.at ? one.seq - other.seq : one.at < other.at ? -1 : 1

/** Whether the database has what a line says. Never after a rewind: then the database does not have the answer. */
export async function isSo(tx: Tx, { act, at }: Line<Obligation>): Promise<boolean> {
  const ask = <Name extends ObligationName>(name: Name) =>
    isObligationOf(name, act) ? [obligations[name].isSo(tx, act, at)] : []
  const [[answer] = []] = await Promise.all(inOrder.flatMap(ask))
  return answer?.is_so === true
}

/** The steps of one obligation. */
export const stepsOf = (name: ObligationName, steps: readonly Step[]): readonly Step[] =>
  steps.filter(({ what }) => Object.hasOwn(obligations[name].words, what))

const words: Readonly<Record<string, string>> = Object.assign({}, ...inOrder.map((name) => obligations[name].words))

/** A step in words: "revoke the token". */
export const wordsOf = ({ what }: Step): string => words[what] ?? what
