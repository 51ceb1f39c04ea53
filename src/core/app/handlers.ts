/**
 * Operation → rule. Does not compile while one is missing, nor when a rule takes or
 * answers something else than its operation declares.
 */

import { summarizeItem, tellItemSummary } from '../areas/ai/item-summary.ts'
import { chooseAiModel, listAiModels, unchooseAiModel } from '../areas/ai/models.ts'
import {
  listAiProviders,
  offerAiProvider,
  removeAiProvider,
  replaceAiProvider,
  vetBaseUrl,
} from '../areas/ai/offered/offer.ts'
import { probeModel, testAiProvider } from '../areas/ai/offered/probe.ts'
import { summarizeContainer, tellSummary } from '../areas/ai/summary.ts'
import { listAuditEntries } from '../areas/audit/trail.ts'
import { hashForInvitation, inspectInvitation, redeemInvitation } from '../areas/auth/invitation.ts'
import {
  changeIdentityProvider,
  createIdentityProvider,
  listIdentityProviders,
  removeIdentityProvider,
} from '../areas/auth/offered-providers/offered.ts'
import {
  cancelIdentityProviderWithdrawal,
  withdrawIdentityProvider,
} from '../areas/auth/offered-providers/withdrawal.ts'
import { getWithdrawalPlan } from '../areas/auth/offered-providers/withdrawal-plan.ts'
import { changePassword, prepareNewPassword } from '../areas/auth/password/change-password.ts'
import {
  checkPassword,
  forgetPassword,
  hashForReset,
  prepareCheck,
  resetPassword,
} from '../areas/auth/password/forgotten-password.ts'
import { finishOidc, redeemFlow } from '../areas/auth/providers/callback.ts'
import { settleAndDiscover } from '../areas/auth/providers/configuration.ts'
import { prepareFlow, startOidc } from '../areas/auth/providers/flow.ts'
import { getSignInRules } from '../areas/auth/providers/sign-in-rules.ts'
import { listAccountsWithoutProvider } from '../areas/auth/providers/without-provider.ts'
import {
  changeProvider,
  createProvider,
  listPresets,
  listProviders,
  offerProvider,
  removeProvider,
} from '../areas/auth/providers/workspace-list.ts'
import { confirmTotp, confirmTotpReplacement, enrollTotp, replaceTotp } from '../areas/auth/second-factor/enrolment.ts'
import { disableSecondFactor, regenerateRecoveryCodes } from '../areas/auth/second-factor/removal.ts'
import { endSession, listSessions, refreshSession, signOut } from '../areas/auth/sign-in/session.ts'
import { proveSignIn, proveWithNewPassword, signIn, signInWithNewPassword } from '../areas/auth/sign-in/sign-in.ts'
import { explainSignIn } from '../areas/auth/sign-in/sign-in-explanation.ts'
import { agreeToTerms } from '../areas/auth/sign-in/terms.ts'
import { proveOwnPassword, stepUp } from '../areas/auth/step-up.ts'
import { createToken, listTokens, revokeToken } from '../areas/auth/token/access-token.ts'
import { createServiceAccount, listServiceAccounts } from '../areas/auth/token/service-account.ts'
import { listBackups, readBackups } from '../areas/backup/listing.ts'
import { probeTarget, testBackupTarget } from '../areas/backup/probe.ts'
import { createBackupTarget, deleteBackupTarget, listBackupTargets, vetNewTarget } from '../areas/backup/target.ts'
import {
  archiveContainer,
  deleteContainer,
  getContainer,
  moveContainer,
  reorderContainer,
  restoreContainer,
  unarchiveContainer,
  updateContainer,
} from '../areas/containers/change.ts'
import { createContainer } from '../areas/containers/creation.ts'
import { listContainers } from '../areas/containers/list.ts'
import { setContainerPrivacy } from '../areas/containers/privacy.ts'
import { listEventTypes } from '../areas/events/event-types.ts'
import { pullEvents } from '../areas/events/pull.ts'
import { getOwnAccount } from '../areas/identity/own-account.ts'
import { listItemActivity } from '../areas/items/activity.ts'
import { deleteItem, getItem, updateItem } from '../areas/items/change.ts'
import { completeItem, reopenItem } from '../areas/items/completion.ts'
import { createItem } from '../areas/items/creation.ts'
import { setItemField } from '../areas/items/field-values.ts'
import { addItemLabel, removeItemLabel } from '../areas/items/labels.ts'
import { listItems } from '../areas/items/list.ts'
import { moveItem } from '../areas/items/move.ts'
import { getJob } from '../areas/jobs/show.ts'
import { listJournal } from '../areas/journal/journal.ts'
import { getEncryption } from '../areas/keyring/keyring-use.ts'
import { resealEncryption } from '../areas/keyring/request.ts'
import { grantMembership, listMemberships, removeMembership } from '../areas/memberships/membership.ts'
import { listProblems } from '../areas/meta/problems.ts'
import { addOperator, listOperators, removeOperator } from '../areas/operators/register.ts'
import { getHold, listHolds, placeHold, releaseHold } from '../areas/retention/hold.ts'
import { getSettings, prepareReplacement, replaceSettings } from '../areas/settings/replacement.ts'
import { readLocalisation } from '../areas/settings/settings.ts'
import { createBucket, updateBucket } from '../areas/structure/buckets/change.ts'
import { deleteBucket, moveOut } from '../areas/structure/buckets/deletion.ts'
import { listBuckets } from '../areas/structure/buckets/list.ts'
import { reorderBucket } from '../areas/structure/buckets/order.ts'
import { createCustomField, deleteCustomField, updateCustomField } from '../areas/structure/custom-fields/definition.ts'
import { listCustomFields } from '../areas/structure/custom-fields/list.ts'
import { createLabel, deleteLabel, restoreLabel, updateLabel } from '../areas/structure/labels/label.ts'
import { listLabels } from '../areas/structure/labels/list.ts'
import { cancelTenantDeletion, deleteTenant } from '../areas/tenants/deletion/deletion.ts'
import { getDeletionPlan } from '../areas/tenants/deletion/deletion-plan.ts'
import { readArchivedHolds, replaceLegalHolds } from '../areas/tenants/deletion/legal-holds.ts'
import { exportTenant } from '../areas/tenants/export.ts'
import { listTenants } from '../areas/tenants/list.ts'
import { getOverview } from '../areas/tenants/overview.ts'
import { closePassword, openPassword } from '../areas/tenants/password-opening.ts'
import { provisionTenant } from '../areas/tenants/provision.ts'
import { getPurgeCertificate, listPurgeCertificates } from '../areas/tenants/purge/purge-certificate.ts'
import { verifyPurgeCertificate } from '../areas/tenants/purge/purge-verification.ts'
import { changeTenantQuotas } from '../areas/tenants/quotas.ts'
import { hashForSetUp, setUpInstallation } from '../areas/tenants/set-up.ts'
import { getTenantStatistics } from '../areas/tenants/statistics.ts'
import { resumeTenant, suspendTenant } from '../areas/tenants/suspension.ts'
import { getDelivery, listDeliveries, replayDelivery, sendEvent } from '../areas/webhooks/deliveries.ts'
import { getRecordedDelivery } from '../areas/webhooks/operator-view/recorded.ts'
import { getDeliveryStats } from '../areas/webhooks/operator-view/stats.ts'
import { rotateWebhookSecret } from '../areas/webhooks/secret.ts'
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
} from '../areas/webhooks/subscription.ts'
import { vetTarget } from '../areas/webhooks/target.ts'
import type { Answer, Received } from '../contract/operation.ts'
import type { OperationId, Operations } from '../contract/operations.ts'
import type { Problem } from '../contract/problem.ts'
import type { Ctx } from '../kernel/transaction/context.ts'
import type { Installation, RunAsRule } from '../kernel/transaction/installation.ts'
import type { Actor } from '../kernel/values/actor.ts'
import type { JsonText } from '../kernel/values/json.ts'

