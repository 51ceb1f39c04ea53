/**
 * The obligations, in the order in which a recovery repeats them: what protects goes first, what destroys last.
 * The compiler asks for the object of every name in contract/obligation.ts.
 */

import { isObligationOf, type Obligation, type ObligationName } from '../../../contract/obligation.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'
import { departures } from './departures.ts'
import { holds } from './holds.ts'
import type { Line, ObligationRules, Step } from './obligation.ts'
import { operators } from './operators.ts'
import { purges } from './purges.ts'
import { tokens } from './tokens.ts'

const all = { holds, operators, departures, tokens, purges }

/** What the ledgers of an installation want to be so, whatever the database says. */
export type DesiredState = { readonly [Name in ObligationName]: ReturnType<(typeof all)[Name]['desired']> }

export const obligations: { readonly [Name in ObligationName]: ObligationRules<Name, DesiredState[Name]> } = all

export const inOrder = Object.keys(obligations) as ObligationName[]

/** Reads the lines of all ledgers together, in the order of their moments. */
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

/** Whether the database has what a line says. Never after a rewind: there it does not know. */
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
