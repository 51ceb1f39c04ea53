import type { Check } from '../../../core/areas/recovery/finding.ts'
import { BaseCommand } from '../../base-command.ts'
import { ledgerFlag, withInstallation } from '../../call/recovery-installation.ts'
import { exitCodes } from '../../failure.ts'
import { checkTable } from '../../render/recovery.ts'

export default class RecoveryCheck extends BaseCommand {
  static override summary = 'Check whether a recovered installation can admit workspaces'
  static override description =
    'Changes nothing. Exits 8 if something needs attention, and says for each finding what to do.'
  static override examples = ['<%= config.bin %> recovery check', '<%= config.bin %> recovery check --json']
  static override flags = ledgerFlag

  async run(): Promise<{ checks: readonly Check[] }> {
    const { flags } = await this.parse(RecoveryCheck)
    const checks = await this.look(flags.ledger ?? [])
    this.log(await checkTable(checks))
    if (checks.some(({ state }) => state === 'finding')) process.exitCode = exitCodes.findings
    else this.tell('\nEvery check passed. Next: svc recovery admit')
    return { checks }
  }

  /** An installation that cannot be opened is a finding, too. */
  private async look(ledgers: readonly string[]): Promise<readonly Check[]> {
    try {
      return await withInstallation(this.note, async (installation) => {
        const { checkRecovery } = await import('../../../core/areas/recovery/check.ts')
        return checkRecovery(installation, ledgers)
      })
    } catch (error) {
      const { name, message } = error as Error
      const code = name === 'SchemaError' ? 'migrations' : name === 'ConfigurationError' ? 'keyring' : undefined
      if (!code) throw error
      return [{ code, state: 'finding', says: message, remedy: null }]
    }
  }
}
