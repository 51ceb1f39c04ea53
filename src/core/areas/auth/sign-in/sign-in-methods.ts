/**
 * The ways to sign in: for one account of one workspace, whether a password is accepted now, and if
 * not, which switch, lock or state prevents it.
 *
 * The sign-in decides with `passwordWay`, and the explanation of a refusal shows its answer, so the
 * two cannot disagree. `readSignIn` reads the facts in one transaction; `passwordWay` is pure.
 *
 *    workspace not ACTIVE ─▶ switched off (unless opened) ─▶ locked
 *      ─▶ account not ACTIVE ─▶ no role ─▶ no password ─▶ open
 *
 * Spec: Password opening; Admin: workspaces, rule 2; InstanceSettings.
 */

import type { AccountState } from '../../../contract/identity/accounts.ts'
import type { SwitchName } from '../../../contract/settings/defaults.ts'
import type { TenantState } from '../../../contract/tenants/operations.ts'
import type { Role } from '../../../contract/vocabulary.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import { together } from '../../../kernel/transaction/together.ts'
import { caseFold } from '../../../kernel/values/case-fold.ts'
import { newId } from '../../../kernel/values/id.ts'
import { accountSigningIn } from '../../access/addresses.ts'
import { hasRole } from '../../access/held-role.ts'
import { roleOnWorkspace } from '../../access/workspace-role.ts'
import {
  readDecisions,
  readSwitches,
  type SwitchesInForce,
  type SwitchInForce,
  switchesOf,
} from '../../settings/settings.ts'
import { startServes } from '../password/start-password.ts'
import { isLeftOutside } from '../providers/in-force.ts'
import { secondsLocked, subjectOf } from './sign-in-lock.ts'

export type ClosedBecause =
  | 'workspace_not_active'
  | 'account_unknown'
  | 'account_not_active'
  | 'no_role'
  | 'switched_off'
  | 'no_password'
  | 'start_password_ended'
  | 'locked'

/** One way to sign in, and whether it is open now. */
export interface WayIn {
  readonly way: 'PASSWORD' | 'PROVIDER'
  readonly because: ClosedBecause | 'allowed' | 'password_opening' | 'provider_ended'
  readonly isOpen: boolean
  /** The switch that decided, with who set and locked it and why; null where no switch did. */
  readonly decidedBy: ({ readonly name: SwitchName } & SwitchInForce) | null
  /** When the opening or the lock ends. */
  readonly until: string | null
  /** The password is accepted only together with a new one: it is a start password, or too old. */
  readonly needsNewPassword: 'START' | 'AGE' | null
}

/** The facts about the address of a sign-in. */
export interface SignInFacts {
  /** For an unknown workspace, an unused id, so that the same statements run. */
  readonly tenantId: string
  /** Null: there is no such workspace. */
  readonly workspaceState: TenantState | null
  readonly switches: SwitchesInForce
  /** The end of the password opening in force. */
  readonly openedUntil: string | null
  /**
   * The last provider's offer has ended: accounts that hold a password fall back to it (Offered identity provider, row
   * 3).
   */
  readonly fallsBack: boolean
  /** The key under which failures of this address are counted. */
  readonly subject: Buffer
  readonly lockedSeconds: number
  readonly lockedUntil: string | null
  readonly account: SignInAccount | undefined
}

export interface SignInAccount {
  readonly id: string
  /** The address that was given, as a row of the account; null: an account of older code has none. */
  readonly addressId: string | null
  /** Whether somebody has shown that mail to that address is read. */
  readonly isConfirmed: boolean
  readonly state: AccountState
  readonly passwordHash: string | null
  /** Whether the password is a start password that still serves; null: it is none. */
  readonly startServes: boolean | null
  /** By the database's clock; null for an account that never had one. */
  readonly passwordAgeDays: number | null
  /** The role on the workspace, its own or a group's; null if the account has none there. */
  readonly role: Role | null
  /** Has a role anywhere in the workspace; without one the account cannot sign in. */
  readonly hasRole: boolean
  readonly isOperator: boolean
}

