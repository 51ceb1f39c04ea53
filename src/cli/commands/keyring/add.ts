import { Flags } from '@oclif/core'
import { readConfig } from '../../../core/kernel/config/config.ts'
import { keyId } from '../../../core/kernel/sealing/keyring.ts'
import { addKey } from '../../../core/kernel/sealing/keyring-file.ts'
import { BaseCommand } from '../../base-command.ts'
import { Failure } from '../../failure.ts'

export default class KeyringAdd extends BaseCommand {
  static override summary = 'Add a new key to the keyring; it seals nothing until it is promoted'
  static override description =
    'The first step of a key change. Every daemon must have the key before the key can become the current one: ' +
    'copy the file to each host, and send SIGHUP to each daemon. See docs/keyring.md.'
  static override examples = ['<%= config.bin %> keyring add', '<%= config.bin %> keyring add --id k2026b']
  static override flags = {
    id: Flags.string({ summary: 'The name of the key; default: derived from the date.', helpValue: 'KEY' }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(KeyringAdd)
    if (flags.id !== undefined && !keyId.test(flags.id))
      throw new Failure('usage', '--id takes 1 to 32 lower-case letters, digits and dashes.')
    const { keyring, id } = await addKey(readConfig().keyringFile, flags.id)
    this.log(id)
    this.tell(`Added ${id} to ${keyring.path}. The current key is still ${keyring.current}. Back up the file now.`)
    this.tell(`Next: copy it to every daemon's host, send SIGHUP to each daemon, then: svc keyring promote ${id}`)
    return { file: keyring.path, current: keyring.current, added: id, keys: keyring.ids.map((key_id) => ({ key_id })) }
  }
}
