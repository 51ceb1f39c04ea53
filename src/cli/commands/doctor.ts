import { Flags } from '@oclif/core'
import type { Config } from '../../core/kernel/config/config.ts'
import type { Keyring } from '../../core/kernel/sealing/keyring.ts'
import { BaseCommand } from '../base-command.ts'
import { hasEmbedded, withDatabase } from '../call/database.ts'
import { type Finding, fail, lineOf, ok } from '../doctor/finding.ts'
import { checkConfiguration, checkFolder, checkKeyringFile, checkMail, checkNode, checkSpace } from '../doctor/host.ts'
import { checkAccess, checkDaemon } from '../doctor/server.ts'
import { exitCodes } from '../failure.ts'
import { withProgress } from '../render/progress.ts'
import { type Column, table } from '../render/table.ts'

const columns: readonly Column<Finding>[] = [
  { head: '', cell: ({ state }) => state, whole: true },
  { head: 'CHECK', cell: ({ check }) => check, whole: true },
  { head: 'FOUND', cell: ({ says }) => says, whole: true },
]

export default class Doctor extends BaseCommand {
  static override summary = 'Check this installation: host, configuration, keyring, database, daemon, access'
  static override description =
    'Changes nothing. Exits 8 if something needs attention, and says for each finding what to do.'
  static override examples = ['<%= config.bin %> doctor', '<%= config.bin %> doctor --json']
  static override flags = {
    profile: Flags.string({ summary: "The profile to check instead of this folder's.", helpValue: 'NAME' }),
    'api-url': Flags.string({
      summary: 'The URL of the installation to check; overrides SVC_API_URL.',
      helpValue: 'URL',
    }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(Doctor)
    const checks = await withProgress('Checking', () => this.look({ profile: flags.profile, apiUrl: flags['api-url'] }))
    await this.show(() => table(checks, columns, ''))
    const findings = checks.filter(({ state }) => state !== 'ok')
    for (const { check, remedy } of findings) this.log(`\n${check}: ${remedy}`)
    if (findings.length > 0) process.exitCode = exitCodes.findings
    else this.tell('\nEvery check passed.')
    return { checks }
  }

  private async look(choice: { profile: string | undefined; apiUrl: string | undefined }): Promise<Finding[]> {
    const { finding, config } = checkConfiguration()
    const local = config ? await this.installation(config) : []
    return [checkNode(), finding, ...local, await checkAccess(choice)]
  }

  private async installation(config: Config): Promise<Finding[]> {
    if (!config.database && !hasEmbedded(config))
      return [ok('installation', `none in ${config.dataDir}; \`svc up\` makes one`)]
    const { finding, keyring } = checkKeyringFile(config)
    const folder = config.database ? [] : [checkFolder(config), checkSpace(config.dataDir)]
    const database = await this.database(config, keyring)
    return [...folder, finding, ...database, await checkMail(config), await checkDaemon(config)]
  }

  private async database(config: Config, keyring: Keyring | undefined): Promise<Finding[]> {
    const { checkDatabase } = await import('../doctor/database.ts')
    const { checkLedger } = await import('../doctor/ledger.ts')
    const { checkMedia } = await import('../doctor/media.ts')
    return withDatabase(config, this.note, async (database) => {
      const findings = await checkDatabase(database, keyring, config.mode)
      const isUsable = keyring !== undefined && findings.every(({ state }) => state !== 'fail')
      const ofUsable = isUsable
        ? [...(await checkLedger(config, keyring, database)), await checkMedia(config, database)]
        : []
      return [...findings, ...ofUsable]
    }).catch((error: unknown) => [fail('database', lineOf(error), 'See the log in the data folder.')])
  }
}
