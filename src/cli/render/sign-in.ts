/** Why somebody can sign in, or cannot, in sentences. */
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
    `  workspace      ${workspace.state}${workspace.state === 'ACTIVE' ? '' : ': its people are refused'}`,
    `  account        ${account ? accountInWords(account) : 'nobody in this workspace signs in with that address'}`,
    ...(explanation.is_gated
      ? ['  recovery       the installation is being recovered and admits operators only (svc recovery status)']
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
  } as const
  return `${states[state]}, ${role ?? 'no role on the workspace'}${is_operator ? ', operator' : ''}`
}

/** A full record: a reason without its words does not compile. */
function wayInWords({ because, until, needs_new_password }: Way, { workspace }: SignInExplanation): string {
  const end = until === null ? '' : ` until ${moment(until)}`
  const words: Readonly<Record<Way['because'], string>> = {
    allowed: 'open',
    password_opening: `open until ${moment(until)}: an operator opened it (svc tenants close-password ${workspace.slug} ends it)`,
    workspace_not_active: `closed: the workspace is ${workspace.state}`,
    switched_off: 'closed: switched off',
    locked: `closed until ${moment(until)}: too many failed sign-ins with this address`,
    account_unknown: 'closed: there is no such account',
    account_not_active: 'closed: the account is not active',
    no_role: 'closed: the account has no role in the workspace any more',
    no_password: `closed: the account has no password; it may ask for a link to set one`,
    provider_ended: 'open: no provider is left to the workspace, so accounts fall back to their passwords',
    connected: `open${end}: connected`,
    address_vouched: `open${end}, if the provider vouches for the address`,
    brought_in: `open${end}, if the provider vouches for the address: it brings in newcomers like this one`,
    directory_decides: `open${end} for members of a named organisation; only the provider can tell`,
    offer_ended: `closed since ${moment(until)}: the offer has ended`,
    not_invited: 'closed: nobody of that address is here, and the provider brings in no such newcomer',
    invitation_ended: 'closed: the invitation has ended',
    operator: "closed: an operator comes in through the installation's own providers only",
  }
  return needs_new_password
    ? `${words[because]}, but the password is too old: it lets in only with a new one`
    : words[because]
}

function decidedLines(decided: Deciding | null): string[] {
  if (!decided) return []
  const { name, value, source, locked, reason, set_by, set_at } = decided
  const setter = set_by === null ? 'the settings file, or the operator at the database' : `account ${set_by}`
  const who = source === 'PRODUCT' ? "the product's own, nobody decided" : `decided by ${setter}, ${moment(set_at)}`
  return [
    `${name} is ${printable(Array.isArray(value) ? value.join(', ') : String(value))} (${who})`,
    ...(locked ? ['locked: no workspace may say otherwise'] : []),
    ...(reason === null ? [] : [`reason: ${printable(reason)}`]),
  ]
}

function factorInWords({
  enrolled_at,
  recovery_codes_left,
  demand,
  locked_until,
}: SignInExplanation['second_factor']): string {
  if (locked_until) return `asked for, but locked until ${moment(locked_until)}: too many wrong codes`
  if (enrolled_at) return `asked for since ${moment(enrolled_at)}; ${recovery_codes_left} recovery codes left`
  return demand === 'MUST_ENROL'
    ? 'not set up, but demanded: after signing in it has to enrol (svc mfa enroll)'
    : 'not set up'
}
