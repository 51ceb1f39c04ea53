import { readConfig } from '../../../core/kernel/config/config.ts'
import { BaseCommand } from '../../base-command.ts'
import { withDatabase } from '../../call/database.ts'
import { withProgress } from '../../render/progress.ts'

export default class DbMigrate extends BaseCommand {
  static override summary = 'Migrate the database to this release'
  static override description =
    'Logs in as the owner (SVC_DATABASE_OWNER_URL), and grants the login of SVC_DATABASE_URL the rights that the daemon needs. It is safe to run it again, or twice at the same time.'
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
      ran.length === 0 ? 'The database is up to date; no migration ran.' : ran.map((name) => `ran ${name}`).join('\n'),
    )
    return { ran }
  }
}
