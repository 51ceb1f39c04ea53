import { Flags } from '@oclif/core'
import { readConfig } from '../../../core/kernel/config/config.ts'
import { keyId } from '../../../core/kernel/sealing/keyring.ts'
import { addKey } from '../../../core/kernel/sealing/keyring-file.ts'
import { BaseCommand } from '../../base-command.ts'
import { Failure } from '../../failure.ts'

export default class KeyringAdd extends BaseCommand {
  static override summary = 'Add a new key to the keyring; nothing is sealed under it until it is promoted'
  static override description =
    'The first half of a switch. Every daemon has to hold the key before it may become the current one: ' +
    'copy the file to each host, and send each daemon SIGHUP. docs/keyring.md has the whole of it.'
  static override examples = ['<%= config.bin %> keyring add', '<%= config.bin %> keyring add --id k2026b']
  static override flags = {
    id: Flags.string({ summary: 'The name of the key; made of the day where absent.', helpValue: 'KEY' }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(KeyringAdd)
    if (flags.id !== undefined && !keyId.test(flags.id))
      throw new Failure('usage', '--id takes 1 to 32 lower-case letters, digits and dashes.')
    const { keyring, id } = await addKey(readConfig().keyringFile, flags.id)
    this.log(id)
    this.tell(`Added ${id} to ${keyring.path}; the current key is still ${keyring.current}. Back the file up now.`)
    this.tell(`Next: copy it to every daemon's host, send each daemon SIGHUP, then: svc keyring promote ${id}`)
    return { file: keyring.path, current: keyring.current, added: id, keys: keyring.ids.map((key_id) => ({ key_id })) }
  }
}
