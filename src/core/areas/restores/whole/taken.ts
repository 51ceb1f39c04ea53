/**
 * What a whole workspace is made of: ITSELF takes everything, NEW what people made and who they are.
 *
 *                        ITSELF, ours   ITSELF, foreign   NEW, ours   NEW, foreign
 *    content, people         ×               ×               ×            ×
 *    trail                   ×               –               ×            –
 *    holds                   ×               –          of a gone source  –
 *    ways in, secrets        ×               –               –            –
 *    the rest                ×               ×               –            –
 *
 * Spec: Keeping, 3.
 */
import { workspaceTables } from '../../../contract/tables.ts'
import type { LoadedTable } from '../../backup/loading/shape.ts'
import type { RestoreRow } from '../row.ts'

const people = [
  'tenant',
  'account',
  'account_address',
  'account_preference',
  'notification_preference',
  'account_group',
  'group_member',
  'webhook',
  'account_restriction',
  'consent_text',
  'consent',
]
/** Nobody who signs an archive of another installation decides who comes in here, or what was done. */
const ofOurs = [
  'audit_entry',
  'legal_hold',
  'password_history',
  'recovery_code',
  'second_factor',
  'connected_identity',
  'sealed_value',
  'webhook_secret',
  'provider_switch',
  'identity_provider',
  'ai_choice',
  'backup_target',
  'backup_schedule',
  'backup',
]

/** The tables that are laid out and filled, referenced ones first. */
export function takenOf({ mode, origin }: Pick<RestoreRow, 'mode' | 'origin'>) {
  return (shape: readonly LoadedTable[]): readonly LoadedTable[] =>
    shape.filter(({ table }) => {
      if (origin === 'FOREIGN' && ofOurs.includes(table)) return false
      if (mode === 'ITSELF') return true
      const isKept = origin === 'OWN' && (table === 'audit_entry' || table === 'legal_hold')
      return workspaceTables[table]?.content === true || people.includes(table) || isKept
    })
}

/** Whether hashes and factors come with it. */
export const bringsWaysIn = ({ mode, origin }: Pick<RestoreRow, 'mode' | 'origin'>) =>
  mode === 'ITSELF' && origin === 'OWN'
