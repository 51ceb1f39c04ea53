import { readConfig } from '../../../core/kernel/config/config.ts'
import { BaseCommand } from '../../base-command.ts'
import { withDatabase } from '../../call/database.ts'
import { exitCodes } from '../../failure.ts'

export default class DbStatus extends BaseCommand {
  static override summary = 'Compare the database with this release; exits 8 if they differ'
  static override examples = ['<%= config.bin %> db status', '<%= config.bin %> db status --json']

  async run(): Promise<unknown> {
    await this.parse(DbStatus)
    const config = readConfig()
    const { migrationStatus } = await import('../../../core/kernel/database/migrate.ts')
    const status = await withDatabase(config, this.note, ({ owner }) => migrationStatus(owner))
    const { applied, pending, unknown, barring } = status
    this.log(
      `${applied.length} migrations applied, ${pending.length} pending, ${unknown.length} unknown to this release.`,
    )
    for (const name of pending) this.log(`pending  ${name}`)
    for (const name of unknown)
      this.log(`unknown  ${name}${barring.includes(name) ? '' : ' (this release runs on it)'}`)
    if (barring.length > 0) this.tell('A newer release of svc has migrated the database. Next: run that release.')
    else if (pending.length > 0) this.tell('Next: svc db migrate')
    else if (unknown.length > 0)
      this.tell('A newer release of svc has migrated the database. Next: finish the upgrade.')
    if (pending.length + unknown.length > 0) process.exitCode = exitCodes.findings
    return status
  }
}