interface SignInRow {
  readonly tenant_id: string
  /** Whether it is the workspace that was asked for; otherwise nothing of the row is true of anybody. */
  readonly is_meant: boolean
  readonly workspace_state: TenantState
  readonly opened_until: string | null
  readonly account_id: string | null
  readonly address_id: string | null
  readonly is_confirmed: boolean
  readonly start_serves: boolean | null
  readonly state: SignInAccount['state'] | null
  readonly password_hash: string | null
  readonly password_age_days: number | null
  readonly role: Role | null
  readonly has_role: boolean
  readonly is_operator: boolean
  readonly now: string
}

/**
 * The facts about an address in a workspace, read as the installation, by the same statements whether or not the
 * account exists. For an unknown workspace the address is looked up in the oldest one, and what is found is dropped: PostgreSQL
 * skips the rest of a statement whose workspace has no row, which made that answer a tenth faster.
 */
export async function readSignIn(ctx: Ctx, slug: string, email: string): Promise<SignInFacts> {
  const [decisions, [found]] = await together(
    readDecisions(ctx),
    ctx.asInstallationOnce(
      () => ctx.tx<SignInRow[]>`
      select t.id as tenant_id, t.slug = ${slug} as is_meant, t.state as workspace_state, o.until as opened_until, a.id as account_id, d.id as address_id, (d.id is null or d.confirmed_at is not null) as is_confirmed, a.state, a.password_hash, ${startServes(ctx.tx)} as start_serves,
             date_part('epoch', now() - coalesce(a.password_changed_at, a.created_at)) / 86400 as password_age_days,
             ${roleOnWorkspace(ctx.tx)} as role, ${hasRole(ctx.tx)} as has_role, r.account_id is not null as is_operator, now() as now
      from tenant t
      left join password_opening o on o.tenant_id = t.id and o.opened_at <= now() and now() < o.until
      -- offset 0: once. As a condition on the account it was asked of each account, where there are no statistics yet.
      cross join lateral (select ${accountSigningIn(ctx.tx, ctx.tx.part`t.id`, email)} as id offset 0) s
      left join account a on a.tenant_id = t.id and a.id = s.id
      left join account_address d on d.tenant_id = t.id and d.held_fold = ${caseFold(email)}
      left join operator r on r.account_id = a.id
      where t.id = coalesce((select w.id from tenant w where w.slug = ${slug}), (select f.id from tenant f order by f.id limit 1))`,
    ),
  )
  const switches = switchesOf(decisions)
  const row = found?.is_meant ? found : undefined
  const tenantId = row?.tenant_id ?? newId()
  const subject = subjectOf(tenantId, email)
  const attempts = switches.password_lockout_attempts.value
  const lockedSeconds = await ctx.asInstallationOnce(() => secondsLocked(ctx, tenantId, subject, attempts))
  const openedUntil = row?.opened_until ?? null
  const isKeptOut = openedUntil === null && switchAgainstPasswords(switches) !== undefined
  return {
    tenantId,
    workspaceState: row?.workspace_state ?? null,
    switches,
    openedUntil,
    fallsBack: isKeptOut && (await ctx.inWorkspace(tenantId, () => isLeftOutside(ctx, tenantId))),
    subject,
    lockedSeconds,
    lockedUntil: row && lockedSeconds > 0 ? new Date(Date.parse(row.now) + lockedSeconds * 1000).toISOString() : null,
    account: row && accountOf(row),
  }
}

