import { packageRoot } from '../../core/kernel/values/package-root.ts'
import { BaseCommand } from '../base-command.ts'
import { details } from '../render/details.ts'

export default class Version extends BaseCommand {
  static override summary = 'Show the release, the Node.js and the database schema of this command'
  static override description = 'Asks no server; `status` shows an installation.'
  static override examples = ['<%= config.bin %> version', '<%= config.bin %> version --jq .version']

  async run(): Promise<Readonly<Record<string, string>>> {
    await this.parse(Version)
    const { migrationNames } = await import('../../core/kernel/database/migration-names.ts')
    const version = {
      version: this.config.version,
      node: process.version,
      platform: `${process.platform}-${process.arch}`,
      schema: migrationNames().at(-1) ?? '-',
      folder: packageRoot,
    }
    this.log(details(Object.entries(version)))
    return version
  }
}
