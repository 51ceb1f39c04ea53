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
    'Takes a base backup, writes, rewinds a copy to a point, and goes through the whole run-book on it. The live database is only read; the copy needs as much space three times and is removed. Exits 8 where something was not proved.'
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
        ? '\nThe recovery works: nothing that is owed was lost. The copy is removed; the live database was only read.'
        : '\nSomething was not proved: the lines that say FAIL. The copy is removed; the live database was only read.',
    )
    if (!report.passed) process.exitCode = exitCodes.findings
    return report
  }
}