// biome-ignore lint/suspicious/noConfusingVoidType: a rule that answers nothing is an async function without a return
type Answered<O> = Promise<Answer<O> | (Answer<O> extends undefined ? void : never) | Problem | JsonText>
type Rule<O> = (ctx: Ctx, received: Received<O>) => Answered<O>
/** A rule with work before it that takes long and needs no transaction, or several. */
interface Prepared<O> {
  readonly prepare: (
    installation: Installation,
    actor: Actor,
    received: Received<O>,
    run: RunAsRule,
  ) => Promise<unknown>
  // What is handed on concerns its own rule alone: `withWork` and `asking` hold the two against each other.
  readonly rule: (ctx: Ctx, received: Received<O>, prepared: never) => Answered<O>
}
/** A rule with a question that depends on nothing: it travels in the transaction's first packet, beside the key's. */
interface Asking<O> {
  readonly ask: (ctx: Ctx) => Promise<unknown>
  readonly rule: (ctx: Ctx, received: Received<O>, told: never) => Answered<O>
}
type Handler<O> = Rule<O> | Prepared<O> | Asking<O>

type RuleWith<O, P> = (ctx: Ctx, received: Received<O>, handed: P) => Answered<O>
const withWork = <O, P>(
  prepare: (installation: Installation, actor: Actor, received: Received<O>, run: RunAsRule) => Promise<P>,
  rule: RuleWith<O, P>,
): Prepared<O> => ({ prepare, rule })
const asking = <O, P>(ask: (ctx: Ctx) => Promise<P>, rule: RuleWith<O, P>): Asking<O> => ({ ask, rule })

