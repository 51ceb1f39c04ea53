/** Identity providers offered to every workspace. Spec: Admin: identity providers; Offered identity provider. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { count, listOf, moment, planHash, uuid } from '../vocabulary.ts'
import { configurationRefusals, IdentityProviderConfiguration, providerMembers } from './operations.ts'

const OfferedIdentityProvider = z
  .object({ ...providerMembers, workspaces_on: count(0, Number.MAX_SAFE_INTEGER) })
  .meta({ id: 'OfferedIdentityProvider' })
export type OfferedProvider = z.output<typeof OfferedIdentityProvider>

const ProviderWithdrawal = z
  .strictObject({
    withdraw_at: moment.nullish().describe('when the offer ends; absent: in 14 days'),
    confirm_count: count(0, Number.MAX_SAFE_INTEGER)
      .nullish()
      .describe('how many workspaces have it on; asked for where the offer ends within a day'),
    plan_hash: planHash,
  })
  .meta({ id: 'ProviderWithdrawal' })
export type Withdrawal = z.output<typeof ProviderWithdrawal>

const StrandedAccount = z.object({
  account_id: uuid,
  email: z.string(),
  role: z.string(),
})

const WithdrawalPlan = z
  .object({
    provider_id: uuid,
    display_name: z.string().nullable(),
    issuer: z.string(),
    workspaces_on: count(0, Number.MAX_SAFE_INTEGER).describe('the confirm_count'),
    stranded_count: count(0, Number.MAX_SAFE_INTEGER).describe('people that would be left with no way in'),
    workspaces: z
      .array(
        z.object({
          id: uuid,
          slug: z.string(),
          display_name: z.string(),
          connected_count: count(0, Number.MAX_SAFE_INTEGER),
          falls_back_to_password: z.boolean(),
          stranded_count: count(0, Number.MAX_SAFE_INTEGER),
          stranded: z.array(StrandedAccount).describe('at most 100 of them'),
        }),
      )
      .describe('at most 1,000, by slug'),
    hash: z.string().describe('changes with what the plan says'),
  })
  .meta({ id: 'ProviderWithdrawalPlan' })
export type WithdrawalPlan = z.output<typeof WithdrawalPlan>
export type PlannedWorkspace = WithdrawalPlan['workspaces'][number]

const params = z.strictObject({ providerId: uuid })
const operator = { caller: 'operator' } as const
const proven = { caller: 'operator', stepUp: true } as const

export const identityProviderOperations = defineOperations('admin', {
  listIdentityProviders: {
    method: 'GET',
    path: '/admin/identity-providers',
    summary: "The installation's identity providers",
    spec: 'Admin: identity providers',
    success: { status: 200, answer: listOf(OfferedIdentityProvider) },
    needs: operator,
    recovery: 'allowed',
  },
  createIdentityProvider: {
    method: 'POST',
    path: '/admin/identity-providers',
    summary: 'Offer an identity provider to every workspace',
    spec: 'Admin: identity providers, rule 2',
    body: IdentityProviderConfiguration,
    success: {
      status: 201,
      answer: OfferedIdentityProvider,
      location: () => '/admin/identity-providers',
    },
    needs: proven,
    refuses: configurationRefusals,
    recovery: 'allowed',
    assumed: [
      'no workspace has it on until it switches it on',
      '`enabled: false` is refused as on PUT: what is offered can only be withdrawn',
      'newcomer_group_id: a group belongs to one workspace, so the installation names none in multi mode (422)',
      'newcomer_role OWNER is refused (422); with neither role nor group a newcomer is a VIEWER',
      'a provider of the public that names allowed_directories admits these alone, and is public no more',
    ],
  },
  changeIdentityProvider: {
    method: 'PUT',
    path: '/admin/identity-providers/{providerId}',
    summary: 'Set an offered identity provider whole; without client_secret the sealed one stays',
    spec: 'Admin: identity providers, rule 3',
    params,
    body: IdentityProviderConfiguration,
    success: { status: 200, answer: OfferedIdentityProvider },
    needs: proven,
    refuses: configurationRefusals,
    ifMatch: true,
    recovery: 'allowed',
    assumed: ['another issuer wants the secret once more: the sealed one is not sent to somebody else'],
  },
  removeIdentityProvider: {
    method: 'DELETE',
    path: '/admin/identity-providers/{providerId}',
    summary: 'Remove a provider, its secret and its connections, once its offer has ended or nobody has it on',
    spec: 'Admin: identity providers, rule 4',
    params,
    success: { status: 204 },
    needs: proven,
    refuses: ['identity_provider.withdraw_first', 'identity_provider.remove_after_withdrawal'],
    ifMatch: true,
    recovery: 'allowed',
  },
  withdrawIdentityProvider: {
    method: 'POST',
    path: '/admin/identity-providers/{providerId}:withdraw',
    summary: 'End the offer, at once or on a day that the workspaces are told',
    spec: 'Admin: identity providers, rule 5; Offered identity provider',
    params,
    body: ProviderWithdrawal,
    success: { status: 200, answer: OfferedIdentityProvider },
    needs: proven,
    refuses: ['identity_provider.already_withdrawn', 'plan.stale', 'identity_provider.withdraw_count_mismatch'],
    recovery: 'allowed',
    assumed: [
      'an announced withdrawal is announced anew, or ended, by a second one',
      'less than a day ahead ends the offer at once, as the table says',
    ],
  },
  cancelIdentityProviderWithdrawal: {
    method: 'POST',
    path: '/admin/identity-providers/{providerId}:cancel-withdrawal',
    summary: 'Take a withdrawal back, also after the offer has ended',
    spec: 'Offered identity provider',
    params,
    success: { status: 200, answer: OfferedIdentityProvider },
    needs: proven,
    recovery: 'allowed',
    assumed: ['on a provider that is offered nothing changes and nothing is recorded'],
  },
})

export const withdrawalPlanOperations = defineOperations('retention', {
  getWithdrawalPlan: {
    method: 'GET',
    path: '/retention/withdrawal-plans/{providerId}',
    summary: 'Who would be left with no way in if the offer of a provider ended now',
    spec: 'Plans before destruction',
    params,
    success: { status: 200, answer: WithdrawalPlan },
    needs: operator,
    recovery: 'allowed',
  },
})
