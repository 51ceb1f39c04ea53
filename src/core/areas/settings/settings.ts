/**
 * The settings in force: the installation's decisions, otherwise the product's defaults.
 *
 * They are read from the rows in a transaction and never cached, so a switch applies from the
 * next call on, on every replica. A daemon writes an enforcing file into the same rows when it
 * starts or receives SIGHUP (enforcing-file.ts), so daemons cannot disagree and readers do not
 * need the file.
 *
 *    product (defaults.ts)  ◀  installation (table `setting`)  ◀  the workspace's own, if the switch is not locked
 *
 * Spec: InstanceSettings; Quota semantics; decisions 4.
 */

import type { QuotaName } from '../../contract/quotas.ts'
import {
  aiDefaults,
  type Jurisdiction,
  localisationDefaults,
  type SignInValues,
  type SwitchName,
  signInDefaults,
} from '../../contract/settings/defaults.ts'
import type { weekStarts } from '../../contract/settings/operations.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { readJson } from '../../kernel/values/json.ts'

/** One decision as it is stored. */
export interface Decision {
  readonly value: unknown
  readonly locked: boolean
  readonly reason: string | null
  /** The account that decided; null for the enforcing file and the operator at the database. */
  readonly setBy: string | null
  readonly setAt: string
}

/** Names such as `sign_in.password_min_length`. */
export type Decisions = ReadonlyMap<string, Decision>

/** The settings of every workspace that has decided nothing itself. */
export interface Settings {
  readonly signIn: SignInValues
  /** The same switches, each with its lock, reason and setter. */
  readonly switches: SwitchesInForce
  readonly legal: {
    readonly terms_url: string | null
    readonly privacy_url: string | null
    readonly imprint_url: string | null
    readonly accessibility_url: string | null
    readonly terms_version: string | null
  }
  readonly localisation: {
    readonly locale: string
    readonly time_zone: string
    readonly week_start: (typeof weekStarts)[number]
  }
  /** The ceilings of the level INSTANCE; for a missing one, the product's ceiling counts. */
  readonly quotas: ReadonlyMap<QuotaName, number | bigint>
  readonly ai: { readonly allowed_jurisdictions: readonly Jurisdiction[]; readonly third_country_confirmed: boolean }
  readonly blocklistFile: string | null
}

/** A sign-in switch as it is answered: the value in force, its source, and whether it is locked. */
export interface SwitchInForce<Name extends SwitchName = SwitchName> {
  readonly value: SignInValues[Name]
  readonly source: 'PRODUCT' | 'INSTANCE'
  readonly locked: boolean
  readonly reason: string | null
  readonly set_by: string | null
  readonly set_at: string | null
}
export type SwitchesInForce = { readonly [Name in SwitchName]: SwitchInForce<Name> }

interface SettingRow {
  readonly name: string
  readonly value: string
  readonly is_locked: boolean
  readonly reason: string | null
  readonly set_by: string | null
  readonly set_at: string
}

/** Every decision of the installation, independent of the transaction's role. */
export async function readDecisions(ctx: Ctx): Promise<Decisions> {
  // As text: the driver's parser would round jsonb's integers of 64 bits.
  const rows = await ctx.asInstallationOnce(
    () =>
      ctx.tx<
        SettingRow[]
      >`select name, value::text as value, is_locked, reason, set_by, set_at from setting order by name`,
  )
  return new Map(
    rows.map((row) => [
      row.name,
      { value: readJson(row.value), locked: row.is_locked, reason: row.reason, setBy: row.set_by, setAt: row.set_at },
    ]),
  )
}

/** The settings in force. Can be read in any transaction, also in one of a workspace. */
export const readSettings = async (ctx: Ctx): Promise<Settings> => settingsOf(await readDecisions(ctx))

/**
 * The localisation of new workspaces. Needs the installation's role: without a change of role, the statement can be
 * sent in one packet with others.
 */
export async function readLocalisation({ tx }: Ctx): Promise<Settings['localisation']> {
  const rows = await tx<{ name: string; value: unknown }[]>`
    select name, value from setting where name like 'localisation.%'`
  const decided = Object.fromEntries(rows.map(({ name, value }) => [name.slice('localisation.'.length), value]))
  return { ...localisationDefaults, ...decided }
}

/** The sign-in switches in force, each with its lock, reason and setter. */
export const readSwitches = async (ctx: Ctx): Promise<SwitchesInForce> => switchesOf(await readDecisions(ctx))

function settingsOf(decisions: Decisions): Settings {
  return {
    signIn: valuesOf(decisions, 'sign_in', signInDefaults),
    // Computed on demand: few callers need it, and it reads every switch.
    get switches() {
      return switchesOf(decisions)
    },
    legal: valuesOf(decisions, 'legal', {
      terms_url: null,
      privacy_url: null,
      imprint_url: null,
      accessibility_url: null,
      terms_version: null,
    }),
    localisation: valuesOf(decisions, 'localisation', localisationDefaults),
    quotas: new Map(
      [...decisions]
        .filter(([name]) => name.startsWith('quotas.'))
        .map(([name, { value }]) => [name.slice('quotas.'.length) as QuotaName, value as number | bigint]),
    ),
    ai: valuesOf(decisions, 'ai', aiDefaults),
    blocklistFile: (decisions.get('blocklist_file')?.value as string | undefined) ?? null,
  }
}

/** The group's values: the installation's decisions, otherwise the given values. Stored values were validated. */
function valuesOf<Values extends object>(decisions: Decisions, group: string, otherwise: Values): Values {
  const entries = Object.entries(otherwise).map(([name, value]) => {
    const decision = decisions.get(`${group}.${name}`)
    return [name, decision ? decision.value : value]
  })
  return Object.fromEntries(entries) as Values
}

export function switchesOf(decisions: Decisions): SwitchesInForce {
  const entries = Object.entries(signInDefaults).map(([name, value]) => {
    const decision = decisions.get(`sign_in.${name}`)
    return [
      name,
      decision
        ? {
            value: decision.value,
            source: 'INSTANCE',
            locked: decision.locked,
            reason: decision.reason,
            set_by: decision.setBy,
            set_at: decision.setAt,
          }
        : { value, source: 'PRODUCT', locked: false, reason: null, set_by: null, set_at: null },
    ]
  })
  return Object.fromEntries(entries) as SwitchesInForce
}
