import type { DrillReport } from '../../../core/drill/drill.ts'
import { readConfig } from '../../../core/kernel/config/config.ts'
import { BaseCommand } from '../../base-command.ts'
import { withDatabase } from '../../call/database.ts'
import { exitCodes } from '../../failure.ts'
import { drillTables } from '../../render/drill.ts'
import { withToldProgress } from '../../render/progress.ts'

export default class RecoveryDrill extends BaseCommand {
  static override summary = 'Rehearse a point-in-time recovery on a copy of the embedded database'
  static override description =
    'Takes a base backup, writes to the copy, rewinds it to a point in time, and runs the whole run-book on it. The live database is only read. The copy needs three times the space of the database and is removed afterwards. Exits 8 if something was not proved.'
  static override examples = ['<%= config.bin %> recovery drill']

  async run(): Promise<DrillReport> {
    await this.parse(RecoveryDrill)
    const config = readConfig()
    const { drill } = await import('../../../core/drill/drill.ts')
    const report = await withDatabase(config, this.note, () =>
      withToldProgress('Rehearsing a recovery', (tell) =>
        drill(config, (step) => tell(`Rehearsing a recovery: ${step}`)),
      ),
    )
    await this.show(() => drillTables(report))
    this.tell(
      report.passed
        ? '\nThe recovery works: no obligation was lost. The copy is removed. The live database was only read.'
        : '\nThe lines that say FAIL were not proved. The copy is removed. The live database was only read.',
    )
    if (!report.passed) process.exitCode = exitCodes.findings
    return report
  }
}
