/**
 * Days of the calendar in a time zone: the first and the last millisecond of `2027-03-01` in `Europe/Zurich`.
 *
 * A day need not begin at 00:00: where clocks go forward at midnight it begins at 01:00. Nor does 00:00 come only once:
 * where clocks go back over midnight, the earlier one begins the day. A day that a zone skips altogether has one
 * millisecond, the first behind the skip. Zones are those of this runtime's Unicode data (locale.ts), whatever the database knows.
 */

const dayMs = 86_400_000
/** No zone is farther from UTC, and no change of clocks is larger: changes of the date line are a day. */
const farthest = 26 * 3_600_000

/** Making a format takes 150 µs, using it 2. Bounded, so that spellings cannot fill the memory. */
const formats = new Map<string, Intl.DateTimeFormat>()
const mostFormats = 200

/** The first millisecond of the day, since 1970. The day has the form `YYYY-MM-DD`, and the zone is known. */
export function startOfDay(day: string, zone: string): number {
  const midnight = midnightOf(day)
  return candidates(midnight, zone).find((at) => localTime(at, zone) === midnight) ?? skipBefore(midnight, zone)
}

/** The last millisecond of the day, since 1970. */
export function endOfDay(day: string, zone: string): number {
  const next = midnightOf(day) + dayMs
  // Of two midnights, the one that has the day right before it.
  const ends = candidates(next, zone).filter(
    (at) => localTime(at, zone) === next && localTime(at - 1, zone) === next - 1,
  )
  const end = (ends.at(-1) ?? skipBefore(next, zone)) - 1
  return Math.max(end, startOfDay(day, zone))
}

/** The first moment behind `at` at which clocks of the zone show the full hour, or jump over it. */
export function nextHour(hour: number, at: number, zone: string): number {
  const today = Math.floor(localTime(at, zone) / dayMs) * dayMs + hour * 3_600_000
  for (const local of [today, today + dayMs]) {
    const moment = candidates(local, zone).find((one) => localTime(one, zone) === local) ?? skipBefore(local, zone)
    if (moment > at) return moment
  }
  return at + dayMs
}

/**
 * The moment, in ms since 1970, at which clocks of the zone show the local time, which is counted as if it were UTC: the first of
 * two. A time that clocks skip comes as much later as they skip.
 */
export function momentAt(local: number, zone: string): number {
  const moments = candidates(local, zone)
  return moments.find((at) => localTime(at, zone) === local) ?? moments.at(-1) ?? local
}

/** The moments, in their order, at which clocks of the zone may show the local time. */
function candidates(local: number, zone: string): number[] {
  const offsets = [offsetAt(local - farthest, zone), offsetAt(local + farthest, zone)]
  return [...new Set(offsets)].map((offset) => local - offset).sort((one, other) => one - other)
}

/** The moment at which clocks skip the local time: the first one that shows a later time. */
function skipBefore(local: number, zone: string): number {
  let before = local - farthest
  let behind = local + farthest
  while (behind - before > 1) {
    const middle = Math.floor((before + behind) / 2)
    if (localTime(middle, zone) < local) before = middle
    else behind = middle
  }
  return behind
}

const midnightOf = (day: string): number => Date.parse(`${day}T00:00:00Z`)
/** What clocks of the zone show, counted as if it were UTC. */
export const localTime = (at: number, zone: string): number => at + offsetAt(at, zone)

/** What a zone's clocks are ahead of UTC, in ms. */
export function offsetAt(at: number, zone: string): number {
  const name =
    formatOf(zone)
      .formatToParts(at)
      .find(({ type }) => type === 'timeZoneName')?.value ?? ''
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = /([+-])(\d+):(\d+)(?::(\d+))?/.exec(name) ?? []
  const offset = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * 1000
  return sign === '-' ? -offset : offset
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const kept = formats.get(zone)
  if (kept) return kept
  const made = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' })
  if (formats.size < mostFormats) formats.set(zone, made)
  return made
}
