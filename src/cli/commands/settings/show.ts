import { settingsOperations } from '../../../core/contract/settings/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { settingsTable } from '../../render/settings.ts'

export default class SettingsShow extends CallerCommand {
  static override summary = 'Show the settings of this installation'
  static override description =
    'Lists only settings that were decided; every other setting has its default (docs/settings.md). `svc settings apply` accepts the output of --json.'
  static override examples = ['<%= config.bin %> settings show', '<%= config.bin %> settings show --json']

  async run(): Promise<unknown> {
    const { flags } = await this.parse(SettingsShow)
    const caller = await this.open(flags)
    const settings = await caller.call(settingsOperations.getSettings, {})
    this.tell(
      settings.is_enforced_from_file
        ? `Enforced by the file ${settings.source}. Change the settings there.`
        : `Stored in the database (version ${settings.version}).`,
    )
    await this.show(() => settingsTable(settings))
    return settings
  }
}
