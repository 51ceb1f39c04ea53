import { Args } from '@oclif/core'
import { settingsOperations } from '../../../core/contract/settings/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { changesBetween, readDocument } from '../../input/settings-document.ts'
import { changeTable } from '../../render/settings.ts'

export default class SettingsApply extends CallerCommand {
  static override summary = 'Replace all settings from a file; settings that it omits get their defaults'
  static override description =
    'Shows the changes and writes them in one step. Exits 5 if the settings were changed by another call in the meantime. Refused while a file enforces the settings: change that file and send SIGHUP to the daemon.'
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
    this.tell(changes.length === 0 ? 'Nothing changed.' : `${changes.length} changed.`)
    await this.show(() => changeTable(changes))
    return settings
  }
}
