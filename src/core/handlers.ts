/**
 * Operation → rule. Does not compile while one is missing, nor when a rule takes or
 * answers something else than its operation declares.
 */
import type { Actor } from './actor.ts'
import {
  listAiProviders,
  offerAiProvider,
  removeAiProvider,
  replaceAiProvider,
  vetBaseUrl,
} from './admin/ai-providers/offer.ts'
import { probeModel, testAiProvider } from './admin/ai-providers/probe.ts'
import { getRecordedDelivery } from './admin/deliveries/recorded.ts'
import { getDeliveryStats } from './admin/deliveries/stats.ts'
import { getEncryption } from './admin/encryption/keyring-use.ts'
import { resealEncryption } from './admin/encryption/request.ts'
import {
  changeIdentityProvider,
  createIdentityProvider,
  listIdentityProviders,
  removeIdentityProvider,
} from './admin/identity-providers/offered.ts'
import { cancelIdentityProviderWithdrawal, withdrawIdentityProvider } from './admin/identity-providers/withdrawal.ts'
import { getWithdrawalPlan } from './admin/identity-providers/withdrawal-plan.ts'
import { listJournal } from './admin/journal/journal.ts'
import { addOperator, listOperators, removeOperator } from './admin/operators/register.ts'
import { getOverview } from './admin/overview/overview.ts'
import { getSettings, prepareReplacement, replaceSettings } from './admin/settings/replacement.ts'
import { readLocalisation } from './admin/settings/settings.ts'
import { getTenantStatistics } from './admin/statistics/statistics.ts'
import { cancelTenantDeletion, deleteTenant } from './admin/tenants/deletion.ts'
import { getDeletionPlan } from './admin/tenants/deletion-plan.ts'
import { exportTenant } from './admin/tenants/export.ts'
import { readArchivedHolds, replaceLegalHolds } from './admin/tenants/legal-holds.ts'
import { listTenants } from './admin/tenants/list.ts'
import { closePassword, openPassword } from './admin/tenants/password-opening.ts'
import { provisionTenant } from './admin/tenants/provision.ts'
import { getPurgeCertificate, listPurgeCertificates } from './admin/tenants/purge-certificate.ts'
import { verifyPurgeCertificate } from './admin/tenants/purge-verification.ts'
import { changeTenantQuotas } from './admin/tenants/quotas.ts'
import { resumeTenant, suspendTenant } from './admin/tenants/suspension.ts'
import { summarizeItem, tellItemSummary } from './ai/item-summary.ts'
import { chooseAiModel, listAiModels, unchooseAiModel } from './ai/models.ts'
import { summarizeContainer, tellSummary } from './ai/summary.ts'
import { explainSignIn } from './audit/sign-in-explanation.ts'
import { listAuditEntries } from './audit/trail.ts'
import { createToken, listTokens, revokeToken } from './auth/access-token.ts'
import { changePassword, prepareNewPassword } from './auth/change-password.ts'
import { checkPassword, forgetPassword, hashForReset, prepareCheck, resetPassword } from './auth/forgotten-password.ts'
import { hashForInvitation, inspectInvitation, redeemInvitation } from './auth/invitation.ts'
import { finishOidc, redeemFlow } from './auth/providers/callback.ts'
import { settleAndDiscover } from './auth/providers/configuration.ts'
import { prepareFlow, startOidc } from './auth/providers/flow.ts'
import { getSignInRules } from './auth/providers/sign-in-rules.ts'
import { listAccountsWithoutProvider } from './auth/providers/without-provider.ts'
import {
  changeProvider,
  createProvider,
  listPresets,
  listProviders,
  offerProvider,
  removeProvider,
} from './auth/providers/workspace-list.ts'
import { confirmTotp, confirmTotpReplacement, enrollTotp, replaceTotp } from './auth/second-factor/enrolment.ts'
import { disableSecondFactor, regenerateRecoveryCodes } from './auth/second-factor/removal.ts'
import { createServiceAccount, listServiceAccounts } from './auth/service-account.ts'
import { endSession, listSessions, refreshSession, signOut } from './auth/session.ts'
import { hashForSetUp, setUpInstallation } from './auth/set-up.ts'
import { proveSignIn, proveWithNewPassword, signIn, signInWithNewPassword } from './auth/sign-in.ts'
import { proveOwnPassword, stepUp } from './auth/step-up.ts'
import { agreeToTerms } from './auth/terms.ts'
import { listBackups, readBackups } from './backup/listing.ts'
import { probeTarget, testBackupTarget } from './backup/probe.ts'
import { createBackupTarget, deleteBackupTarget, listBackupTargets, vetNewTarget } from './backup/target.ts'
import {
  archiveContainer,
  deleteContainer,
  getContainer,
  moveContainer,
  reorderContainer,
  restoreContainer,
  unarchiveContainer,
  updateContainer,
} from './containers/change.ts'
import { createContainer } from './containers/creation.ts'
import { listContainers } from './containers/list.ts'
import { setContainerPrivacy } from './containers/privacy.ts'
import type { Ctx } from './context.ts'
import { getOwnAccount } from './identity/own-account.ts'
import type { Installation, RunAsRule } from './installation.ts'
import { listItemActivity } from './items/activity.ts'
import { deleteItem, getItem, updateItem } from './items/change.ts'
import { completeItem, reopenItem } from './items/completion.ts'
import { createItem } from './items/creation.ts'
import { setItemField } from './items/field-values.ts'
import { addItemLabel, removeItemLabel } from './items/labels.ts'
import { listItems } from './items/list.ts'
import { moveItem } from './items/move.ts'
import { getJob } from './job-area/show.ts'
import type { JsonText } from './json.ts'
import { grantMembership, listMemberships, removeMembership } from './memberships/membership.ts'
import { listProblems } from './meta/problems.ts'
import type { Answer, Received } from './operation.ts'
import type { OperationId, Operations } from './operations.ts'
import type { Problem } from './problem.ts'
import { getHold, listHolds, placeHold, releaseHold } from './retention/hold.ts'
import { createBucket, updateBucket } from './structure/buckets/change.ts'
import { deleteBucket, moveOut } from './structure/buckets/deletion.ts'
import { listBuckets } from './structure/buckets/list.ts'
import { reorderBucket } from './structure/buckets/order.ts'
import { createCustomField, deleteCustomField, updateCustomField } from './structure/custom-fields/definition.ts'
import { listCustomFields } from './structure/custom-fields/list.ts'
import { listLabels } from './structure/labels/list.ts'
import { createLabel, deleteLabel, restoreLabel, updateLabel } from './structure/labels/vocabulary.ts'
import { listEventTypes } from './triggers/event-types.ts'
import { pullEvents } from './triggers/pull.ts'
import { getDelivery, listDeliveries, replayDelivery, sendEvent } from './webhooks/deliveries.ts'
import { rotateWebhookSecret } from './webhooks/secret.ts'
import { changeWebhook, createWebhook, deleteWebhook, getWebhook, listWebhooks } from './webhooks/subscription.ts'
import { vetTarget } from './webhooks/target.ts'

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
