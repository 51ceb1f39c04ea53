import { settingsOperations } from '../../../core/contract/settings/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { settingsTable } from '../../render/settings.ts'

export default class SettingsShow extends CallerCommand {
  static override summary = 'Show what this installation decided'
  static override description =
    'A switch that is not listed was not decided: the product’s own value counts (docs/settings.md). --json prints what `svc settings apply` takes.'
  static override examples = ['<%= config.bin %> settings show', '<%= config.bin %> settings show --json']

  async run(): Promise<unknown> {
    const { flags } = await this.parse(SettingsShow)
    const caller = await this.open(flags)
    const settings = await caller.call(settingsOperations.getSettings, {})
    this.tell(
      settings.is_enforced_from_file
        ? `Enforced by the file ${settings.source}: change it there.`
        : `Decided in the database (version ${settings.version}).`,
    )
    await this.show(() => settingsTable(settings))
    return settings
  }
}
