import { Args } from '@oclif/core'
import { BaseCommand } from '../../base-command.ts'
import { withInstallation } from '../../call/recovery-installation.ts'
import { Failure } from '../../failure.ts'

export default class KeyringPromote extends BaseCommand {
  static override summary = 'Make a key of the keyring the current one; refused while a running daemon does not have it'
  static override description =
    'The second step of a key change. Daemons seal under the key after they have read the file again (SIGHUP). ' +
    '`encryption reseal` moves stored values to the key. Run this command on each host that has a keyring file.'
  static override examples = ['<%= config.bin %> keyring promote k2026b']
  static override args = {
    key: Args.string({ ignoreStdin: true, required: true, description: 'the name of the key' }),
  }

  async run(): Promise<unknown> {
    const { args } = await this.parse(KeyringPromote)
    return withInstallation(this.note, async (installation, actor) => {
      const { keyring } = installation
      if (!keyring.has(args.key))
        throw new Failure(
          'notFound',
          `${keyring.path} holds no key "${args.key}".`,
          '`svc keyring show` shows its keys.',
        )
      const { promote } = await import('../../../core/areas/keyring/promotion.ts')
      const { unawareOf, unawareRemedy } = await import('../../../core/areas/keyring/keyring-check.ts')
      const unaware = await promote(installation, actor, args.key)
      if (unaware.length > 0) throw new Failure('conflict', unawareOf(args.key, unaware), unawareRemedy)
      this.tell(`${args.key} is the current key.`)
      this.tell('Next: send SIGHUP to every daemon, then: svc encryption reseal --watch')
      return { file: keyring.path, current: args.key }
    })
  }
}
