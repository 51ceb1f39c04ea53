import { readConfig } from '../../../core/kernel/config/config.ts'
import { BaseCommand } from '../../base-command.ts'
import { withDatabase } from '../../call/database.ts'
import { withProgress } from '../../render/progress.ts'

export default class DbMigrate extends BaseCommand {
  static override summary = 'Bring the database up to this release'
  static override description =
    'Runs as the owner (SVC_DATABASE_OWNER_URL) and grants the login of SVC_DATABASE_URL what the daemon needs. Running it twice, or twice at once, is safe.'
  static override examples = ['<%= config.bin %> db migrate']

  async run(): Promise<unknown> {
    await this.parse(DbMigrate)
    const config = readConfig()
    const { migrate } = await import('../../../core/kernel/database/migrate.ts')
    const { queueNames } = await import('../../../core/app/jobs.ts')
    const ran = await withDatabase(config, this.note, ({ owner, daemon }) =>
      withProgress('Migrating the database', () => migrate(owner, daemon, queueNames)),
    )
    this.log(
      ran.length === 0 ? 'The database is up to date; nothing was run.' : ran.map((name) => `ran ${name}`).join('\n'),
    )
    return { ran }
  }
}
