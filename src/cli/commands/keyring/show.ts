import { statSync } from 'node:fs'
import { type Config, readConfig } from '../../../core/kernel/config/config.ts'
import { readKeyring } from '../../../core/kernel/sealing/keyring.ts'
import { BaseCommand } from '../../base-command.ts'
import { countSealed, hasEmbedded, type KeyCount, withDatabase } from '../../call/database.ts'
import { exitCodes } from '../../failure.ts'
import { type Column, table } from '../../render/table.ts'

interface KeyRow {
  readonly key_id: string
  readonly in_ring: boolean
  readonly is_current: boolean
  /** Values sealed under the key; null if the database was not reached. */
  readonly values: number | null
}

const columns: readonly Column<KeyRow>[] = [
  { head: 'KEY', cell: (key) => key.key_id, whole: true },
  { head: 'IN KEYRING', cell: (key) => (key.in_ring ? 'yes' : 'MISSING') },
  { head: 'CURRENT', cell: (key) => (key.is_current ? 'yes' : 'no') },
  { head: 'VALUES', cell: (key) => (key.values === null ? '?' : String(key.values)), align: 'right' },
]

export default class KeyringShow extends BaseCommand {
  static override summary = 'Show the ids of the keys and the number of values under each; never shows a key'
  static override examples = ['<%= config.bin %> keyring show']

  async run(): Promise<unknown> {
    await this.parse(KeyringShow)
    const config = readConfig()
    const keyring = readKeyring(config.keyringFile)
    const counts = await this.countsOrNone(config)
    const lost = (counts ?? []).filter(({ key_id }) => !keyring.has(key_id)).map(({ key_id }) => key_id)
    const keys = [...keyring.ids, ...lost].map(
      (key_id): KeyRow => ({
        key_id,
        in_ring: keyring.has(key_id),
        is_current: key_id === keyring.current,
        values: valuesOf(counts, key_id),
      }),
    )
    const mode = (statSync(keyring.path).mode & 0o777).toString(8)
    this.log(`${keyring.path} (mode ${mode})\n${await table(keys, columns, '')}`)
    if (lost.length > 0) {
      this.tell(`The keyring lacks ${lost.join(', ')}. Restore it from its backup: docs/runbooks/keyring.md`)
      process.exitCode = exitCodes.findings
    }
    return { file: keyring.path, mode, current: keyring.current, keys }
  }

  /** The keyring can be shown without its database, so a database that is down is only a warning. */
  private async countsOrNone(config: Config): Promise<KeyCount[] | undefined> {
    if (!config.database && !hasEmbedded(config)) return undefined
    try {
      return await withDatabase(config, this.note, ({ daemon }) => countSealed(daemon))
    } catch {
      this.note('The database was not reached, so the values are not counted. `svc doctor` says why.')
      return undefined
    }
  }
}

const valuesOf = (counts: readonly KeyCount[] | undefined, keyId: string) =>
  counts ? (counts.find(({ key_id }) => key_id === keyId)?.values ?? 0) : null
