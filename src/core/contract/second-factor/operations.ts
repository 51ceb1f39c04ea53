/** The second factor: an authenticator app's codes, and recovery codes. Spec: Index, Auth (`/auth/mfa`); decisions 2, Step-up. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { moment, slug, text, uuid } from '../vocabulary.ts'

const totpCode = z
  .string()
  .regex(/^[0-9]{6}$/)
  .describe('the code that the authenticator app shows')

/** What a call brings to show the second factor; at most one of the two. */
export const secondFactorMembers = {
  totp: totpCode.optional(),
  recovery_code: text(16, 64).optional().describe('instead of totp; each serves once'),
}

const Enrolment = z
  .object({
    secret: z.string().describe('base32, for an app that takes no link; shown this one time only'),
    otpauth_uri: z.string().describe('what a QR code for the app holds'),
    expires_at: moment.describe('until when a code of it can be confirmed'),
  })
  .meta({ id: 'SecondFactorEnrolment' })

const RecoveryCodes = z
  .object({ recovery_codes: z.array(z.string()).describe('shown this one time only; each serves once') })
  .meta({ id: 'RecoveryCodes' })

export const SecondFactor = z.object({ enrolled_at: moment, recovery_codes_left: z.int() }).meta({ id: 'SecondFactor' })
export type SecondFactor = z.output<typeof SecondFactor>

const code = z.strictObject({ code: totpCode }).meta({ id: 'SecondFactorCode' })
const refused = { refused: "it is the account's own affair" } as const
const spec = 'Index, Auth'

export const secondFactorOperations = defineOperations('auth', {
  enrollTotp: {
    method: 'POST',
    path: '/auth/mfa/totp:enroll',
    summary: 'Begin a second factor: a secret for an authenticator app',
    spec,
    success: { status: 200, answer: Enrolment },
    needs: { caller: 'account', changes: 'ways in', stepUp: true, withoutSecondFactor: true },
    refuses: ['auth.second_factor_enrolled', 'auth.second_factor_person'],
    secret: true,
    recovery: refused,
    assumed: [
      'it takes a step-up, so that a stolen session cannot lock its owner out',
      'nothing is asked for at sign-in until a code was confirmed; a secret that nobody confirms is void after 15 minutes',
    ],
  },
  confirmTotp: {
    method: 'POST',
    path: '/auth/mfa/totp:confirm',
    summary: 'Put the second factor in force with its first code; answers the recovery codes',
    spec,
    body: code,
    success: { status: 200, answer: RecoveryCodes },
    needs: { caller: 'account', changes: 'ways in', withoutSecondFactor: true },
    refuses: ['auth.second_factor_failed', 'auth.second_factor_not_begun'],
    secret: true,
    recovery: refused,
    assumed: ['every other session of the account ends, as with a changed password'],
  },
  replaceTotp: {
    method: 'POST',
    path: '/auth/mfa/totp:replace',
    summary: 'Begin to move the second factor to another app; the old one serves until the new one is confirmed',
    spec,
    success: { status: 200, answer: Enrolment },
    needs: { caller: 'account', changes: 'ways in', stepUp: true },
    refuses: ['auth.second_factor_absent'],
    secret: true,
    recovery: refused,
  },
  confirmTotpReplacement: {
    method: 'POST',
    path: '/auth/mfa/totp/replacement:confirm',
    summary: 'Put the replacement in force with its first code; recovery codes stay',
    spec,
    body: code,
    success: { status: 200, answer: SecondFactor },
    needs: { caller: 'account', changes: 'ways in' },
    refuses: ['auth.second_factor_failed', 'auth.second_factor_not_begun'],
    recovery: refused,
  },
  regenerateRecoveryCodes: {
    method: 'POST',
    path: '/auth/mfa/recovery:regenerate',
    summary: 'Make new recovery codes; the old ones are void',
    spec,
    success: { status: 200, answer: RecoveryCodes },
    needs: { caller: 'account', changes: 'ways in', stepUp: true },
    refuses: ['auth.second_factor_absent'],
    secret: true,
    recovery: refused,
  },
  disableSecondFactor: {
    method: 'POST',
    path: '/auth/mfa:disable',
    summary: "Remove the second factor: one's own, or, for an administrator, that of somebody who lost it",
    spec,
    body: z
      .strictObject({
        account_id: uuid.optional().describe("absent: the caller's own"),
        workspace: slug.optional().describe('used with email, at the database'),
        email: text(1, 254).optional().describe('the address or the sign-in name with which the account signs in'),
      })
      .meta({ id: 'SecondFactorDisable' }),
    success: { status: 204 },
    needs: { caller: 'account', changes: 'ways in', stepUp: 'or elevated', others: 'ADMIN' },
    actsOn: 'account',
    refuses: ['auth.second_factor_absent', 'auth.second_factor_demanded', 'not_found'],
    recovery: 'allowed',
    assumed: [
      "an ADMIN removes that of an account of the workspace whose role is not above his own; at the database anybody's",
      'where a second factor is demanded nobody removes his own, but an administrator removes a lost one: the account has to enrol anew',
    ],
  },
})
