import { Args } from '@oclif/core'
import { settingsOperations } from '../../../core/contract/settings/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { changesBetween, readDocument } from '../../input/settings-document.ts'
import { changeTable } from '../../render/settings.ts'

export default class SettingsApply extends CallerCommand {
  static override summary = 'Decide anew from a file; what it leaves out is decided no longer'
  static override description =
    'Shows what moves and writes it in one step, unless somebody else has written since (exit code 5). While a file enforces the settings this is refused: change that file and send the daemon SIGHUP.'
  static override examples = [
    '<%= config.bin %> settings apply settings.yaml',
    '<%= config.bin %> settings apply - < settings.json',
  ]
  static override args = {
    file: Args.string({ ignoreStdin: true, required: true, description: 'YAML or JSON; - reads standard input' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(SettingsApply)
    const body = await readDocument(args.file)
    const caller = await this.open(flags)
    const before = await caller.call(settingsOperations.getSettings, {})
    const changes = changesBetween(before, body)
    const settings = await caller.call(settingsOperations.replaceSettings, { body, ifMatch: `"${before.version}"` })
    this.tell(changes.length === 0 ? 'Nothing moved.' : `${changes.length} moved.`)
    await this.show(() => changeTable(changes))
    return settings
  }
}
