/** Which entries of the journal are asked for. */
import { Flags } from '@oclif/core'
import type { JournalEntry, journalOperations } from '../../core/contract/journal/operations.ts'
import type { Received } from '../../core/contract/operation.ts'
import { operatorOperations } from '../../core/contract/operators/operations.ts'
import type { Caller } from '../call/caller.ts'
import { Failure } from '../failure.ts'
import { isId } from '../find/pick.ts'
import { spanFlags, spanOf } from './span.ts'

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

export type AskedJournal = Omit<Partial<Received<typeof journalOperations.listJournal>>, 'cursor' | 'size'>

/** Fails (usage) for a time, a slug or an action that is none, and before anything is asked. */
export function askedJournal({ since, until, action, workspace }: Given): AskedJournal {
  const { from, to } = spanOf({ since, until })
  const wrong = action?.find((one) => !/^[a-z_]+\.[a-z_]*\*?$/.test(one))
  if (wrong !== undefined)
    throw new Failure('usage', `--action ${wrong} is no action.`, 'Write, for example, tenant.suspended or operator.*')
  if (workspace !== undefined && !isId(workspace) && !/^[a-z0-9][a-z0-9-]{2,39}$/.test(workspace))
    throw new Failure(
      'usage',
      `--workspace ${workspace} is neither a slug nor an id.`,
      '`svc tenants list` shows them.',
    )
  return {
    ...(Number.isFinite(from) ? { from: new Date(from).toISOString() } : {}),
    ...(Number.isFinite(to) ? { until: new Date(to).toISOString() } : {}),
    ...(action === undefined ? {} : { action: action.join(',') }),
    ...(workspace === undefined ? {} : isId(workspace) ? { tenant_id: workspace.toLowerCase() } : { slug: workspace }),
  }
}

/** What each operator of the register signs in as. Of accounts that have left it, the journal knows the ids. */
export async function operatorNames(caller: Caller): Promise<ReadonlyMap<string, string>> {
  const { data } = await caller.call(operatorOperations.listOperators, {})
  return new Map(data.map(({ account_id, sign_in_name, name }) => [account_id, sign_in_name ?? name ?? account_id]))
}

/** Fails (usage) for a name that nobody in the register has. */
export function askedActor(who: string | undefined, names: ReadonlyMap<string, string>): AskedJournal {
  if (who === undefined) return {}
  const kind = who.toUpperCase() as JournalEntry['actor']['kind']
  if (kind === 'RECOVERY' || kind === 'SYSTEM' || kind === 'SERVICE') return { actor_kind: kind }
  if (isId(who)) return { actor_id: who.toLowerCase() }
  const found = [...names].find(([, name]) => name.toLowerCase() === who.toLowerCase())
  if (!found)
    throw new Failure(
      'usage',
      `No operator signs in as ${who}.`,
      '`svc operators list` shows the operators; of one who has left the register, give the account id.',
    )
  return { actor_id: found[0] }
}
