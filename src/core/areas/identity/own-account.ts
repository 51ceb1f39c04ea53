/** The caller's own account. Spec: Index, Identity. */

import type { identityOperations as ops } from '../../contract/identity/operations.ts'
import type { Answer } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import type { AccountActor } from '../../kernel/values/actor.ts'
import { addressesOf } from '../access/addresses.ts'
import { roleOnWorkspace } from '../access/workspace-role.ts'
import { isMeant } from '../auth/second-factor/demand.ts'
import { readFactor } from '../auth/second-factor/enrolment.ts'
import { readSettings, type Settings } from '../settings/settings.ts'
import { identities } from './accounts/account-row.ts'

type OwnAccount = Answer<typeof ops.getOwnAccount>

interface OwnRow
  extends Omit<
    OwnAccount,
    'is_operator' | 'workspace' | 'terms' | 'second_factor' | 'second_factor_demanded' | 'credential'
  > {
  readonly workspace: Omit<OwnAccount['workspace'], 'week_start' | 'locked_switches'>
  readonly terms_version: string | null
  readonly terms_agreed_at: string | null
}

export async function getOwnAccount(ctx: Ctx): Promise<OwnAccount> {
  const actor = ctx.account
  const { tenantId, accountId, isOperator } = actor
  const [{ legal, localisation, switches, signIn }, factor, [row]] = await together(
    readSettings(ctx),
    readFactor(ctx, actor),
    ctx.tx.last<(OwnRow & { readonly has_password: boolean })[]>`
      select a.id, a.kind, a.state, a.email, a.sign_in_name, a.display_name, ${roleOnWorkspace(ctx.tx)} as role, a.created_at, a.version, a.terms_version, a.terms_agreed_at,
             a.password_hash is not null as has_password, ${identities(ctx)} as identities,
             ${addressesOf(ctx.tx)} as addresses, ${groupsOf(ctx.tx)} as groups,
             json_build_object('locale', p.locale, 'time_zone', p.time_zone, 'week_start', p.week_start, 'client', p.client) as preferences,
             json_build_object('id', t.id, 'slug', t.slug, 'display_name', t.display_name,
                               'default_locale', t.default_locale, 'default_time_zone', t.default_time_zone) as workspace
      from account a
      left join account_preference p on p.tenant_id = a.tenant_id and p.account_id = a.id
      join tenant t on t.id = a.tenant_id
      where a.tenant_id = ${tenantId} and a.id = ${accountId}`,
  )
  if (!row) refuse('not_found')
  return {
    ...row,
    is_operator: isOperator,
    second_factor: factor ?? null,
    second_factor_demanded: isMeant(signIn.mfa_required_for, { ...actor, hasPassword: row.has_password }),
    workspace: { ...row.workspace, week_start: localisation.week_start, locked_switches: locksOf(switches) },
    terms: termsOf(legal, row),
    credential: credentialOf(actor),
  }
}

/** The groups of the account `a`, by name. */
const groupsOf = ({ part }: Ctx['tx']) => part`coalesce((
  select json_agg(json_build_object('id', g.id, 'name', g.name) order by g.name_fold, g.id)
  from account_group g where g.tenant_id = a.tenant_id and g.id = any (a.group_ids)), '[]')`

/** With what the call was made. */
const credentialOf = ({
  sessionId,
  kind,
  scopes,
  expiresAt,
  elevatedUntil,
}: AccountActor): OwnAccount['credential'] => ({
  kind: sessionId !== null ? 'SESSION' : kind === 'SERVICE' ? 'SERVICE' : 'PERSONAL',
  scopes: [...scopes],
  expires_at: expiresAt ?? null,
  app_id: null, // no app is served yet
  elevated_until: elevatedUntil ?? null,
})

/** The switches that a workspace cannot set itself, with the reason and who locked them. */
const locksOf = (switches: Settings['switches']): OwnAccount['workspace']['locked_switches'] =>
  Object.entries(switches)
    .filter(([, { locked }]) => locked)
    .map(([name, { reason, set_by, set_at }]) => ({ name, reason, set_by, set_at: set_at ?? '' }))

function termsOf({ terms_url, terms_version }: Settings['legal'], row: OwnRow): OwnAccount['terms'] {
  if (terms_url === null) return null
  return {
    url: terms_url,
    version: terms_version,
    agreed_version: row.terms_version,
    agreed_at: row.terms_agreed_at,
    is_due: terms_version !== null && terms_version !== row.terms_version,
  }
}
