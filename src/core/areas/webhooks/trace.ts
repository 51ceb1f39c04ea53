/**
 * The flight recorder: what is kept of an attempt's way to its target.
 *
 * Operators see all of it. A workspace sees no address that is not routed on the internet:
 * otherwise whoever may name targets could map the network that the daemon stands in. Of a
 * refused attempt it sees that it was refused, and nothing of what the name answered.
 *
 * Spec: decisions 5, Egress guard; T-14.
 */

import type { DeliveryTrace } from '../../contract/webhooks/operations.ts'
import { isGlobal } from '../../kernel/egress/addresses.ts'

/** As it is stored, and answered to operators: with every address. */
export type FlightRecord = DeliveryTrace

/** The record without internal addresses. */
export function shownToWorkspace(record: FlightRecord): DeliveryTrace {
  const isRefused = record.rule === 'refused'
  return {
    ...record,
    dns_answers: isRefused ? [] : record.dns_answers.filter(isGlobal),
    address: record.address !== null && !isRefused && isGlobal(record.address) ? record.address : null,
    // How long a refused name took to resolve says where it was resolved.
    phases_ms: isRefused ? { dns: null, connect: null, tls: null, wait: null, read: null } : record.phases_ms,
  }
}
