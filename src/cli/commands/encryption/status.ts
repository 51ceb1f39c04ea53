import { Flags } from '@oclif/core'
import { encryptionOperations } from '../../../core/contract/keyring/operations.ts'
import { CallerCommand } from '../../base-command.ts'
import { endOfReseal, followReseal } from '../../follow/encryption.ts'
import { keyringTable } from '../../render/keyring.ts'

export default class EncryptionStatus extends CallerCommand {
  static override summary = 'Show the master keys, the number of stored values under each, and the progress of a reseal'
  static override examples = ['<%= config.bin %> encryption status', '<%= config.bin %> encryption status --watch']
  static override flags = {
    watch: Flags.boolean({ summary: 'Show the progress until every value is under the current key.' }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(EncryptionStatus)
    const caller = await this.open(flags)
    const keyring = flags.watch
      ? await followReseal(caller, { works: false })
      : await caller.call(encryptionOperations.getEncryption, {})
    await this.show(() => keyringTable(keyring))
    endOfReseal(keyring, this.tell)
    return keyring
  }
}
