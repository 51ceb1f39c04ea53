/** The keyring, as operators look after it: counts per key and kind, never a key. Spec: Admin: encryption keyring; decisions 4. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'

const KeyUse = z.object({
  key_id: z.string(),
  in_ring: z.boolean().describe('whether the ring of the daemon that answers holds it'),
  active: z.boolean().describe('whether it is the master key that new values are sealed under'),
  total: z.int().describe('stored values that name it'),
  by_kind: z.record(z.string(), z.int()).describe('the same by kind, such as backup_credentials'),
})

const Keyring = z
  .object({
    active_key_id: z.string(),
    keys: z.array(KeyUse),
    reseal: z.object({
      queued: z.int().describe('jobs that wait: one for each workspace, and one for the installation'),
      running: z.int().describe('jobs under way'),
      failed: z.int().describe('values that the last round left as they are, because they do not open'),
    }),
  })
  .meta({ id: 'Keyring' })
export type KeyringUse = z.output<typeof Keyring>

export const encryptionOperations = defineOperations('admin', {
  getEncryption: {
    method: 'GET',
    path: '/admin/encryption',
    summary: 'The master keys and how many stored values name each, by kind',
    spec: 'Admin: encryption keyring',
    success: { status: 200, answer: Keyring },
    needs: { caller: 'operator' },
    recovery: 'allowed',
    assumed: [
      'the register; the spec states the scope only',
      '`active_key_id` is the key made current last in the whole installation; a daemon whose ring file was not yet read again may still seal under the one before',
      '`reseal.failed` counts values, the other two jobs',
    ],
  },
  resealEncryption: {
    method: 'POST',
    path: '/admin/encryption:reseal',
    summary: 'Re-wrap every stored value that names another master key than the current one',
    spec: 'Admin: encryption keyring, `:reseal`',
    success: { status: 202, answer: z.object({ queued: z.int() }).meta({ id: 'ResealQueued' }) },
    needs: { caller: 'operator' },
    recovery: 'allowed',
    assumed: [
      'the register; no step-up: nothing is opened, answered or lost',
      'a job that still waits or is under way is not queued again; it re-wraps for the key that is current when it gets there',
      'with --recovery the jobs are queued; --watch carries them out in the same process',
    ],
  },
})
