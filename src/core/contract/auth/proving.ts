/** Proving who it is: the second step of a sign-in, joining an identity, elevating a session, step-up by a provider. Spec: people 4. */
import { z } from 'zod'
import { identities } from '../identity/accounts.ts'
import { type Asking, defineOperations } from '../operation.ts'
import { returnMembers } from '../providers/operations.ts'
import { secondFactorMembers } from '../second-factor/operations.ts'
import { moment, text, uuid } from '../vocabulary.ts'
import { ownAffairs, Session } from './operations.ts'

const token = text(1, 200)
/** What the provider sent the browser back with; a call by a link has none of it. */
const { flow_token, code, state, iss } = returnMembers

/** A session shows its person for some minutes after the sign-in. */
const onceOld = {
  says: 'once 300 s have passed since the session began',
  when: (_: unknown, asking: Asking | undefined) => asking?.isSessionNew !== true,
} as const

/** Whoever ends an elevation gives something up. */
const unlessEnding = {
  says: 'unless `minutes` is 0',
  when: ({ minutes }: { readonly minutes?: number | undefined }) => minutes !== 0,
} as const

const Identity = identities.element.meta({ id: 'ConnectedIdentity' })

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
  linkIdentity: {
    method: 'POST',
    path: '/auth/sessions:link',
    summary: 'Connect an identity at a provider with the account that is signed in',
    spec: 'people 4, N18',
    body: z
      .strictObject({
        link_token: token
          .optional()
          .describe('of `auth.not_admitted`; or what a flow with the purpose LINK brought back'),
        flow_token: flow_token.optional(),
        code: code.optional(),
        state: state.optional(),
        iss,
      })
      .meta({ id: 'IdentityLink' }),
    success: { status: 200, answer: Identity },
    needs: { caller: 'account', credential: 'session', stepUp: onceOld },
    refuses: [
      'auth.link_invalid',
      'auth.sign_in_failed',
      'auth.not_admitted',
      'auth.identity_taken',
      'account.identities_full',
      'secret.unavailable',
    ],
    recovery: { refused: 'it is for whoever is signed in' },
    assumed: [
      'a link and a flow serve once, also where they are then refused; a link that is tried in another workspace is spent',
      'an identity that the account has already is answered as it is',
      'the account of an operator takes identities of the installation’s providers only: 403 `auth.not_admitted`',
    ],
  },
  elevateSession: {
    method: 'POST',
    path: '/auth/sessions:elevate',
    summary: 'Let one proof serve some minutes of this session, for acts on other accounts',
    spec: 'people 4, N19',
    body: z
      .strictObject({ minutes: z.int().min(0).max(15).default(5).describe('for how long; 0 ends it') })
      .meta({ id: 'SessionElevate' }),
    success: {
      status: 200,
      answer: z
        .object({ elevated_until: moment.nullable().describe('null: the session is not elevated') })
        .meta({ id: 'ElevatedSession' }),
    },
    needs: { caller: 'account', credential: 'session', stepUp: unlessEnding },
    recovery: { refused: 'at the database no proof is asked for' },
    assumed: [
      'to end it takes no proof; a further call with a proof counts anew',
      'it ends with the session, and with whatever ends the proofs of the account: a new password, any change of the second factor',
    ],
  },
  stepUpByProvider: {
    method: 'POST',
    path: '/auth/step-up:provider',
    summary: 'Prove once more who is calling, by signing in at a provider anew; the token serves one privileged call',
    spec: 'people 4, N21',
    body: z
      .strictObject({
        ...returnMembers,
        ...secondFactorMembers,
        operation: text(1, 64).optional().describe('the operationId the proof is for'),
        target_id: uuid.optional().describe('the id in the path of the call the proof is for'),
      })
      .meta({ id: 'ProviderStepUp' }),
    success: { status: 201, answer: z.object({ step_up_token: z.string(), expires_at: moment }) },
    refuses: [
      'auth.sign_in_failed',
      'identity_provider.no_fresh_sign_in',
      'auth.step_up_locked',
      'auth.second_factor_required',
      'auth.second_factor_failed',
      'secret.unavailable',
    ],
    secret: true,
    needs: { caller: 'account', withoutSecondFactor: true },
    recovery: ownAffairs.recovery,
    assumed: [
      'the identity is one of the caller’s account, and the flow one with the purpose STEP_UP; any other is spent, and 401',
      'a second factor that is missing or wrong leaves the flow open: the same call once more, with a code',
      'the account of an operator steps up by the installation’s providers only',
    ],
  },
})
