import { Args, Flags } from '@oclif/core'
import { type Restore, restoreOperations } from '../../../core/contract/backup/restores.ts'
import { CallerCommand } from '../../base-command.ts'
import { followRestore } from '../../follow/restores.ts'
import { confirmByName } from '../../input/prompts.ts'
import { proofFlags } from '../../input/second-factor-input.ts'
import { restoreDetails } from '../../render/restore.ts'

export default class RestoresUndo extends CallerCommand {
  static override summary = 'Take a rewind back'
  static override description =
    'What the rewind replaced comes back. Rows that were edited since stay as they are, unless --replace-edits says otherwise. ' +
    'Asks for your password again. With --recovery this command does the work itself.'
  static override examples = ['<%= config.bin %> restores undo 0190c9d2-7a3b-7cde-8f01-23456789abcd']
  static override args = {
    restore: Args.string({ ignoreStdin: true, required: true, description: "the restore's id" }),
  }
  static override flags = {
    'replace-edits': Flags.boolean({ summary: 'Take back what was edited since, too.' }),
    confirm: Flags.string({ summary: 'Confirm without a prompt: the slug of the workspace.', helpValue: 'SLUG' }),
    ...proofFlags,
  }

  async run(): Promise<Restore> {
    const { args, flags } = await this.parse(RestoresUndo)
    const caller = await this.open(flags)
    const { id, tenant } = await caller.call(restoreOperations.getRestore, { restoreId: args.restore })
    const slug = tenant?.slug ?? id
    await confirmByName(
      slug,
      `The workspace ${slug} is closed for some seconds, and its rewind is taken back.`,
      flags.confirm,
    )
    const sent = {
      restoreId: id,
      body: { edited_since: flags['replace-edits'] ? ('REPLACE' as const) : ('KEEP' as const) },
    }
    const undoing = await this.callProven(caller, restoreOperations.undoRestore, sent, flags)
    const done = await followRestore(caller, undoing)
    this.log(restoreDetails(done))
    return done
  }
}