export const handlers: { readonly [Id in OperationId]: Handler<Operations[Id]> } = {
  listProblems,
  listEventTypes,
  setUpInstallation: withWork(hashForSetUp, setUpInstallation),
  inspectInvitation,
  redeemInvitation: withWork(hashForInvitation, redeemInvitation),
  signIn: withWork(proveSignIn, signIn),
  signInWithNewPassword: withWork(proveWithNewPassword, signInWithNewPassword),
  agreeToTerms,
  listSessions,
  signOut,
  refreshSession,
  endSession,
  changePassword: withWork(prepareNewPassword, changePassword),
  checkPassword: withWork(prepareCheck, checkPassword),
  forgetPassword,
  resetPassword: withWork(hashForReset, resetPassword),
  stepUp: withWork((installation, actor, { body }) => proveOwnPassword(installation, actor, body.password), stepUp),
  enrollTotp,
  confirmTotp,
  replaceTotp,
  confirmTotpReplacement,
  regenerateRecoveryCodes,
  disableSecondFactor,
  listTokens,
  createToken,
  revokeToken,
  listServiceAccounts,
  createServiceAccount,
  getSignInRules,
  startOidc: withWork(prepareFlow, startOidc),
  finishOidc: withWork(redeemFlow, finishOidc),
  listProviders,
  createProvider: withWork(settleAndDiscover, createProvider),
  changeProvider: withWork(settleAndDiscover, changeProvider),
  removeProvider,
  offerProvider,
  listPresets,
  listAccountsWithoutProvider,
  getOwnAccount,
  listMemberships,
  grantMembership,
  removeMembership,
  listContainers,
  createContainer,
  getContainer,
  updateContainer,
  setContainerPrivacy,
  deleteContainer,
  moveContainer,
  reorderContainer,
  archiveContainer,
  unarchiveContainer,
  restoreContainer,
  listBuckets,
  createBucket,
  updateBucket,
  deleteBucket: withWork((_installation, _actor, deletion, run) => moveOut(deletion, run), deleteBucket),
  reorderBucket,
  listLabels,
  createLabel,
  updateLabel,
  deleteLabel,
  restoreLabel,
  listCustomFields,
  createCustomField,
  updateCustomField,
  deleteCustomField,
  listItems,
  createItem,
  getItem,
  updateItem,
  deleteItem,
  moveItem,
  completeItem,
  reopenItem,
  addItemLabel,
  removeItemLabel,
  setItemField,
  listItemActivity,
  pullEvents,
  listTenants,
  provisionTenant: asking(readLocalisation, provisionTenant),
  suspendTenant,
  resumeTenant,
  deleteTenant,
  cancelTenantDeletion,
  openPassword,
  closePassword,
  replaceLegalHolds: withWork(readArchivedHolds, replaceLegalHolds),
  changeTenantQuotas,
  listHolds,
  placeHold,
  getHold,
  releaseHold,
  getDeletionPlan,
  listPurgeCertificates,
  getPurgeCertificate,
  verifyPurgeCertificate,
  listOperators,
  addOperator,
  removeOperator,
  listIdentityProviders,
  createIdentityProvider: withWork(settleAndDiscover, createIdentityProvider),
  changeIdentityProvider: withWork(settleAndDiscover, changeIdentityProvider),
  removeIdentityProvider,
  withdrawIdentityProvider,
  cancelIdentityProviderWithdrawal,
  getWithdrawalPlan,
  getSettings,
  replaceSettings: withWork(prepareReplacement, replaceSettings),
  getOverview,
  getTenantStatistics,
  listJournal,
  getEncryption,
  resealEncryption,
  listBackupTargets,
  createBackupTarget: withWork(vetNewTarget, createBackupTarget),
  deleteBackupTarget,
  testBackupTarget: withWork(probeTarget, testBackupTarget),
  listBackups: withWork(readBackups, listBackups),
  exportTenant,
  listAuditEntries,
  explainSignIn,
  getJob,
  listAiProviders,
  offerAiProvider: withWork(vetBaseUrl, offerAiProvider),
  replaceAiProvider: withWork(vetBaseUrl, replaceAiProvider),
  removeAiProvider,
  testAiProvider: withWork(probeModel, testAiProvider),
  listAiModels,
  chooseAiModel,
  unchooseAiModel,
  summarizeContainer: withWork(tellSummary, summarizeContainer),
  summarizeItem: withWork(tellItemSummary, summarizeItem),
  listWebhooks,
  createWebhook: withWork(vetTarget, createWebhook),
  getWebhook,
  changeWebhook: withWork(vetTarget, changeWebhook),
  deleteWebhook,
  listDeliveries,
  getDelivery,
  replayDelivery,
  sendEvent,
  rotateWebhookSecret,
  getDeliveryStats,
  getRecordedDelivery,
}
