/**
 * Emergency notices: what an account has to know whatever it does. They are computed from what is in force, so none is
 * ever out of date, and nobody switches one off. A demanded second factor keeps nobody from reading them.
 * Spec: people 3, N15; docs/decisions/0413.
 */
import { type EmergencyNotice, noticeKinds } from '../../contract/identity/notices.ts'
import { refuse } from '../../contract/problem.ts'
import { rankOf } from '../../contract/vocabulary.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import type { AccountActor } from '../../kernel/values/actor.ts'
import { providersOn } from '../auth/providers/in-force.ts'
import { isMeant } from '../auth/second-factor/demand.ts'
import { passwordsServe } from '../auth/sign-in/sign-in-methods.ts'
import { readNotice } from '../operators/notice.ts'
import { readSettings, type Settings } from '../settings/settings.ts'

type Kind = EmergencyNotice['kind']

const rankOfSeverity = { CRITICAL: 0, WARNING: 1, INFO: 2 } as const
const recoveredDays = 14

export async function listEmergencyNotices(ctx: Ctx): Promise<{ data: EmergencyNotice[] }> {
  const actor = ctx.account
  const [settings, facts, installation, notice] = await together(
    readSettings(ctx),
    readFacts(ctx, actor),
    readInstallation(ctx),
    ctx.asInstallationOnce(() => readNotice(ctx)),
  )
  const now = Date.parse(facts.now)
  const found = [
    ofFactor(settings, actor, facts),
    ofRecovery(installation, now),
    ofInstallation(notice, now),
    ...(await ofProviders(ctx, actor, facts)),
    ofOpening(actor, facts),
    ofAddress(facts),
    ofTerms(settings, facts),
  ].filter((one) => one !== undefined)
  const place = ({ kind, severity }: EmergencyNotice) => rankOfSeverity[severity] * 100 + noticeKinds.indexOf(kind)
  return { data: found.sort((one, other) => place(one) - place(other)) }
}

interface Facts {
  readonly now: string
  readonly has_password: boolean
  readonly has_factor: boolean
  readonly terms_version: string | null
  readonly unconfirmed: string | null
  readonly unconfirmed_since: string | null
  readonly opened_at: string | null
  readonly opened_until: string | null
  readonly requester: string | null
  readonly reason: string | null
  /** The providers at which the account has an identity. */
  readonly connected: readonly string[]
}

async function readFacts({ tx }: Ctx, { tenantId, accountId }: AccountActor): Promise<Facts> {
  const [row] = await tx<Facts[]>`
    select now() as now, a.password_hash is not null as has_password, a.terms_version,
           exists (select from second_factor f where f.tenant_id = a.tenant_id and f.account_id = a.id and f.confirmed_at is not null) as has_factor,
           d.email as unconfirmed, d.created_at as unconfirmed_since,
           o.opened_at, o.until as opened_until, o.requester, o.reason,
           (select coalesce(json_agg(distinct c.provider_id), '[]') from connected_identity c
            where c.tenant_id = a.tenant_id and c.account_id = a.id) as connected
    from account a
    left join account_address d on d.tenant_id = a.tenant_id and d.account_id = a.id and d.is_primary and d.confirmed_at is null
    left join password_opening o on o.tenant_id = a.tenant_id and o.opened_at <= now() and now() < o.until
    where a.tenant_id = ${tenantId} and a.id = ${accountId}`
  return row ?? refuse('not_found')
}

interface Recovered {
  readonly recovered_to: string | null
  readonly admitted_at: string | null
}

const readInstallation = (ctx: Ctx): Promise<Recovered | undefined> =>
  ctx.asInstallationOnce(async () => {
    const [row] = await ctx.tx<Recovered[]>`select recovered_to, admitted_at from installation`
    return row
  })

