import { readFileSync } from 'node:fs'
import { Args, Flags } from '@oclif/core'
import type { Answer, Sent } from '../../../core/contract/operation.ts'
import { tenantOperations } from '../../../core/contract/tenants/operations.ts'
import { readJson } from '../../../core/kernel/values/json.ts'
import { CallerCommand } from '../../base-command.ts'
import { Failure } from '../../failure.ts'
import { findWorkspace } from '../../find/workspaces.ts'
import { readStdin } from '../../input/secret-input.ts'
import { unreadable } from '../../input/unreadable.ts'
import { moment } from '../../render/moment.ts'
import { type Column, table } from '../../render/table.ts'

type Replaced = Answer<typeof tenantOperations.replaceLegalHolds>

const columns: readonly Column<Replaced['placed'][number]>[] = [
  { head: 'HOLD', cell: ({ id }) => id, whole: true },
  { head: 'TARGET', cell: ({ target_present }) => (target_present ? 'present' : 'MISSING'), whole: true },
  { head: 'WAS RELEASED', cell: ({ released_at }) => moment(released_at) },
]

export default class TenantsReplaceLegalHolds extends CallerCommand {
  static override summary = 'Put legal holds in force again after the installation was recovered to an earlier time'
  static override description =
    'The file is the body of the operation: {"recovery_point": "…", "holds": [{"id", "scope", "reason", "placed_by", "placed_at", "released_at"}]}. ' +
    'It can have "archive": {"target_id", "path"}, a workspace archive at a backup target, instead of "holds" or together with it. ' +
    'A second run changes nothing. A hold that was released in the rewound period is placed, too.'
  static override examples = ['<%= config.bin %> tenants replace-legal-holds acme --file holds.json --recovery']
  static override args = {
    workspace: Args.string({ ignoreStdin: true, required: true, description: "the workspace's slug or id" }),
  }
  static override flags = {
    file: Flags.string({ summary: 'The holds, as JSON; - reads standard input.', required: true, helpValue: 'FILE' }),
  }

  async run(): Promise<Replaced> {
    const { args, flags } = await this.parse(TenantsReplaceLegalHolds)
    const body = await readBody(flags.file)
    const caller = await this.open(flags)
    const { id: tenantId } = await findWorkspace(caller, args.workspace)

    const answer = await caller.call(tenantOperations.replaceLegalHolds, { tenantId, body })

    this.log(await table(answer.placed, columns, 'No hold was missing.'))
    this.tell(`\n${answer.placed.length} placed, ${answer.already_present.length} present already.`)
    return answer
  }
}

/** Checks only that the file is JSON; the operation checks its schema. */
async function readBody(file: string): Promise<Sent<typeof tenantOperations.replaceLegalHolds>['body']> {
  try {
    return readJson(file === '-' ? await readStdin() : readFileSync(file, 'utf8')) as never
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('E')) throw unreadable(`the file ${file}`, error)
    throw new Failure('usage', `The file ${file} is not JSON.`)
  }
}
