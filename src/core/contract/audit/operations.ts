/** The workspace's trail, and what operators look into. Spec: the area is named only; what is in it is ours. */
import { z } from 'zod'
import { accountState } from '../identity/accounts.ts'
import { defineOperations } from '../operation.ts'
import { moment, pageOf, paging, recordedActor, role, slug, text, uuid } from '../vocabulary.ts'

/** Of a provider: what would come of a sign-in through it, as far as that can be known before it has spoken. */
const providerReasons = [
  'connected',
  'address_vouched',
  'brought_in',
  'directory_decides',
  'offer_ended',
  'not_invited',
  'invitation_ended',
  'address_unconfirmed',
  'operator',
] as const

/** Why a way in is open, or what stands before it. */
const wayReasons = [
  'allowed',
  'password_opening',
  'workspace_not_active',
  'switched_off',
  'locked',
  'account_unknown',
  'account_not_active',
  'no_role',
  'no_password',
  'start_password_ended',
  'provider_ended',
  ...providerReasons,
] as const

const DecidingSwitch = z
  .object({
    name: z.string(),
    value: z.union([z.boolean(), z.int(), z.string(), z.array(z.string())]),
    source: z.enum(['PRODUCT', 'INSTANCE']).describe('who decided: nobody, so the product; or the installation'),
    locked: z.boolean().describe('no workspace may say otherwise'),
    reason: z.string().nullable(),
    set_by: uuid.nullable().describe('null: the enforcing file, or the operator at the database'),
    set_at: moment.nullable(),
  })
  .meta({ id: 'DecidingSwitch' })

const ExplainedWay = z
  .object({
    way: z.enum(['PASSWORD', 'PROVIDER']),
    provider: z.object({ id: uuid, display_name: z.string() }).nullable(),
    is_open: z.boolean(),
    because: z.enum(wayReasons),
    decided_by: DecidingSwitch.nullable(),
    until: moment.nullable().describe('when the opening, the lock or the offer ends'),
    needs_new_password: z
      .boolean()
      .describe('the password lets in only together with a new one: it is a start password, or too old'),
  })
  .meta({ id: 'ExplainedWay' })

const SignInExplanation = z
  .object({
    workspace: z.object({ id: uuid, slug: z.string(), state: z.enum(['ACTIVE', 'SUSPENDED', 'PENDING_DELETION']) }),
    account: z
      .object({
        id: uuid,
        state: accountState,
        role: role.nullable().describe('on the workspace; null: in containers alone, or none'),
        is_operator: z.boolean(),
      })
      .nullable()
      .describe('null: nobody in the workspace signs in with that address'),
    can_sign_in: z.boolean(),
    is_gated: z.boolean().describe('a recovery is under way and the account is no operator'),
    ways: z.array(ExplainedWay),
    second_factor: z.object({
      enrolled_at: moment.nullable(),
      recovery_codes_left: z.int(),
      demand: z.enum(['NOT_DEMANDED', 'MET', 'MUST_ENROL']),
      decided_by: DecidingSwitch,
      locked_until: moment.nullable().describe('too many wrong codes'),
    }),
  })
  .meta({ id: 'SignInExplanation' })
export type SignInExplanation = z.output<typeof SignInExplanation>

export const AuditEntry = z
  .object({
    id: uuid,
    at: moment,
    action: z.string(),
    actor: recordedActor,
    subject: z.object({ kind: z.string(), id: uuid }).nullable(),
    params: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'AuditEntry' })
export type AuditEntry = z.output<typeof AuditEntry>

export const auditOperations = defineOperations('audit', {
  listAuditEntries: {
    method: 'GET',
    path: '/audit',
    summary: "The workspace's trail, newest first",
    spec: 'ours',
    query: z.strictObject({
      from: moment.optional().describe('the moment itself counts'),
      until: moment.optional().describe('the moment itself does not count'),
      action: text(1, 120).optional().describe('exactly, e.g. `container.created`'),
      subject_id: uuid.optional().describe('what it was done to'),
      actor_id: uuid.optional().describe('the account that did it'),
      ...paging(200, 50),
    }),
    success: { status: 200, answer: pageOf(AuditEntry) },
    needs: { caller: 'workspace', scope: 'workspace:read', role: 'ADMIN' },
    refuses: ['cursor.invalid'],
    recovery: { refused: "the trail is the workspace's own; the installation's record is the journal" },
    assumed: ['entries hold ids, counts and moments, so they tell of private containers too, and never their content'],
  },
})

/** Answered by the auth area, which decides who signs in. */
export const signInExplanationOperations = defineOperations('audit', {
  explainSignIn: {
    method: 'POST',
    path: '/audit/sign-in:explain',
    summary: 'Why an address can sign in to a workspace, or cannot: each way in and what decides it',
    spec: 'ours',
    body: z.strictObject({ workspace: slug, email: text(1, 254) }).meta({ id: 'SignInQuestion' }),
    success: { status: 200, answer: SignInExplanation },
    needs: { caller: 'operator' },
    refuses: ['not_found'],
    recovery: 'allowed',
    assumed: ['a POST, so that the address stands in no log of paths; it changes nothing and writes no entry'],
  },
})
