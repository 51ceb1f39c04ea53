/**
 * The checks that decide whether traffic may be sent here. Spec: decisions 1, `/readyz`.
 *
 * Each check is one short query through the pool, so that it also detects a full pool. The
 * checks wait for connections in their own lane, so that a load balancer does not remove the
 * daemon because of a flood.
 */

import { lookAtGate } from '../core/areas/recovery/gate.ts'
import { apartInWords, measureClock } from '../core/kernel/database/clock.ts'
import { migrationNames } from '../core/kernel/database/migration-names.ts'
import { asInstallation } from '../core/kernel/database/roles.ts'
import type { Installation } from '../core/kernel/transaction/installation.ts'
import type { Readiness } from './health.ts'

const asked = { readOnly: true, lane: 'readiness' } as const

export function readinessOf(installation: Installation, isDraining: () => boolean): Readiness {
  const { pool, keyring, config } = installation
  const wanted = migrationNames()
  return {
    process: async () => (isDraining() ? 'the daemon is draining' : undefined),

    database: async () => {
      await pool.transaction('', (tx) => tx.last`select 1`, asked)
      return undefined
    },

    migrations: async () => {
      // Read as the login itself, because the three roles have no right to this table.
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
        ? `stored values need ${lost.length} key(s) that the keyring lacks, the first is ${lost[0]?.key_id}`
        : undefined
    },

    clock: async () => {
      const aheadMs = await measureClock(pool)
      return Math.abs(aheadMs) > config.clockToleranceSeconds * 1000
        ? `this host's clock is ${apartInWords(aheadMs)}; synchronise both with NTP`
        : undefined
    },
  }
}