/** `ended_by`: the name of an operation. */
const notice = (
  kind: Kind,
  severity: EmergencyNotice['severity'],
  more: Partial<EmergencyNotice>,
): EmergencyNotice => ({
  kind,
  severity,
  since: null,
  until: null,
  params: {},
  ended_by: null,
  ...more,
})

const administers = ({ role, isGuest }: AccountActor) => isGuest !== true && rankOf[role] >= rankOf.ADMIN

function ofFactor({ signIn }: Settings, actor: AccountActor, facts: Facts): EmergencyNotice | undefined {
  const isDue = !facts.has_factor && isMeant(signIn.mfa_required_for, { ...actor, hasPassword: facts.has_password })
  return isDue ? notice('SECOND_FACTOR_DEMANDED', 'CRITICAL', { ended_by: 'enrollTotp' }) : undefined
}

function ofRecovery(installation: Recovered | undefined, now: number): EmergencyNotice | undefined {
  const { recovered_to, admitted_at } = installation ?? { recovered_to: null, admitted_at: null }
  if (recovered_to === null || admitted_at === null) return undefined
  const until = Date.parse(admitted_at) + recoveredDays * 86_400_000
  if (until <= now) return undefined
  const params = { recovered_to, admitted_at }
  return notice('INSTALLATION_RECOVERED', 'CRITICAL', {
    since: admitted_at,
    until: new Date(until).toISOString(),
    params,
  })
}

function ofInstallation(said: Awaited<ReturnType<typeof readNotice>>, now: number): EmergencyNotice | undefined {
  const { message, severity, from, until, set_at } = said
  if (message === null || (from && Date.parse(from) > now) || (until && Date.parse(until) <= now)) return undefined
  return notice('INSTALLATION_NOTICE', severity, { since: from ?? set_at, until, params: { message } })
}

/** Offers that will end, for administrators and for people who have no other way in. */
async function ofProviders(ctx: Ctx, actor: AccountActor, facts: Facts): Promise<EmergencyNotice[]> {
  const on = await providersOn(ctx, actor.tenantId)
  const ending = on.filter(({ state, withdraw_at }) => state !== 'ENDED' && withdraw_at !== null)
  if (ending.length === 0 || actor.kind === 'SERVICE') return []
  const hasPassword = facts.has_password && (await passwordsServe(ctx, actor.tenantId))
  const stays = on.filter(({ state, withdraw_at }) => state !== 'ENDED' && withdraw_at === null).map(({ id }) => id)
  const hasOther = hasPassword || facts.connected.some((id) => stays.includes(id))
  return ending
    .filter(({ id }) => administers(actor) || (!hasOther && facts.connected.includes(id)))
    .map(({ id, withdraw_at }) =>
      notice('PROVIDER_ENDING', !hasOther && facts.connected.includes(id) ? 'CRITICAL' : 'WARNING', {
        until: withdraw_at,
        params: { provider_id: id, withdraw_at },
      }),
    )
}

function ofOpening(
  actor: AccountActor,
  { opened_at, opened_until, requester, reason }: Facts,
): EmergencyNotice | undefined {
  if (opened_until === null) return undefined
  const params = { until: opened_until, ...(administers(actor) && { requester, reason }) }
  return notice('PASSWORD_OPENING', 'WARNING', { since: opened_at, until: opened_until, params })
}

function ofAddress({ unconfirmed, unconfirmed_since }: Facts): EmergencyNotice | undefined {
  if (unconfirmed === null) return undefined
  return notice('ADDRESS_UNCONFIRMED', 'INFO', {
    since: unconfirmed_since,
    params: { email: unconfirmed },
    ended_by: 'confirmAddress',
  })
}

function ofTerms({ legal }: Settings, { terms_version }: Facts): EmergencyNotice | undefined {
  if (legal.terms_url === null || legal.terms_version === null || legal.terms_version === terms_version)
    return undefined
  return notice('TERMS_DUE', 'INFO', {
    params: { url: legal.terms_url, version: legal.terms_version },
    ended_by: 'agreeToTerms',
  })
}
