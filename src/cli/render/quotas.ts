/** Quotas as a table. */
import { type QuotaName, quotaNames } from '../../core/contract/quotas.ts'
import type { ResolvedQuotas } from '../../core/contract/tenants/operations.ts'
import { table } from './table.ts'

/** A quota of 0 means unlimited. */
const ceiling = (value: number | bigint) => (BigInt(value) === 0n ? 'unlimited' : String(value))

export const quotaTable = (quotas: ResolvedQuotas) =>
  table<QuotaName>(
    quotaNames,
    [
      { head: 'QUOTA', cell: (name) => name, whole: true },
      { head: 'LIMIT', cell: (name) => ceiling(quotas[name].value), align: 'right', whole: true },
      { head: 'USED', cell: (name) => String(quotas[name].used), align: 'right', whole: true },
      { head: 'FROM', cell: (name) => quotas[name].source },
    ],
    '',
  )
