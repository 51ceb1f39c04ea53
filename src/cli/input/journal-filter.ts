/**
 * Which entries of the journal are shown. The API answers the whole record, newest first, so the command filters it, and stops
 * reading behind the start of the period (docs/decisions/0292).
 */
import { Flags } from '@oclif/core'
import type { JournalEntry } from '../../core/contract/journal/operations.ts'
import type { NameOf } from '../render/journal.ts'
import { isWithin, type Span, spanFlags, spanOf } from './span.ts'

export const journalFilterFlags = {
  ...spanFlags,
  action: Flags.string({
    summary: 'Only this action; tenant.* is every action on a workspace. May be given several times.',
    multiple: true,
  }),
  workspace: Flags.string({ summary: 'Only entries about this workspace, by slug or id.', helpValue: 'SLUG' }),
  actor: Flags.string({
    summary: 'Only what this operator did: the address it signs in with, or its account id; or RECOVERY or SYSTEM.',
    helpValue: 'WHO',
  }),
}

interface Given {
  readonly since?: string | undefined
  readonly until?: string | undefined
  readonly action?: readonly string[] | undefined
  readonly workspace?: string | undefined
  readonly actor?: string | undefined
}

export interface JournalFilter {
  readonly span: Span
  readonly isEmpty: boolean
  readonly keeps: (entry: JournalEntry) => boolean
}

/** Fails (usage) for a time that is none. */
export function journalFilter(given: Given, nameOf: NameOf): JournalFilter {
  const span = spanOf(given)
  const { action, workspace, actor } = given
  return {
    span,
    isEmpty: Object.values({ ...given }).every((value) => value === undefined),
    keeps: (entry) =>
      isWithin(span, entry.at) &&
      (action === undefined || action.some((pattern) => isLike(entry.action, pattern))) &&
      (workspace === undefined || entry.tenant?.slug === workspace || entry.tenant?.id === workspace.toLowerCase()) &&
      (actor === undefined || isBy(entry.actor, actor, nameOf)),
  }
}

const isLike = (action: string, pattern: string) =>
  pattern.endsWith('*') ? action.startsWith(pattern.slice(0, -1)) : action === pattern

function isBy({ kind, account_id }: JournalEntry['actor'], who: string, nameOf: NameOf): boolean {
  if (kind === who.toUpperCase() && kind !== 'ACCOUNT') return true
  if (account_id === null) return false
  return account_id === who.toLowerCase() || nameOf(account_id)?.toLowerCase() === who.toLowerCase()
}
