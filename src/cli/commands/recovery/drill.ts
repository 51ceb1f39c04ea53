import { readConfig } from '../../../core/config.ts'
import type { DrillReport } from '../../../core/recovery/drill.ts'
import { BaseCommand } from '../../base-command.ts'
import { withDatabase } from '../../database.ts'
import { exitCodes } from '../../failure.ts'
import { withProgress } from '../../render/progress.ts'
import { type Column, table } from '../../render/table.ts'

const stepColumns: readonly Column<DrillReport['steps'][number]>[] = [
  { head: 'STEP', cell: ({ name }) => name, whole: true },
  { head: 'MS', cell: ({ ms }) => String(ms), align: 'right' },
]
const lostColumns: readonly Column<DrillReport['lost'][number]>[] = [
  { head: 'LOST IN THE REWIND', cell: ({ what }) => what, whole: true },
  { head: 'COUNT', cell: ({ count }) => String(count), align: 'right' },
]
const replacedColumns: readonly Column<[string, number]>[] = [
  { head: 'DONE AGAIN', cell: ([what]) => what, whole: true },
  { head: 'COUNT', cell: ([, count]) => String(count), align: 'right' },
]
const provedColumns: readonly Column<DrillReport['proved'][number]>[] = [
  { head: '', cell: ({ holds }) => (holds ? 'ok' : 'FAIL'), whole: true },
  { head: 'PROVED', cell: ({ claim }) => claim, whole: true },
]

export default class RecoveryDrill extends BaseCommand {
  static override summary = 'Rehearse a point-in-time recovery on a copy of the embedded database'
  static override description =
    'Takes a base backup, writes, rewinds a copy to a point, and goes through the whole run-book on it. The live database is only read; the copy needs as much space three times and is removed. Exits 8 where something was not proved.'
  static override examples = ['<%= config.bin %> recovery drill']

  async run(): Promise<DrillReport> {
    await this.parse(RecoveryDrill)
    const config = readConfig()
    const { drill } = await import('../../../core/recovery/drill.ts')
    const report = await withDatabase(config, this.note, () =>
      withProgress('Rehearsing', () => drill(config, () => {})),
    )
    this.log(await table(report.steps, stepColumns, ''))
    this.log(`\n${await table(report.lost, lostColumns, '')}`)
    this.log(`\n${await table(Object.entries(report.replaced), replacedColumns, 'Nothing was done again.')}`)
    this.log(`\n${await table(report.proved, provedColumns, '')}`)
    this.tell(
      `\nRecovered to ${report.recovery_point} in ${report.took_ms} ms; a second run found ${report.second_run} to do.`,
    )
    if (!report.passed) process.exitCode = exitCodes.findings
    return report
  }
}
