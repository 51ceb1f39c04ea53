/** Proving who it is: the second step of a sign-in. Spec: people 4. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { secondFactorMembers } from '../second-factor/operations.ts'
import { text } from '../vocabulary.ts'
import { Session } from './operations.ts'

const token = text(1, 200)

export const provingOperations = defineOperations('auth', {
  verifySignIn: {
    method: 'POST',
    path: '/auth/sessions:verify',
    summary: 'Finish a sign-in with the second factor',
    spec: 'people 4, N17',
    body: z
      .strictObject({
        challenge_token: token.describe('of `auth.second_factor_required`'),
        ...secondFactorMembers,
      })
      .meta({ id: 'SignInVerify' }),
    success: { status: 201, answer: Session },
    needs: { caller: 'anyone', rate: { perSource: { calls: 120, seconds: 60 } } },
    refuses: [
      'auth.challenge_invalid',
      'auth.second_factor_failed',
      'auth.second_factor_locked',
      'tenant_suspended',
      'installation.recovering',
    ],
    secret: true,
    recovery: { refused: 'recovery mode needs no session' },
    assumed: [
      'one of `totp` and `recovery_code` is needed; a wrong code leaves the challenge as it is',
      'a challenge is void, too, where its way in is closed meanwhile: passwords switched off, or the provider',
      'the same call of `oidc:callback` once more, with a code, still serves; whichever comes first ends both',
    ],
  },
})
