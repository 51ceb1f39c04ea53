/**
 * What has to hold before traffic is sent here. Spec: decisions 1, `/readyz`.
 *
 * Each check is one short query over the pool, so that a full pool shows as well. They wait for
 * their connections in a lane of their own: a flood must not make a balancer take the daemon away.
 */

import { lookAtGate } from '../core/areas/recovery/gate.ts'
import { migrationNames } from '../core/kernel/database/migration-names.ts'
import { asInstallation } from '../core/kernel/database/roles.ts'
import type { Installation } from '../core/kernel/transaction/installation.ts'
import type { Readiness } from './health.ts'

const asked = { readOnly: true, lane: 'readiness' } as const

export function readinessOf(installation: Installation, isDraining: () => boolean): Readiness {
  const { pool, keyring } = installation
  const wanted = migrationNames()
  return {
    process: async () => (isDraining() ? 'the daemon is draining' : undefined),

    database: async () => {
      await pool.transaction('', (tx) => tx.last`select 1`, asked)
      return undefined
    },

    migrations: async () => {
      // As the login itself: the three roles have no business with this table.
      const applied = await pool.transaction(
        '',
        (tx) => tx.last<{ name: string }[]>`select name from pgmigrations`,
        asked,
      )
      const names = new Set(applied.map(({ name }) => name))
      const pending = wanted.filter((name) => !names.has(name))
      return pending.length > 0 ? `${pending.length} migration(s) pending, the first is ${pending[0]}` : undefined
    },

    gate: async () => {
      const { gated_at, gate_reason } = await lookAtGate(installation)
      return gated_at === null ? undefined : `closed since ${gated_at} (${gate_reason}); svc recovery status`
    },

    keyring: async () => {
      const keys = await pool.transaction(
        asInstallation,
        (tx) => tx.last<{ key_id: string }[]>`
          select key_id from keyring_key k where exists (select from sealed_value s where s.key_id = k.key_id)`,
        asked,
      )
      const lost = keys.filter(({ key_id }) => !keyring.has(key_id))
      return lost.length > 0
        ? `stored values name ${lost.length} key(s) that the ring lacks, the first is ${lost[0]?.key_id}`
        : undefined
    },
  }
}
