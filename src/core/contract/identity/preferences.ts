/** Preferences of accounts. Spec: people 1, N7. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { weekStarts } from '../settings/operations.ts'
import { text, uuid, version } from '../vocabulary.ts'

const longestClient = 16 * 1024
const deepestClient = 5

const encoder = new TextEncoder()
const bytesOf = (text: string): number => encoder.encode(JSON.stringify(text)).length

/** How many bytes a value has as JSON, with a comma for each member, and how deep it is. */
function measured(value: unknown): { readonly bytes: number; readonly depth: number } {
  if (typeof value === 'string') return { bytes: bytesOf(value), depth: 0 }
  if (typeof value !== 'object' || value === null) return { bytes: String(value).length, depth: 0 }
  const parts = Object.entries(value).map(([name, one]) => {
    const part = measured(one)
    return { ...part, bytes: part.bytes + (Array.isArray(value) ? 1 : bytesOf(name) + 2) }
  })
  return {
    bytes: 2 + parts.reduce((sum, { bytes }) => sum + bytes, 0),
    depth: 1 + Math.max(0, ...parts.map(({ depth }) => depth)),
  }
}

/** Where the first number is that would not come back as it was sent: an integer beyond 2^53, or more than a double holds. */
function inexactIn(value: unknown): string[] | undefined {
  if (typeof value === 'bigint' || (typeof value === 'number' && !Number.isFinite(value))) return []
  if (typeof value !== 'object' || value === null) return undefined
  for (const [name, one] of Object.entries(value)) {
    const place = inexactIn(one)
    if (place) return [name, ...place]
  }
  return undefined
}

const client = z.record(z.string(), z.unknown()).check((context) => {
  const { value: input } = context
  const { bytes, depth } = measured(input)
  const broken = (rule: string, params: object, path: string[] = []) =>
    context.issues.push({ code: 'custom', params: { rule, ...params }, path, input })
  if (bytes > longestClient) broken('value.too_large', { maximum: longestClient })
  else if (depth > deepestClient) broken('value.too_deep', { maximum: deepestClient })
  else {
    const place = inexactIn(input)
    if (place) broken('value.inexact', {}, place)
  }
})

const weekStart = z.enum(weekStarts)
export const preferenceMembers = {
  locale: z.string().nullable().describe("as BCP 47; null: the workspace's"),
  time_zone: z.string().nullable().describe("of the IANA database; null: the workspace's"),
  week_start: weekStart.nullable().describe("the first day of a week; null: the installation's"),
  client: z.record(z.string(), z.unknown()).nullable().describe('what a front end keeps'),
}

const AccountPreferences = z
  .object({ account_id: uuid, display_name: z.string().nullable(), ...preferenceMembers, version })
  .meta({ id: 'AccountPreferences' })
export type AccountPreferences = z.output<typeof AccountPreferences>

export const preferenceOperations = defineOperations('identity', {
  changePreferences: {
    method: 'PATCH',
    path: '/accounts/{accountId}/preferences',
    summary: 'Change the name, the locale, the time zone, the first day of the week, and what a front end keeps',
    spec: 'people 1, N7',
    patch: 'merge',
    params: z.strictObject({ accountId: uuid }),
    body: z
      .strictObject({
        display_name: text(1, 200).optional(),
        locale: text(1, 64).nullish().describe("as BCP 47; null: the workspace's"),
        time_zone: text(1, 64).nullish().describe("of the IANA database; null: the workspace's"),
        week_start: weekStart.nullish().describe("the first day of a week; null: the installation's"),
        client: client
          .nullish()
          .describe(
            'what a front end keeps, which alone knows what it means: at most 16 KiB of JSON and 5 levels, and no integer beyond 2^53',
          ),
      })
      .meta({ id: 'AccountPreferencesUpdate' }),
    success: { status: 200, answer: AccountPreferences },
    needs: { caller: 'account', others: 'ADMIN' },
    actsOn: 'account',
    ifMatch: true,
    recovery: { refused: "they are the account's own affair" },
    assumed: [
      "an administrator changes another's name, locale and time zone; week_start and client are refused with auth.role_required",
      'the entity tag is the one of the account',
    ],
  },
})
