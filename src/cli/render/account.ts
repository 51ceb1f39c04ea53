/** An account, for people. */
import type { Account } from '../../core/contract/identity/accounts.ts'
import { details } from './details.ts'
import { moment } from './moment.ts'
import type { Column } from './table.ts'

export const accountColumns: readonly Column<Account>[] = [
  { head: 'NAME', cell: ({ display_name }) => display_name ?? '' },
  {
    head: 'ADDRESS',
    cell: ({ email, sign_in_name, kind }) => email ?? sign_in_name ?? (kind === 'SERVICE' ? 'service account' : ''),
  },
  { head: 'ROLE', cell: ({ role }) => role ?? '', whole: true },
  { head: 'STATE', cell: ({ state }) => state, whole: true },
  { head: 'LAST SEEN', cell: ({ admin }) => (admin?.last_seen_at ? moment(admin.last_seen_at) : '') },
  { head: 'ID', cell: ({ id }) => id, whole: true },
]

const yes = (is: boolean | undefined) => (is === undefined ? undefined : is ? 'yes' : 'no')
const when = (at: string | null | undefined) => (at ? moment(at) : undefined)

const otherAddresses = (addresses: NonNullable<Account['admin']>['addresses'] | undefined) =>
  addresses?.map(({ email, confirmed_at }) => (confirmed_at === null ? `${email} (unconfirmed)` : email)).join(', ') ||
  undefined

/** Everything that the caller is answered about the account. */
export function drawnAccount({ admin, ...account }: Account): string {
  return details([
    ['name', account.display_name],
    ['address', account.email],
    ['signs in as', account.sign_in_name ?? undefined],
    ['addresses', otherAddresses(admin?.addresses)],
    ['start password until', when(admin?.start_password_expires_at)],
    ['kind', account.kind],
    ['state', account.state],
    ['role', account.role ?? 'none on the workspace'],
    ['id', account.id],
    ['created', when(account.created_at)],
    ['joined', when(account.joined_at)],
    ['disabled', when(account.disabled_at)],
    ['last seen', when(admin?.last_seen_at)],
    ['password', yes(admin?.has_password)],
    ['second factor', yes(admin?.has_second_factor)],
    ['identities', admin && String(admin.identities.length)],
    ['invitation until', when(admin?.invitation_expires_at)],
    ['external id', admin?.external_id],
    ['open items', admin && String(admin.open_item_count)],
  ])
}
