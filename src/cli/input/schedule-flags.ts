/** The flags that say what a schedule of backups is. */
import { Flags } from '@oclif/core'
import { depths } from '../../core/contract/backup/backups.ts'
import type { BackupSchedule, Keep } from '../../core/contract/backup/schedules.ts'
import type { Caller } from '../call/caller.ts'
import { Failure } from '../failure.ts'
import { findTarget } from '../find/backup-targets.ts'
import { isId } from '../find/pick.ts'
import { findWorkspace } from '../find/workspaces.ts'

const members = ['last', 'hourly', 'daily', 'weekly', 'monthly', 'yearly', 'min_days'] as const

export const scheduleFlags = {
  'time-zone': Flags.string({ summary: 'The zone on whose clocks the expression is read.', helpValue: 'ZONE' }),
  workspace: Flags.string({
    summary: 'For operators: a workspace to back up, its slug or id; several by repeating the flag.',
    multiple: true,
    multipleNonGreedy: true,
    exclusive: ['all'],
    helpValue: 'WORKSPACE',
  }),
  all: Flags.boolean({ summary: 'For operators: all workspaces that are there at each run.' }),
  keep: Flags.string({
    summary: 'How many are kept, e.g. last=7,daily=30,monthly=12,min_days=1; also hourly, weekly, yearly.',
    helpValue: 'RULES',
  }),
  verify: Flags.string({ summary: 'How each backup is verified.', options: depths }),
  recipient: Flags.string({
    summary: 'Who can read the backups besides this installation, as `age-keygen -y` prints it; up to five.',
    multiple: true,
    multipleNonGreedy: true,
    helpValue: 'AGE1…',
  }),
}

interface Given {
  readonly 'time-zone'?: string | undefined
  readonly workspace?: string[] | undefined
  readonly all?: boolean | undefined
  readonly keep?: string | undefined
  readonly verify?: string | undefined
  readonly recipient?: string[] | undefined
  readonly target?: string | undefined
}

/** The members of a body that the flags name. Fails (usage) for rules that cannot be read. */
export async function readSchedule(caller: Caller, flags: Given) {
  const { workspace, all, keep, verify, recipient, target } = flags
  const tenants = all ? ('ALL' as const) : workspace && (await idsOf(caller, workspace))
  return {
    ...(flags['time-zone'] === undefined ? {} : { time_zone: flags['time-zone'] }),
    ...(tenants === undefined ? {} : { tenants }),
    ...(keep === undefined ? {} : { keep: readKeep(keep) }),
    ...(verify === undefined ? {} : { verify: verify as BackupSchedule['verify'] }),
    ...(recipient === undefined ? {} : { recipients: recipient }),
    ...(target === undefined ? {} : { target_id: isId(target) ? target : (await findTarget(caller, target)).id }),
  }
}

async function idsOf(caller: Caller, names: readonly string[]): Promise<string[]> {
  const ids: string[] = []
  for (const name of names) ids.push((await findWorkspace(caller, name)).id)
  return ids
}

function readKeep(text: string): Partial<Keep> {
  const rules = text.split(',').map((rule) => /^(\w+)=(\d{1,4})$/.exec(rule.trim()))
  const read = rules.map((rule) => [rule?.[1], Number(rule?.[2])] as const)
  if (read.some(([name]) => !members.includes(name as (typeof members)[number])))
    throw new Failure(
      'usage',
      `--keep "${text}" cannot be read.`,
      `Write rules as last=7,daily=30: ${members.join(', ')}.`,
    )
  return Object.fromEntries(read)
}
