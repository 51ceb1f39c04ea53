/** Which night of a workspace is due. Spec: Keeping, 4. */
import { localTime, momentAt } from '../../kernel/values/day.ts'

const dayMs = 86_400_000
const hourMs = 3_600_000
const beginsAtMs = 3 * hourMs

/** How much later than 03:00 a workspace begins, so that not all of them do at once: less than an hour. */
const jitterMs = (tenantId: string) => (Number.parseInt(tenantId.slice(-8), 16) % 3600) * 1000

/** The last day of which 03:00 and the delay are past on the clocks of the zone, `YYYY-MM-DD`. */
export function dueDay(tenantId: string, zone: string, at: number): string {
  const today = Math.floor(localTime(at, zone) / dayMs) * dayMs
  const begins = momentAt(today + beginsAtMs, zone) + jitterMs(tenantId)
  return new Date(begins <= at ? today : today - dayMs).toISOString().slice(0, 10)
}
