/** Locales and time zones, as this runtime's Unicode data knows them. Spec: decisions 4, "Unknown locale or time zone: 422". */
import { refuseMember } from '../../contract/problem.ts'

/** The canonical form of a BCP 47 tag of a known language, e.g. `de-AT`. Refuses request.invalid at the pointer. */
export function knownLocale(tag: string, pointer: string): string {
  try {
    const [canonical] = Intl.getCanonicalLocales(tag)
    if (canonical && Intl.DisplayNames.supportedLocalesOf(canonical).length > 0) return canonical
  } catch {
    // An invalid tag gets the same refusal as an unknown one.
  }
  return refuseMember(pointer, 'locale.unknown')
}

/**
 * Accepted zones, as they were spelled: asking Intl costs 150 µs. Bounded, so that spellings cannot fill the memory.
 */
const known = new Set<string>()
const mostKnown = 1000

/** An IANA zone, spelled as it was sent. Refuses request.invalid at the pointer. */
export function knownTimeZone(zone: string, pointer: string): string {
  if (known.has(zone)) return zone
  // Intl accepts offsets such as +02:00, but they are not zones: they have no daylight saving time.
  if (/^[+-]/.test(zone)) return refuseMember(pointer, 'time_zone.unknown')
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
    if (known.size < mostKnown) known.add(zone)
    return zone
  } catch {
    return refuseMember(pointer, 'time_zone.unknown')
  }
}
