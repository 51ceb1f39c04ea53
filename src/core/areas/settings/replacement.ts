/**
 * Reading and replacing the settings that the installation decided.
 *
 * A replacement replaces all settings: one that it omits is no longer decided. A row with an
 * unchanged value keeps its setter and its moment. One journal entry and a mail to each operator
 * name the changed settings, but never a value.
 *
 * The row of the installation is the lock: concurrent replacements run one after the other.
 *
 * Spec: Admin: installation settings, rule 1; decisions 4.
 */

import type { Answer, Received } from '../../contract/operation.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import type { settingsOperations as ops, SettingsDocument } from '../../contract/settings/operations.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import type { Installation } from '../../kernel/transaction/installation.ts'
import { type Actor, accountIdOf } from '../../kernel/values/actor.ts'
import { writeJson } from '../../kernel/values/json.ts'
import { knownLocale, knownTimeZone } from '../../kernel/values/locale.ts'
import { tellOperators } from '../mail/operators.ts'
import { BlocklistUnusable, blocklistPath, readBlocklist } from './blocklist.ts'
import { decisionsAlone } from './document.ts'
import { type Decision, type Decisions, readDecisions } from './settings.ts'

interface Level {
  readonly version: number
  /** The enforcing file that the decisions came from; null: the database. */
  readonly file: string | null
}

/** The settings that the installation decided. */
export async function getSettings(ctx: Ctx): Promise<Answer<typeof ops.getSettings>> {
  const decisions = await readDecisions(ctx)
  const [level] = await ctx.tx<Level[]>`select settings_version as version, settings_file as file from installation`
  return representation(decisions, level)
}

/** Replaces all settings. Refuses admin.settings_enforced, precondition.failed, request.invalid. */
export async function replaceSettings(
  ctx: Ctx,
  { body }: Received<typeof ops.replaceSettings>,
): Promise<Answer<typeof ops.replaceSettings>> {
  const level = await lockLevel(ctx)
  const enforcing = ctx.config.settingsFile ?? level.file
  if (enforcing !== null) refuse('admin.settings_enforced', { source: enforcing })
  ctx.unchanged(level.version)

  const replaced = await replaceDecisions(ctx, decisionsAlone(body), level)
  return representation(await readDecisions(ctx), replaced.level)
}

/** Checks what is outside the database, before the transaction. */
export const prepareReplacement = (
  installation: Installation,
  _: Actor,
  { body }: Received<typeof ops.replaceSettings>,
): Promise<void> => vetDocument(installation, body)

/** Refuses request.invalid for a locale or zone nobody knows, and for a blocklist that cannot be read. */
export async function vetDocument({ config }: Installation, document: SettingsDocument): Promise<void> {
  const { locale, time_zone } = document.localisation ?? {}
  if (locale !== undefined) knownLocale(locale, '/localisation/locale')
  if (time_zone !== undefined) knownTimeZone(time_zone, '/localisation/time_zone')
  if (document.blocklist_file === undefined) return
  try {
    await readBlocklist(blocklistPath(config, document.blocklist_file))
  } catch (error) {
    if (!(error instanceof BlocklistUnusable)) throw error
    refuseMember('/blocklist_file', 'file.unusable', { reason: error.reason })
  }
}

export async function lockLevel(ctx: Ctx): Promise<Level> {
  const [level] = await ctx.tx<Level[]>`
    select settings_version as version, settings_file as file from installation for update`
  if (!level) throw new Error('an installation without its row')
  return level
}

/** Writes a document that passed its schema and `vetDocument`, under `lockLevel`. Answers the changed names. */
export async function replaceDecisions(
  ctx: Ctx,
  document: SettingsDocument,
  level: Level,
  file: string | null = null,
): Promise<{ readonly level: Level; readonly moved: readonly string[] }> {
  const before = await readDecisions(ctx)
  const after = decisionsOf(document)

  const moved = movedBetween(before, after)
  if (moved.length === 0 && file === level.file) return { level, moved }

  for (const name of moved) await writeDecision(ctx, name, after.get(name))
  await ctx.tx`update installation set settings_version = settings_version + 1, settings_file = ${file}`
  const notice = await ctx.journal('settings.replaced', null, {
    params: { switches: moved, source: file === null ? 'database' : 'file' },
  })
  if (moved.length > 0) await tellOperators(ctx, 'settings_replaced', notice)
  return { level: { version: level.version + 1, file }, moved }
}

type NewDecision = Pick<Decision, 'value' | 'locked' | 'reason'>

async function writeDecision(ctx: Ctx, name: string, decision: NewDecision | undefined): Promise<void> {
  if (!decision) {
    await ctx.tx`delete from setting where name = ${name}`
    return
  }
  const { value, locked, reason } = decision
  await ctx.tx`
    insert into setting (name, value, is_locked, reason, set_by)
    values (${name}, ${writeJson(value)}::text::jsonb, ${locked}, ${reason}, ${accountIdOf(ctx.actor)})
    on conflict (name) do update
    set value = excluded.value, is_locked = excluded.is_locked, reason = excluded.reason, set_by = excluded.set_by, set_at = now()`
}

const plain = (value: unknown): NewDecision => ({ value, locked: false, reason: null })

/** The document's members by name, e.g. `quotas.items`. */
function decisionsOf(document: SettingsDocument): ReadonlyMap<string, NewDecision> {
  const { sign_in, blocklist_file, ...groups } = document
  const decided: [string, NewDecision][] = []
  for (const [name, given] of Object.entries(sign_in ?? {}))
    if (given !== undefined)
      decided.push([
        `sign_in.${name}`,
        { value: given.value, locked: given.locked ?? false, reason: given.reason ?? null },
      ])
  for (const [group, members] of Object.entries(groups))
    for (const [name, value] of Object.entries(members ?? {}))
      if (value !== undefined) decided.push([`${group}.${name}`, plain(value)])
  if (blocklist_file !== undefined) decided.push(['blocklist_file', plain(blocklist_file)])
  return new Map(decided)
}

/** The names of the changed settings, in alphabetical order. */
function movedBetween(before: Decisions, after: ReadonlyMap<string, NewDecision>): string[] {
  const text = (decision: NewDecision | undefined) =>
    decision && writeJson([decision.value, decision.locked, decision.reason])
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].filter((name) => text(before.get(name)) !== text(after.get(name))).sort()
}

function representation(decisions: Decisions, level: Level | undefined): Answer<typeof ops.getSettings> {
  const answer: Record<string, unknown> = {}
  for (const [name, { value, locked, reason }] of decisions) {
    const [group = '', member] = name.split('.')
    if (member === undefined) answer[group] = value
    else
      answer[group] = {
        ...(answer[group] as object | undefined),
        [member]: group === 'sign_in' ? { value, locked, reason } : value,
      }
  }
  return {
    ...(answer as SettingsDocument),
    source: level?.file ?? 'database',
    is_enforced_from_file: (level?.file ?? null) !== null,
    version: level?.version ?? 1,
  }
}
