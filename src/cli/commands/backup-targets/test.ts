import { Args } from '@oclif/core'
import { backupOperations, type ProbeStep } from '../../../core/contract/backup/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { exitCodes } from '../../failure.ts'
import { findTarget } from '../../find/backup-targets.ts'
import { withProgress } from '../../render/progress.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<ProbeStep>[] = [
  { head: 'STEP', cell: (step) => step.name, whole: true },
  { head: 'RESULT', cell: (step) => (step.ok ? 'ok' : 'failed'), whole: true },
  { head: 'WHY', cell: (step) => (step.error === null ? '' : `${step.error}: ${meanings[step.error] ?? ''}`) },
]

const meanings: Readonly<Record<string, string>> = {
  unreachable: 'nothing answers at this address',
  refused: 'the egress guard refuses this address, or the folder contains a link',
  credentials: 'the target refuses the credentials',
  host_key: 'the server has a different host key',
  missing: 'the folder or the bucket does not exist',
  read_only: 'the target does not allow writing',
  full: 'the target has no space left',
  timeout: 'no answer in time',
  failed: 'it failed and gave no reason',
}

export default class BackupTargetsTest extends CallerCommand {
  static override summary = 'Write, read and remove a probe at a backup target'
  static override description = 'Exits 8 when a step fails; docs/runbooks/backup-targets.md says what to do.'
  static override examples = ['<%= config.bin %> backup-targets test disk']
  static override args = {
    target: Args.string({ ignoreStdin: true, required: true, description: "the target's name or id" }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(BackupTargetsTest)
    const caller = await this.open(flags)
    const target = await findTarget(caller, args.target)
    const answer = await withProgress(`Testing ${target.name}`, () =>
      caller.call(backupOperations.testBackupTarget, { targetId: target.id }),
    )
    this.log(await table(answer.steps, columns, ''))
    if (!answer.ok) process.exitCode = exitCodes.findings
    return answer
  }
}
