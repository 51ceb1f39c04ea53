import { Args } from '@oclif/core'
import { settingsOperations } from '../../../core/contract/settings/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { changesBetween, readDocument } from '../../input/settings-document.ts'
import { changeTable } from '../../render/settings.ts'

export default class SettingsDiff extends CallerCommand {
  static override summary = 'Compare a settings file with the settings in force'
  static override description =
    'Changes nothing. Exits 0 if the file would change nothing, and 8 if it would change something.'
  static override examples = [
    '<%= config.bin %> settings diff settings.yaml',
    '<%= config.bin %> settings show --json | <%= config.bin %> settings diff -',
  ]
  static override args = {
    file: Args.string({ ignoreStdin: true, required: true, description: 'YAML or JSON; - reads standard input' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(SettingsDiff)
    const wanted = await readDocument(args.file)
    const caller = await this.open(flags)
    const changes = changesBetween(await caller.call(settingsOperations.getSettings, {}), wanted)
    this.tell(changes.length === 0 ? 'Nothing would change.' : `${changes.length} would change.`)
    await this.show(() => changeTable(changes))
    if (changes.length > 0) process.exitCode = 8
    return { data: changes }
  }
}
