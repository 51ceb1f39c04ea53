import { Flags } from '@oclif/core'
import { BaseCommand } from '../../base-command.ts'
import { type Setting, settingsInForce } from '../../input/configuration.ts'
import { type Column, table } from '../../render/table.ts'

const columns: readonly Column<Setting>[] = [
  { head: 'VARIABLE', cell: ({ name }) => name, whole: true },
  { head: 'VALUE', cell: ({ value }) => value ?? '' },
  { head: 'FROM', cell: ({ from }) => from, whole: true },
]

export default class ConfigShow extends BaseCommand {
  static override summary = 'Show the configuration of this folder, and where each value comes from'
  static override description =
    'Reads the environment and .env, as a daemon that is started here does. Secrets and the passwords of URLs are masked. docs/generated/configuration.md says what each variable does; `settings show` shows what the installation decided for its workspaces.'
  static override examples = ['<%= config.bin %> config show', '<%= config.bin %> config show --all -o csv']
  static override flags = {
    all: Flags.boolean({ summary: 'Show the variables that have their default, too.' }),
  }

  async run(): Promise<{ data: Setting[] }> {
    const { flags } = await this.parse(ConfigShow)
    const data = settingsInForce().filter(({ from }) => flags.all || from === 'environment' || from === '.env')
    await this.show(() => table(data, columns, 'No SVC_ variable is set: everything has its default.'))
    if (!flags.all)
      this.tell('Every other variable has its default; --all shows them. `svc config validate` checks all.')
    return { data }
  }
}
