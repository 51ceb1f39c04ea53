/** Many sealed values, stored and opened as rules do. */
import { randomBytes, randomUUIDv7 } from 'node:crypto'
import type postgres from 'postgres'
import type { SealedKind } from '../../src/core/contract/sealed-kinds.ts'
import { installationScope } from '../../src/core/contract/vocabulary.ts'
import type { Place } from '../../src/core/kernel/sealing/sealing.ts'
import type { Installation } from '../../src/core/kernel/transaction/installation.ts'
import { openSealed, storeSealed } from '../../src/core/kernel/transaction/sealed-values.ts'

const system = { kind: 'SYSTEM', job: 'test' } as const

/** The value that was stored last at each place. */
export type Stored = Map<string, { readonly place: Place; readonly plaintext: string }>

const nameOf = ({ tenantId, kind, ownerId }: Place) => `${tenantId} ${kind} ${ownerId}`

/** Stores a value, new or over an old one, and notes it after the commit. */
export async function store(installation: Installation, stored: Stored, place: Place): Promise<void> {
  const plaintext = randomBytes(12).toString('hex')
  await installation.transaction(system, within(place), (ctx) => storeSealed(ctx, place, plaintext))
  stored.set(nameOf(place), { place, plaintext })
}

/** So many values of a scope, in transactions of a hundred. */
export async function storeMany(
  installation: Installation,
  stored: Stored,
  tenantId: string,
  count: number,
  kind: SealedKind = 'idempotency.answer',
): Promise<void> {
  for (let made = 0; made < count; made += 100) {
    const places = Array.from({ length: Math.min(100, count - made) }, () => ({
      tenantId,
      kind,
      ownerId: randomUUIDv7(),
    }))
    const values = places.map((place) => ({ place, plaintext: randomBytes(12).toString('hex') }))
    await installation.transaction(system, within({ tenantId }), (ctx) =>
      Promise.all(values.map(({ place, plaintext }) => storeSealed(ctx, place, plaintext))),
    )
    for (const value of values) stored.set(nameOf(value.place), value)
  }
}

const within = ({ tenantId }: Pick<Place, 'tenantId'>) => (tenantId === installationScope ? {} : { tenantId })

/** The places whose value does not open, or differs from the one that was stored last. */
export async function wrongAmong(installation: Installation, stored: Stored): Promise<string[]> {
  const wrong: string[] = []
  for (const [name, { place, plaintext }] of stored) {
    const opening = installation.transaction(system, { ...within(place), readOnly: true }, (ctx) =>
      openSealed(ctx, place),
    )
    if ((await opening.catch(() => undefined)) !== plaintext) wrong.push(name)
  }
  return wrong
}

/** How many values name each key. */
export async function countsIn(sql: postgres.Sql): Promise<Record<string, number>> {
  const rows = await sql<{ key_id: string; count: number }[]>`
    select key_id, count(*)::int as count from sealed_value group by key_id order by key_id`
  return Object.fromEntries(rows.map(({ key_id, count }) => [key_id, count]))
}
