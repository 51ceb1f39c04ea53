/** An invitation, for people. */
import type { Invited } from '../../core/contract/identity/accounts.ts'
import { details } from './details.ts'
import { moment } from './moment.ts'

export const drawnInvitation = ({ account, expires_at, redemption_token }: Invited, file: string | undefined) =>
  details([
    ['account', account.email],
    ['id', account.id],
    ['role', account.role ?? 'none on the workspace'],
    ['valid until', moment(expires_at)],
    ['token', redemption_token === null ? undefined : file ? `written to ${file}` : redemption_token],
  ])

export function nextOf({ account: { email }, redemption_token }: Invited, file: string | undefined): string {
  if (redemption_token === null) return `The invitation goes to ${email} by mail.`
  const shown = file ? 'The token is only in that file.' : 'The token is shown only this once.'
  return `${shown} Give it to ${email}. They join with \`svc invitations redeem\`.`
}
