import { Flags } from '@oclif/core'
import { encryptionOperations } from '../../../core/contract/keyring/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { endOfReseal, followReseal } from '../../follow/encryption.ts'
import { keyringTable } from '../../render/keyring.ts'

export default class EncryptionReseal extends CallerCommand {
  static override summary = 'Re-wrap every stored value that is not under the current key'
  static override description =
    'Queues one job for each workspace and one for the installation, and no second one while a job waits. ' +
    "No value is decrypted. The daemon's workers run the jobs; with --recovery and --watch this command runs them itself."
  static override examples = ['<%= config.bin %> encryption reseal', '<%= config.bin %> encryption reseal --watch']
  static override flags = {
    watch: Flags.boolean({ summary: 'Show the progress until every value is under the current key.' }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(EncryptionReseal)
    const caller = await this.open(flags)
    const asked = await caller.call(encryptionOperations.resealEncryption, {})
    this.tell(
      asked.queued > 0 ? `Queued ${asked.queued} job(s).` : 'Nothing new was queued: the jobs are waiting or running.',
    )
    if (!flags.watch) {
      this.tell('To see the progress: svc encryption status --watch')
      return asked
    }
    const keyring = await followReseal(caller, { works: true })
    await this.show(() => keyringTable(keyring))
    endOfReseal(keyring, this.tell)
    return keyring
  }
}
