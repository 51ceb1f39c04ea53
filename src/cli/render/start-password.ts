/** A start password, for people. */
import { details } from './details.ts'
import { moment } from './moment.ts'

interface Issued {
  readonly id: string
  readonly name: string
  readonly startPassword: string
  readonly expiresAt: string
}

export const drawnStartPassword = ({ id, name, startPassword, expiresAt }: Issued, file: string | undefined) =>
  details([
    ['signs in as', name],
    ['id', id],
    ['start password', file ? `written to ${file}` : startPassword],
    ['valid until', moment(expiresAt)],
  ])

export const afterStartPassword = (name: string, file: string | undefined) =>
  `${file ? 'The start password is only in that file.' : 'The start password is shown only this once.'} Hand it to the person: ${name} replaces it at the first sign-in.`
