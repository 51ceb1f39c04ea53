import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { Flags } from '@oclif/core'
import { createKeyring } from '../../../core/kernel/sealing/keyring.ts'
import { loadEnvironment } from '../../../core/kernel/values/environment.ts'
import { BaseCommand } from '../../base-command.ts'
import { Failure } from '../../failure.ts'

export default class KeyringInit extends BaseCommand {
  static override summary = 'Make a keyring file with one new key; never replaces an existing file'
  static override examples = ['<%= config.bin %> keyring init --file /etc/svc/keyring.json']
  static override flags = {
    file: Flags.string({
      summary: 'The file to make; default: SVC_KEYRING_FILE, else keyring.json in the data folder.',
      helpValue: 'FILE',
    }),
  }

  async run(): Promise<unknown> {
    const { flags } = await this.parse(KeyringInit)
    const path = resolve(flags.file ?? defaultFile(loadEnvironment()))
    if (existsSync(path))
      throw new Failure(
        'conflict',
        `${path} exists already. Without its keys, every value sealed under them is lost.`,
        '`svc keyring show` shows its keys.',
      )
    const keyring = await createKeyring(path)
    this.tell(`Made ${path} (mode 600) with the key ${keyring.current}.`)
    this.tell('Next: back it up apart from the database. Without it no sealed value can be decrypted.')
    return { file: path, current: keyring.current, keys: keyring.ids.map((key_id) => ({ key_id })) }
  }
}

function defaultFile(env: NodeJS.ProcessEnv): string {
  if (env['SVC_KEYRING_FILE']) return env['SVC_KEYRING_FILE']
  if (env['SVC_DATABASE_URL'])
    throw new Failure('usage', 'SVC_KEYRING_FILE is not set.', 'Name the file: --file /etc/svc/keyring.json')
  return join(env['SVC_DATA_DIR'] || '.svc', 'keyring.json')
}
