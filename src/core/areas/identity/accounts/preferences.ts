/** Preferences of an account, and its name. Null takes what the workspace has. Spec: people 1, N7; docs/decisions/0379. */
import type { AccountPreferences, preferenceOperations as ops } from '../../../contract/identity/preferences.ts'
import type { Answer, Received } from '../../../contract/operation.ts'
import { refuse } from '../../../contract/problem.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { knownLocale, knownTimeZone } from '../../../kernel/values/locale.ts'
import { writeWords } from '../../access/account-words.ts'
import { otherAddressesOf } from '../../access/addresses.ts'
import { retimeDigest } from '../../notifications/mailing.ts'

type Body = Received<typeof ops.changePreferences>['body']

interface Row extends Omit<AccountPreferences, 'account_id'> {
  readonly email: string | null
  readonly others: readonly string[]
  /** Whether the `client` that was sent is the one that is there. */
  readonly is_same_client: boolean
}

/** Refuses not_found, auth.role_required, request.invalid, precondition.failed. */
export async function changePreferences(
  ctx: Ctx,
  { accountId, body }: Received<typeof ops.changePreferences>,
): Promise<Answer<typeof ops.changePreferences>> {
  const { tenantId, accountId: own } = ctx.account
  if (accountId !== own && (body.week_start !== undefined || body.client !== undefined))
    refuse('auth.role_required', { role: 'OWNER' })
  const row = await lockPreferences(ctx, tenantId, accountId, body)
  const { email, others, is_same_client, ...held } = row
  const next = nextOf(held, body)
  const changed = (['display_name', 'locale', 'time_zone', 'week_start'] as const).filter(
    (name) => next[name] !== held[name],
  )
  const names = [...changed, ...(body.client === undefined || is_same_client ? [] : ['client'])]
  ctx.unchanged(row.version)
  if (names.length === 0) return { account_id: accountId, ...held }

  if (names.includes('time_zone')) retimeDigest(ctx, tenantId, accountId, next.time_zone)
  const version = await write(ctx, tenantId, accountId, next)
  if (names.includes('display_name'))
    writeWords(ctx, tenantId, accountId, { display_name: next.display_name, email, others })
  await ctx.record('identity.account.preferences_changed', { id: accountId, changed: names }, { changed: names })
  return { account_id: accountId, ...next, version }
}

async function lockPreferences(ctx: Ctx, tenantId: string, accountId: string, { client }: Body): Promise<Row> {
  const { tx } = ctx
  const [row] = await tx<Row[]>`
    select a.display_name, a.email, ${otherAddressesOf(tx)} as others, a.version, p.locale, p.time_zone, p.week_start, p.client,
           p.client is not distinct from ${client == null ? null : tx.json(client)}::jsonb as is_same_client
    from account a left join account_preference p on p.tenant_id = a.tenant_id and p.account_id = a.id
    where a.tenant_id = ${tenantId} and a.id = ${accountId} and a.state <> 'ERASED' for no key update of a`
  return row ?? refuse('not_found')
}

type Held = Omit<AccountPreferences, 'account_id'>

/** Refuses request.invalid for a locale or a time zone that nobody knows. */
function nextOf(held: Held, body: Body): Held {
  const locale = body.locale == null ? body.locale : knownLocale(body.locale, '/locale')
  const zone = body.time_zone == null ? body.time_zone : knownTimeZone(body.time_zone, '/time_zone')
  return {
    ...held,
    display_name: body.display_name ?? held.display_name,
    locale: locale === undefined ? held.locale : locale,
    time_zone: zone === undefined ? held.time_zone : zone,
    week_start: body.week_start === undefined ? held.week_start : body.week_start,
    client: body.client === undefined ? held.client : body.client,
  }
}

async function write({ tx }: Ctx, tenantId: string, accountId: string, next: Held): Promise<number> {
  const { display_name, locale, time_zone, week_start } = next
  const client = next.client === null ? null : tx.json(next.client)
  const [, [account]] = await Promise.all([
    tx`
      insert into account_preference (tenant_id, account_id, locale, time_zone, week_start, client)
      values (${tenantId}, ${accountId}, ${locale}, ${time_zone}, ${week_start}, ${client})
      on conflict (tenant_id, account_id) do update set locale = excluded.locale, time_zone = excluded.time_zone,
        week_start = excluded.week_start, client = excluded.client, updated_at = excluded.updated_at`,
    tx<{ version: number }[]>`
      update account set display_name = ${display_name}, updated_at = now(), version = version + 1
      where tenant_id = ${tenantId} and id = ${accountId} returning version`,
  ])
  return account?.version ?? refuse('not_found')
}
