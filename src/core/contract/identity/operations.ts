/** Accounts. Spec: Index, Identity; decisions 2. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { SecondFactor } from '../second-factor/operations.ts'
import { weekStarts } from '../settings/operations.ts'
import { moment, role, scope, uuid, version } from '../vocabulary.ts'
import { accountState, identities } from './accounts.ts'
import { accountAddresses } from './addresses.ts'
import { preferenceMembers } from './preferences.ts'

const OwnAccount = z
  .object({
    id: uuid,
    kind: z.enum(['PERSON', 'SERVICE']),
    state: accountState,
    email: z.string().nullable(),
    sign_in_name: z.string().nullable(),
    display_name: z.string().nullable(),
    role: role.nullable().describe('on the workspace; null: a guest, who has a role in containers alone'),
    is_operator: z.boolean(),
    workspace: z.object({
      id: uuid,
      slug: z.string(),
      display_name: z.string(),
      default_locale: z.string(),
      default_time_zone: z.string(),
      locked_switches: z
        .array(z.object({ name: z.string(), reason: z.string().nullable(), set_by: uuid.nullable(), set_at: moment }))
        .describe('of signing in, which the operators of the installation decided for every workspace'),
      week_start: z.enum(weekStarts).describe('of the installation: no workspace has one of its own yet'),
    }),
    second_factor: SecondFactor.nullable(),
    second_factor_demanded: z.boolean().describe('until the account has one, it is served what it takes to enrol'),
    terms: z
      .object({
        url: z.string(),
        version: z.string().nullable(),
        agreed_version: z.string().nullable(),
        agreed_at: moment.nullable(),
        is_due: z.boolean().describe('the version in force is not the one agreed to'),
      })
      .nullable()
      .describe('null: the installation names none'),
    preferences: z.object(preferenceMembers).describe('what the account chose; null: as the workspace has it'),
    addresses: accountAddresses,
    identities,
    groups: z.array(z.object({ id: uuid, name: z.string() })).describe('the groups that the account is in, by name'),
    credential: z
      .object({
        kind: z.enum(['SESSION', 'PERSONAL', 'SERVICE']),
        scopes: z.array(scope),
        expires_at: moment.nullable(),
        app_id: uuid.nullable().describe('the app that the token was given to; null: none'),
        elevated_until: moment
          .nullable()
          .describe('until when the session serves instead of a step-up, where that is allowed; null: it does not'),
      })
      .describe('with which this call was made'),
    created_at: moment,
    version,
  })
  .meta({ id: 'OwnAccount' })

export const identityOperations = defineOperations('identity', {
  getOwnAccount: {
    method: 'GET',
    path: '/accounts/me',
    summary: 'Who is calling',
    spec: 'Index, Identity',
    success: { status: 200, answer: OwnAccount },
    needs: { caller: 'account', withoutSecondFactor: true },
    recovery: { refused: 'there is no account at the database' },
  },
})
