/**
 * The family of the device that a call comes from, as its client says. It decides nothing: it only helps people to tell their
 * sessions apart, so the rest of the header is not kept.
 */
import type { DeviceFamily } from '../core/contract/auth/devices.ts'

/** In this order: phones name the system that theirs descends from, too. */
const signs: readonly (readonly [RegExp, DeviceFamily])[] = [
  [/^svc\b/, 'COMMAND_LINE'],
  [/\biPad\b/, 'IPAD'],
  [/\b(iPhone|iPod)\b/, 'IPHONE'],
  [/\bAndroid\b/, 'ANDROID'],
  [/\bWindows\b/, 'WINDOWS'],
  [/\bCrOS\b/, 'CHROMEOS'],
  [/\b(Macintosh|Mac OS X|Darwin)\b/, 'MAC'],
  [/\b(Linux|X11)\b/, 'LINUX'],
]
/** What a client may say is as long as the head of a request; a sign stands at its beginning. */
const readCharacters = 300

/** Null: the client says nothing. */
export function deviceFamilyOf(userAgent: string | undefined): DeviceFamily | null {
  const said = userAgent?.trim().slice(0, readCharacters) ?? ''
  if (said === '') return null
  return signs.find(([sign]) => sign.test(said))?.[1] ?? 'OTHER'
}
