/**
 * The flight recorder: what is stored about an attempt's way to its target.
 *
 * Operators see all of it. A workspace sees only addresses that are routed on the internet:
 * otherwise its members could map the daemon's network by naming targets. Of a refused attempt, a
 * workspace sees only that it was refused, and not what the name resolved to.
 *
 * Spec: decisions 5, Egress guard; T-14.
 */

import type { DeliveryTrace } from '../../contract/webhooks/operations.ts'
import { isGlobal } from '../../kernel/egress/addresses.ts'

/** The record as it is stored and answered to operators: with every address. */
export type FlightRecord = DeliveryTrace

/** The record without internal addresses. */
export function shownToWorkspace(record: FlightRecord): DeliveryTrace {
  const isRefused = record.rule === 'refused'
  return {
    ...record,
    dns_answers: isRefused ? [] : record.dns_answers.filter(isGlobal),
    address: record.address !== null && !isRefused && isGlobal(record.address) ? record.address : null,
    // The time that it took to resolve a refused name would show where it was resolved.
    phases_ms: isRefused ? { dns: null, connect: null, tls: null, wait: null, read: null } : record.phases_ms,
  }
}
