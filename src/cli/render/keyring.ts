/** The use of the keyring as a table, and the progress of a reseal. */
import type { KeyringUse } from '../../core/contract/keyring/operations.ts'
import { type Column, table } from './table.ts'

type KeyUse = KeyringUse['keys'][number]

const columns: readonly Column<KeyUse>[] = [
  { head: 'KEY', cell: (key) => key.key_id, whole: true },
  { head: 'IN KEYRING', cell: (key) => (key.in_ring ? 'yes' : 'MISSING') },
  { head: 'CURRENT', cell: (key) => (key.active ? 'yes' : 'no') },
  { head: 'VALUES', cell: (key) => String(key.total), align: 'right' },
  { head: 'OF THESE', cell: kinds },
]

/** `backup_credentials 2, idempotency_answer 40` */
function kinds({ by_kind }: KeyUse): string {
  const stored = Object.entries(by_kind).filter(([, count]) => count > 0)
  return stored.map(([kind, count]) => `${kind} ${count}`).join(', ')
}

export async function keyringTable(keyring: KeyringUse): Promise<string> {
  const { queued, running, failed } = keyring.reseal
  const keys = await table(keyring.keys, columns, 'There is no key.')
  return queued + running + failed === 0
    ? keys
    : `${keys}\nreseal: ${queued} job(s) queued, ${running} running, ${failed} value(s) cannot be decrypted`
}
