import { Args, Flags } from '@oclif/core'
import { BaseCommand } from '../../base-command.ts'
import { withInstallation } from '../../call/recovery-installation.ts'
import { Failure } from '../../failure.ts'
import { confirmByName } from '../../input/prompts.ts'

export default class EncryptionRetire extends BaseCommand {
  static override summary = 'Remove a key from the keyring; refused while a stored value or an archive still needs it'
  static override description =
    'Changes the keyring file of this host. The part that verifies the obligation ledger and purge certificates stays ' +
    'in the file; it cannot decrypt anything. Backups of the database from before the reseal still need the key: keep ' +
    'a backup of the keyring as long as you keep those.'
  static override examples = ['<%= config.bin %> encryption retire k2026a --confirm k2026a']
  static override args = {
    key: Args.string({ ignoreStdin: true, required: true, description: 'the name of the key' }),
  }
  static override flags = {
    confirm: Flags.string({ summary: 'Confirm without a prompt: the name of the key.', helpValue: 'KEY' }),
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
        `${args.key} is removed from ${keyring.path}. This file can then no longer open backups of the database that need the key.`,
        flags.confirm,
      )
      const { retire } = await import('../../../core/areas/keyring/retirement.ts')
      const hindrances = await retire(installation, actor, args.key)
      if (hindrances.length > 0)
        throw new Failure(
          'conflict',
          `${args.key} was not removed: ${hindrances.map(({ says }) => says).join('; ')}.`,
          '`svc encryption status` shows how many values each key protects.',
        )
      this.tell(`${args.key} is removed. Next: copy ${keyring.path} to the other hosts, and send each daemon SIGHUP.`)
      return { file: keyring.path, retired: args.key }
    })
  }
}
