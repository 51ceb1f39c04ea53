import { type Config, readConfig } from '../../../core/kernel/config/config.ts'
import { mistypedVariables } from '../../../core/kernel/config/mistyped.ts'
import { BaseCommand } from '../../base-command.ts'
import { checkKeyringFile } from '../../doctor/host.ts'
import { exitCodes, type Failure } from '../../failure.ts'
import { readDocument } from '../../input/settings-document.ts'

interface Validation {
  readonly is_valid: boolean
  readonly findings: readonly string[]
}

export default class ConfigValidate extends BaseCommand {
  static override summary = 'Check the configuration of this folder without starting anything'
  static override description =
    'Reads the environment, .env, the keyring file and the settings file, as a daemon that is started here does. A value that stops the start exits 2; a finding that does not exits 8. `doctor` also asks the database and the daemon.'
  static override examples = ['<%= config.bin %> config validate && systemctl restart svc']

  async run(): Promise<Validation> {
    await this.parse(ConfigValidate)
    const config = readConfig()
    const findings = [...mistypedVariables(process.env), ...keyringFault(config), ...(await settingsFault(config))]
    if (findings.length > 0) process.exitCode = exitCodes.findings
    this.log(findings.length === 0 ? 'The configuration is valid.' : findings.join('\n'))
    if (findings.length === 0) this.tell('A daemon reads it when it starts.')
    else this.tell('Correct it in the environment or in .env. `svc config show` says where each value comes from.')
    return { is_valid: findings.length === 0, findings }
  }
}

/** The embedded installation makes its keyring itself; elsewhere a daemon does not start without it. */
function keyringFault(config: Config): string[] {
  const { finding, keyring } = checkKeyringFile(config)
  return keyring === undefined && config.database !== undefined ? [`keyring: ${finding.says}`] : []
}

async function settingsFault({ settingsFile }: Config): Promise<string[]> {
  if (settingsFile === undefined) return []
  return readDocument(settingsFile).then(
    () => [],
    (error: Failure) => [`settings file: ${error.message} ${error.remedy ?? ''}`.trim()],
  )
}
