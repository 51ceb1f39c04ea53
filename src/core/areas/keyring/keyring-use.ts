/**
 * How many stored values name each key. Spec: Admin: encryption keyring, GET.
 *
 * One grouped query over the index (key_id, kind), which holds everything that is counted: the
 * query reads no value and no workspace. The kinds are those of sealed-kinds.ts, and any other that
 * a newer release has stored.
 */

import type { encryptionOperations as ops } from '../../contract/keyring/operations.ts'
import type { Answer } from '../../contract/operation.ts'
import { sealedKinds } from '../../contract/sealed-kinds.ts'
import type { Tx } from '../../kernel/database/transaction.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'

export interface KeyCount {
  readonly key_id: string
  readonly kind: string
  readonly count: number
}

export const countByKey = (tx: Tx): Promise<readonly KeyCount[]> => tx<KeyCount[]>`
  select key_id, kind, count(*)::int as count from sealed_value group by key_id, kind order by key_id, kind`

/** The key that was made current last; undefined before the first boot. */
export async function findActiveKey(tx: Tx): Promise<string | undefined> {
  const [row] = await tx<{ key_id: string }[]>`
    select key_id from keyring_key where promoted_at is not null order by promoted_at desc limit 1`
  return row?.key_id
}

interface ResealRow {
  readonly queued: number
  readonly running: number
  readonly failed: number
}

/** Answers counts only, and names no workspace. */
export async function getEncryption({ tx, keyring }: Ctx): Promise<Answer<typeof ops.getEncryption>> {
  const [active, counts, [reseal]] = await Promise.all([
    findActiveKey(tx),
    countByKey(tx),
    tx<ResealRow[]>`
      select count(*) filter (where started_at is null)::int as queued,
             count(*) filter (where started_at is not null and finished_at is null)::int as running,
             coalesce(sum(failed), 0)::int as failed from reseal`,
  ])
  if (!reseal) throw new Error('an aggregate without a row')
  const activeKey = active ?? keyring.current
  const ids = new Set([...keyring.ids, ...counts.map(({ key_id }) => key_id)])
  return {
    active_key_id: activeKey,
    keys: [...ids].map((id) => ({
      key_id: id,
      in_ring: keyring.has(id),
      active: id === activeKey,
      ...useOf(counts.filter(({ key_id }) => key_id === id)),
    })),
    reseal,
  }
}

/** `backup.credentials` is `backup_credentials` in an answer. */
const memberOf = (kind: string) => kind.replace('.', '_')

function useOf(counts: readonly KeyCount[]) {
  const none = Object.keys(sealedKinds).map((kind) => [memberOf(kind), 0])
  const found = counts.map(({ kind, count }) => [memberOf(kind), count])
  return {
    total: counts.reduce((sum, { count }) => sum + count, 0),
    by_kind: Object.fromEntries([...none, ...found]) as Record<string, number>,
  }
}
