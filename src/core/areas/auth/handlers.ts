/** The rules of this area, by operation. */

import type { signInExplanationOperations } from '../../contract/audit/operations.ts'
import type { invitationOperations, passwordOperations, sessionOperations } from '../../contract/auth/operations.ts'
import type { provingOperations } from '../../contract/auth/proving.ts'
import type { serviceAccountOperations, tokenOperations } from '../../contract/auth/tokens.ts'
import type { confirmationOperations } from '../../contract/identity/addresses.ts'
import type { identityProviderOperations, withdrawalPlanOperations } from '../../contract/providers/offered.ts'
import type {
  onlyProviderOperations,
  providerOperations,
  providerSignInOperations,
} from '../../contract/providers/operations.ts'
import type { secondFactorOperations } from '../../contract/second-factor/operations.ts'
import { type HandlersOf, withWork } from '../../kernel/request/handler.ts'
import { confirmAddress } from './addresses/changing.ts'
import { hashForInvitation, inspectInvitation, redeemInvitation } from './invitation.ts'
import {
  changeIdentityProvider,
  createIdentityProvider,
  listIdentityProviders,
  removeIdentityProvider,
} from './offered-providers/offered.ts'
import { cancelIdentityProviderWithdrawal, withdrawIdentityProvider } from './offered-providers/withdrawal.ts'
import { getWithdrawalPlan } from './offered-providers/withdrawal-plan.ts'
import { changePassword, prepareNewPassword } from './password/change-password.ts'
import {
  checkPassword,
  forgetPassword,
  hashForReset,
  prepareCheck,
  resetPassword,
} from './password/forgotten-password.ts'
import { finishOidc, redeemFlow } from './providers/callback.ts'
import { settleAndDiscover } from './providers/configuration.ts'
import { prepareFlow, startOidc } from './providers/flow.ts'
import { linkIdentity, redeemForLink } from './providers/link.ts'
import { getOnlyProvider, setOnlyProvider } from './providers/only-provider.ts'
import { getSignInRules } from './providers/sign-in-rules.ts'
import { redeemForStepUp, stepUpByProvider } from './providers/step-up.ts'
import { listAccountsWithoutProvider } from './providers/without-provider.ts'
import {
  changeProvider,
  createProvider,
  listPresets,
  listProviders,
  offerProvider,
  removeProvider,
} from './providers/workspace-list.ts'
import { confirmTotp, confirmTotpReplacement, enrollTotp, replaceTotp } from './second-factor/enrolment.ts'
import { disableSecondFactor, regenerateRecoveryCodes } from './second-factor/removal.ts'
import { verifySignIn } from './sign-in/challenge.ts'
import { elevateSession } from './sign-in/elevation.ts'
import { revokeOtherSessions } from './sign-in/other-sessions.ts'
import { refreshSession } from './sign-in/refresh.ts'
import { endSession, listSessions, signOut } from './sign-in/session.ts'
import { proveSignIn, proveWithNewPassword, signIn, signInWithNewPassword } from './sign-in/sign-in.ts'
import { explainSignIn } from './sign-in/sign-in-explanation.ts'
import { agreeToTerms } from './sign-in/terms.ts'
import { proveOwnPassword, stepUp } from './step-up.ts'
import { createToken, listTokens, revokeToken } from './token/access-token.ts'
import { createServiceAccount, listServiceAccounts } from './token/service-account.ts'

export const authHandlers = {
  confirmAddress,
  listIdentityProviders,
  createIdentityProvider: withWork(settleAndDiscover, createIdentityProvider),
  changeIdentityProvider: withWork(settleAndDiscover, changeIdentityProvider),
  removeIdentityProvider,
  withdrawIdentityProvider,
  cancelIdentityProviderWithdrawal,
  getWithdrawalPlan,
  explainSignIn,
  inspectInvitation,
  redeemInvitation: withWork(hashForInvitation, redeemInvitation),
  changePassword: withWork(prepareNewPassword, changePassword),
  checkPassword: withWork(prepareCheck, checkPassword),
  forgetPassword,
  resetPassword: withWork(hashForReset, resetPassword),
  stepUp: withWork((installation, actor, { body }) => proveOwnPassword(installation, actor, body.password), stepUp),
  signIn: withWork(proveSignIn, signIn),
  listSessions,
  signOut,
  verifySignIn,
  elevateSession,
  stepUpByProvider: withWork(redeemForStepUp, stepUpByProvider),
  linkIdentity: withWork(redeemForLink, linkIdentity),
  signInWithNewPassword: withWork(proveWithNewPassword, signInWithNewPassword),
  agreeToTerms,
  refreshSession,
  revokeOtherSessions,
  endSession,
  listProviders,
  createProvider: withWork(settleAndDiscover, createProvider),
  changeProvider: withWork(settleAndDiscover, changeProvider),
  removeProvider,
  offerProvider,
  getOnlyProvider,
  setOnlyProvider: withWork(settleAndDiscover, setOnlyProvider),
  listPresets,
  listAccountsWithoutProvider,
  getSignInRules,
  startOidc: withWork(prepareFlow, startOidc),
  finishOidc: withWork(redeemFlow, finishOidc),
  enrollTotp,
  confirmTotp,
  replaceTotp,
  confirmTotpReplacement,
  regenerateRecoveryCodes,
  disableSecondFactor,
  listServiceAccounts,
  createServiceAccount,
  listTokens,
  createToken,
  revokeToken,
} satisfies HandlersOf<
  typeof identityProviderOperations &
    typeof confirmationOperations &
    typeof withdrawalPlanOperations &
    typeof signInExplanationOperations &
    typeof invitationOperations &
    typeof passwordOperations &
    typeof sessionOperations &
    typeof providerOperations &
    typeof onlyProviderOperations &
    typeof provingOperations &
    typeof providerSignInOperations &
    typeof secondFactorOperations &
    typeof serviceAccountOperations &
    typeof tokenOperations
>
