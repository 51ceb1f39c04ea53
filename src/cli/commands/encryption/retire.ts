import { Args, Flags } from '@oclif/core'
import { BaseCommand } from '../../base-command.ts'
import { withInstallation } from '../../call/recovery-installation.ts'
import { Failure } from '../../failure.ts'
import { confirmByName } from '../../input/prompts.ts'

export default class EncryptionRetire extends BaseCommand {
  static override summary = 'Take a key out of the keyring; refused while a stored value or an archive still needs it'
  static override description =
    'Works on the keyring file of this host. What verifies the obligation ledger and purge certificates stays in ' +
    'the file and opens nothing. Backups of the database from before the reseal still need the key: keep a backup ' +
    'of the keyring as long as those.'
  static override examples = ['<%= config.bin %> encryption retire k2026a --confirm k2026a']
  static override args = {
    key: Args.string({ ignoreStdin: true, required: true, description: 'the name of the key' }),
  }
  static override flags = {
    confirm: Flags.string({ summary: 'Answers the question whether to retire it.', helpValue: 'KEY' }),
  }

  async run(): Promise<unknown> {
    const { args, flags } = await this.parse(EncryptionRetire)
    return withInstallation(this.note, async (installation, actor) => {
      const { keyring } = installation
      if (!keyring.has(args.key))
        throw new Failure(
          'notFound',
          `${keyring.path} holds no key "${args.key}".`,
          '`svc keyring show` shows its keys.',
        )
      await confirmByName(
        args.key,
        `${args.key} leaves ${keyring.path}: backups of the database that still need it cannot be opened with this file.`,
        flags.confirm,
      )
      const { retire } = await import('../../../core/areas/keyring/retirement.ts')
      const hindrances = await retire(installation, actor, args.key)
      if (hindrances.length > 0)
        throw new Failure(
          'conflict',
          `${args.key} was not retired: ${hindrances.map(({ says }) => says).join('; ')}.`,
          '`svc encryption status` counts what names each key.',
        )
      this.tell(`${args.key} is retired. Next: copy ${keyring.path} to the other hosts, and send each daemon SIGHUP.`)
      return { file: keyring.path, retired: args.key }
    })
  }
}
