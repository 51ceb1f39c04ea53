/**
 * What a call sent and received, written so that the next run writes the same: ids are numbered in the order in which
 * they are first seen, moments are counted from one Monday morning, and secrets are ones that serve nowhere.
 */

/** The moment that stands for "now" in every example. */
const now = Date.UTC(2027, 2, 1, 9)
const minutes = 60_000
/** A story takes less than half of this, so what happens in it happens at one moment. */
const step = 5 * minutes
const day = 24 * 60 * minutes

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g
const moment = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g
const wholeDay = /^\d{4}-\d\d-\d\d$/

/** Members whose values no run repeats, and what stands there instead; a value of another type stays. */
const varying: Readonly<Record<string, unknown>> = {
  active_key_id: 'k20270301090000',
  authorization_url:
    'https://sso.acme.example/auth?client_id=svc&response_type=code&scope=openid+email+profile&state=Kq3vR1nTz0&code_challenge=mW8sX2fJ',
  connect: 12.4,
  cursor: 'eyJrIjoiMjAyNy0wMy0wMSJ9',
  dns: 0.8,
  document: '{"format":"svc/purge-certificate/1","…":"…"}',
  duration_ms: 38,
  closed_seconds: 2,
  hash: '6526533023a42735',
  plan_hash: '6526533023a42735',
  key_id: 'k20270301090000',
  last4: '0000',
  // Moved by chance, by the id of the schedule.
  next_run_at: '2027-03-02T02:04:00.000Z',
  next_cursor: 'eyJrIjoiMjAyNy0wMy0wMSJ9',
  next_since: 'eyJrIjoiMjAyNy0wMy0wMSJ9',
  public_key: 'uwEPNXk63z1AHb25FiMk9rtJyDiQt3Yi_fFVQUgIlcA',
  read: 0.4,
  start_password: '7k2m-q9x4-0hvt-b3rs',
  signed_sha256: '9cd9e0b4503191d2208e82c120192dfce445003f45ca3b47b584b9e54a7dd8b2',
  tls: 21.6,
  wait: 24.1,
}

/** Texts that no run repeats, wherever they stand. */
const texts: readonly (readonly [RegExp, string])[] = [
  [/\b(svc[a-z]+)_[0-9A-Za-z]{49}\b/g, `$1_${'ExampleOnlyNeverValid'.padEnd(49, '0')}`],
  [/whsec_[0-9A-Za-z+/]{43}=/g, `whsec_${'ExampleOnlyNeverValid'.padEnd(43, '0')}=`],
  [/(?<=[?&]ticket=)[^&]+/g, 'ExampleOnlyNeverValid'],
  // The secret of a second factor, its codes, the signature of a certificate, the moment in the name of an archive.
  [/\b[A-Z2-7]{32}\b/g, 'EXAMPLEONLYNEVERVALID22222222222'],
  [/^\d{6}$/, '492039'],
  // A key of the ring is named after the day on which it was made.
  [/^k\d{8}$/, 'k20270301'],
  [/^[\w-]{86}$/, 'ExampleOnlyNeverValid'.padEnd(86, '0')],
  [/\d{8}T\d{6}Z/g, '20270301T090000Z'],
]

/** Lists with an element for each table, which are cut: an example is no list of our tables. Counts of 0 are left out for that, too. */
const most: Readonly<Record<string, number>> = { entities: 2, scanned: 2, new_per_day: 3 }

/** An entity of which there is nothing is left out, as a count of 0 is. */
const isTold = (element: { readonly rows?: number } | null) => element?.rows !== 0

/** A histogram as if all attempts had taken as long. */
const oneClass = (classes: readonly { readonly attempts: number }[]) => [
  { up_to_ms: 50, attempts: classes.reduce((sum, { attempts }) => sum + attempts, 0) },
]

export interface Steady {
  /** The value as an example shows it. */
  of(value: unknown, name?: string): unknown
  /** The moments and days in it stay as they are written, except these. */
  keep(value: unknown, except?: ReadonlySet<string>): void
  /** A text, such as the address of a server on this machine, and what stands there instead. */
  rename(text: string, shown: string): void
  /** Members that vary in this story alone. */
  hold(members: Readonly<Record<string, unknown>>): void
}

export function steady(): Steady {
  const begun = Date.now()
  const ids = new Map<string, string>()
  const ranks = new Map<string, string>()
  const kept = new Set<string>()
  const names: (readonly [string, string])[] = []
  const held: Record<string, unknown> = { ...varying }

  const idOf = (id: string): string => {
    if (/^0{8}-/.test(id)) return id
    const known =
      ids.get(id) ??
      `01954fd0-${(0x8000 + ids.size + 1).toString(16).slice(-4)}-7000-8000-${String(ids.size + 1).padStart(12, '0')}`
    ids.set(id, known)
    return known
  }
  /** The first two characters of a rank are the same in every run, the rest is chance. */
  const rankOf = (rank: string): string => {
    const known = ranks.get(rank) ?? `${rank.slice(0, 2)}V${String(ranks.size + 1).padStart(2, '0')}`
    ranks.set(rank, known)
    return known
  }
  const shifted = (text: string): string => {
    if (kept.has(text) || kept.has(String(Date.parse(text)))) return text
    const moved = now + Math.round((Date.parse(text) - begun) / step) * step
    return new Date(moved).toISOString()
  }
  const dayOf = (text: string): string => {
    if (kept.has(text)) return text
    const days = Math.round((Date.parse(text) - Math.floor(begun / day) * day) / day)
    return new Date(Math.floor(now / day) * day + days * day).toISOString().slice(0, 10)
  }
  const text = (value: string): string => {
    if (wholeDay.test(value)) return dayOf(value)
    const renamed = names.reduce((shown, [from, to]) => shown.replaceAll(from, to), value)
    return texts
      .reduce((shown, [pattern, to]) => shown.replace(pattern, to), renamed)
      .replace(uuid, idOf)
      .replace(moment, shifted)
  }
  const of = (value: unknown, name = ''): unknown => {
    if (value !== null && held[name] !== undefined && typeof value === typeof held[name]) return held[name]
    if (name === 'position' && typeof value === 'string') return rankOf(value)
    if (typeof value === 'string') return text(value)
    if (name === 'duration_ms' && Array.isArray(value)) return oneClass(value)
    if (Array.isArray(value))
      return value
        .filter(isTold)
        .slice(0, most[name])
        .map((element) => of(element, name))
    if (typeof value !== 'object' || value === null) return value
    const members = Object.entries(value).filter(([, member]) => name !== 'counts' || member !== 0)
    return Object.fromEntries(members.map(([key, member]) => [text(key), of(member, key)]))
  }

  return {
    of,
    keep(value, except = new Set()) {
      for (const found of JSON.stringify(value ?? null).matchAll(/"(\d{4}-\d\d-\d\d(?:T[^"]+)?)"/g)) {
        const written = found[1] ?? ''
        if (except.has(written)) continue
        kept.add(written)
        kept.add(String(Date.parse(written)))
        // What is due on a day is due in its last millisecond.
        if (wholeDay.test(written)) kept.add(String(Date.parse(written) + day - 1))
      }
    },
    rename: (from, to) => names.push([from, to]),
    hold: (members) => Object.assign(held, members),
  }
}