function accountOf(row: SignInRow): SignInAccount | undefined {
  const {
    account_id: id,
    address_id,
    is_confirmed,
    start_serves,
    state,
    password_hash,
    password_age_days,
    role,
    has_role,
    is_operator,
  } = row
  if (id === null || state === null) return undefined
  return {
    id,
    addressId: address_id,
    isConfirmed: is_confirmed,
    state,
    passwordHash: password_hash,
    startServes: start_serves,
    passwordAgeDays: password_hash === null ? null : password_age_days,
    role,
    hasRole: has_role,
    isOperator: is_operator,
  }
}

/** Whether a password lets this account sign in. Reads nothing but the facts. */
export function passwordWay(facts: SignInFacts): WayIn {
  const { account, switches } = facts
  // An unknown workspace gets the same answer as one without this account.
  if (facts.workspaceState !== 'ACTIVE' && facts.workspaceState !== null) return closed('workspace_not_active')
  const off = switchedOff(facts)
  if (off) return closed('switched_off', { decidedBy: { name: off, ...switches[off] } })
  if (facts.lockedUntil !== null)
    return closed('locked', {
      until: facts.lockedUntil,
      decidedBy: { name: 'password_lockout_attempts', ...switches.password_lockout_attempts },
    })
  if (!account) return closed('account_unknown')
  if (!canSignIn(account)) return closed('account_not_active')
  if (!account.hasRole) return closed('no_role')
  if (account.passwordHash === null) return closed('no_password')
  if (account.startServes === false) return closed('start_password_ended')

  const opened = isOpened(facts)
  const longest = switches.password_max_age_days.value
  return {
    way: 'PASSWORD',
    isOpen: true,
    because: opened ? 'password_opening' : facts.fallsBack ? 'provider_ended' : 'allowed',
    decidedBy: opened || facts.fallsBack ? null : { name: 'password_enabled', ...switches.password_enabled },
    until: opened ? facts.openedUntil : null,
    needsNewPassword: account.startServes
      ? 'START'
      : longest > 0 && (account.passwordAgeDays ?? 0) >= longest
        ? 'AGE'
        : null,
  }
}

/** Whether the state of the account lets it sign in with its password: of one that waits a start password that serves. */
export const canSignIn = ({ state, startServes }: Pick<SignInAccount, 'state' | 'startServes'>): boolean =>
  state === 'ACTIVE' || (state === 'INVITED' && startServes === true)

/** Whether the switches allow passwords, apart from a temporary opening. The workspace's role is in force. */
export const passwordsServe = async (ctx: Ctx, tenantId: string): Promise<boolean> =>
  switchAgainstPasswords(await readSwitches(ctx)) === undefined || isLeftOutside(ctx, tenantId)

/** The same with an opening of the workspace. */
export async function passwordsServeNow(ctx: Ctx, tenantId: string): Promise<boolean> {
  if (await passwordsServe(ctx, tenantId)) return true
  const opened = await ctx.tx`
    select 1 from password_opening o where o.tenant_id = ${tenantId} and o.opened_at <= now() and now() < o.until`
  return opened.length > 0
}

/** The switch that forbids passwords, unless the workspace has an opening or no other way to sign in is left. */
export function switchedOff(
  facts: Pick<SignInFacts, 'switches' | 'openedUntil' | 'fallsBack'>,
): SwitchName | undefined {
  if (facts.openedUntil !== null || facts.fallsBack) return undefined
  return switchAgainstPasswords(facts.switches)
}

const switchAgainstPasswords = ({ password_enabled, methods }: SwitchesInForce): SwitchName | undefined => {
  if (!password_enabled.value) return 'password_enabled'
  return methods.value.includes('PASSWORD') ? undefined : 'methods'
}

/** Whether the opening is needed: without it the switches would forbid passwords. */
const isOpened = (facts: SignInFacts) =>
  facts.openedUntil !== null && switchAgainstPasswords(facts.switches) !== undefined

const closed = (because: ClosedBecause, more: Partial<WayIn> = {}): WayIn => ({
  way: 'PASSWORD',
  isOpen: false,
  because,
  decidedBy: null,
  until: null,
  needsNewPassword: null,
  ...more,
})
