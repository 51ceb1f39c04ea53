/** Explains in sentences why an address can or cannot sign in. */
import type { SignInExplanation } from '../../core/contract/audit/operations.ts'
import { moment } from './moment.ts'
import { printable } from './printable.ts'

type Way = SignInExplanation['ways'][number]
type Deciding = NonNullable<Way['decided_by']>

export function explainedSignIn(email: string, explanation: SignInExplanation): string {
  const { workspace, account, ways, second_factor: factor } = explanation
  const can = explanation.can_sign_in ? 'can sign in' : 'cannot sign in'
  const lines = [
    `${printable(email)} ${can} to ${workspace.slug}.`,
    '',
    `  workspace      ${workspace.state}${workspace.state === 'ACTIVE' ? '' : ': it refuses its people'}`,
    `  account        ${account ? accountInWords(account) : 'no account of this workspace has this address'}`,
    ...(explanation.is_gated
      ? ['  recovery       the installation is in recovery and admits only operators (svc recovery status)']
      : []),
    ...ways.flatMap((way) => block(nameOf(way), [wayInWords(way, explanation), ...decidedLines(way.decided_by)])),
    ...(account ? block('second factor', [factorInWords(factor), ...decidedLines(factor.decided_by)]) : []),
  ]
  return lines.join('\n')
}

const block = (name: string, [first = '', ...rest]: readonly string[]) => [
  `  ${name.padEnd(13)}  ${first}`,
  ...rest.map((line) => `${' '.repeat(17)}${line}`),
]

const nameOf = ({ way, provider }: Way) =>
  way === 'PASSWORD' ? 'password' : printable(provider?.display_name ?? 'provider')

function accountInWords({ state, role, is_operator }: NonNullable<SignInExplanation['account']>): string {
  const states = {
    INVITED: 'INVITED: the invitation has not been redeemed',
    ACTIVE: 'ACTIVE',
    DISABLED: 'DISABLED',
    ERASED: 'ERASED',
  } as const
  return `${states[state]}, ${role ?? 'no role on the workspace'}${is_operator ? ', operator' : ''}`
}

/** The record is complete: a reason without words does not compile. */
function wayInWords({ because, until, needs_new_password }: Way, { workspace }: SignInExplanation): string {
  const end = until === null ? '' : ` until ${moment(until)}`
  const words: Readonly<Record<Way['because'], string>> = {
    allowed: 'open',
    password_opening: `open until ${moment(until)}: an operator opened it (svc tenants close-password ${workspace.slug} ends it)`,
    workspace_not_active: `closed: the workspace is ${workspace.state}`,
    switched_off: 'closed: switched off',
    locked: `closed until ${moment(until)}: too many failed sign-ins with this address`,
    account_unknown: 'closed: the account does not exist',
    start_password_ended: 'closed: the start password has ended; an administrator issues another',
    account_not_active: 'closed: the account is not active',
    no_role: 'closed: the account no longer has a role in the workspace',
    no_password: `closed: the account has no password; the user can request a link to set one`,
    provider_ended: 'open: the workspace has no provider left, so accounts use their passwords',
    connected: `open${end}: connected`,
    address_vouched: `open${end}, if the provider confirms the address`,
    brought_in: `open${end}, if the provider confirms the address: it may create an account for it`,
    directory_decides: `open${end} for members of an admitted organisation, which only the provider knows`,
    offer_ended: `closed since ${moment(until)}: the offer has ended`,
    address_unconfirmed:
      'closed: the account joined without showing that mail to the address is read; it confirms the address first',
    not_invited: 'closed: no account has this address, and the provider may not create one for it',
    invitation_ended: 'closed: the invitation has ended',
    operator: "closed: an operator can sign in only through the installation's own providers",
  }
  return needs_new_password
    ? `${words[because]}, but the password has expired: signing in requires a new one`
    : words[because]
}

function decidedLines(decided: Deciding | null): string[] {
  if (!decided) return []
  const { name, value, source, locked, reason, set_by, set_at } = decided
  const setter = set_by === null ? 'the settings file or an operator at the database' : `account ${set_by}`
  const who = source === 'PRODUCT' ? "the product's default" : `decided by ${setter}, ${moment(set_at)}`
  return [
    `${name} is ${printable(Array.isArray(value) ? value.join(', ') : String(value))} (${who})`,
    ...(locked ? ['locked: a workspace cannot change it'] : []),
    ...(reason === null ? [] : [`reason: ${printable(reason)}`]),
  ]
}

function factorInWords({
  enrolled_at,
  recovery_codes_left,
  demand,
  locked_until,
}: SignInExplanation['second_factor']): string {
  if (locked_until) return `required, but locked until ${moment(locked_until)}: too many wrong codes`
  if (enrolled_at) return `required, set up ${moment(enrolled_at)}; ${recovery_codes_left} recovery codes left`
  return demand === 'MUST_ENROL'
    ? 'not set up, but required: the user must set it up after signing in (svc mfa enroll)'
    : 'not set up'
}
