/** Requests of people about their data: opened, handled, decided. Spec: Index, Privacy; Keeping, 2 (N1–N5, K1, K2). */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { count, moment, pageOf, paging, text, uuid, version } from '../vocabulary.ts'

const requestKinds = ['ACCESS', 'RECTIFICATION', 'ERASURE', 'RESTRICTION', 'PORTABILITY', 'OBJECTION'] as const
export type RequestKind = (typeof requestKinds)[number]
const requestStates = ['RECEIVED', 'GRANTED', 'REFUSED', 'DONE', 'PARTLY_DONE', 'WITHDRAWN'] as const
export type RequestState = (typeof requestStates)[number]
const refusalGrounds = ['UNIDENTIFIED', 'UNFOUNDED', 'EXCESSIVE', 'LAW', 'CLAIMS', 'OTHERS_RIGHTS'] as const
const processings = ['AI', 'STATISTICS', 'OTHER'] as const
const identityStates = ['UNVERIFIED', 'ASKED', 'VERIFIED'] as const

export const kind = z
  .enum(requestKinds)
  .describe(
    'ACCESS (GDPR art. 15), RECTIFICATION (16), ERASURE (17), RESTRICTION (18), PORTABILITY (20), OBJECTION (21)',
  )
export const state = z
  .enum(requestStates)
  .describe(
    'PARTLY_DONE: erased but for what a legal hold keeps; the release of the hold erases the rest, and the request is DONE',
  )

/** What an erasure can do besides what it always does. */
export const parts = ['ACCOUNT', 'WAYS_IN', 'BELONGING', 'OWN', 'TEXTS', 'FILES', 'MENTIONS', 'EVENTS'] as const
export type ErasedPart = (typeof parts)[number]
export const textChoices = ['KEEP', 'REDACT', 'REMOVE'] as const
export const fileChoices = ['KEEP', 'REMOVE'] as const
export const mentionKinds = ['ITEM', 'COMMENT', 'CONTAINER', 'TEMPLATE'] as const

const part = z
  .enum(parts)
  .describe(
    'ACCOUNT: names, addresses, preferences. WAYS_IN: credentials and connections. BELONGING: roles, groups, assignments, reactions. OWN: what the person alone sees. TEXTS, FILES: written and uploaded. MENTIONS: in texts of others. EVENTS: about the account, with their deliveries',
  )

export const Choices = z
  .strictObject({
    texts: z
      .enum(textChoices)
      .default('KEEP')
      .describe('KEEP: they stay, and lead to nobody. REDACT: their words go. REMOVE: comments and items go'),
    files: z.enum(fileChoices).default('KEEP').describe('what becomes of files that the person uploaded'),
    mentions: z
      .array(z.strictObject({ kind: z.enum(mentionKinds).describe('what the text is of'), id: uuid }))
      .max(1000)
      .default([])
      .describe('texts of others in which name and address are struck out; all other hits stay'),
  })
  .meta({ id: 'ErasureChoices' })
export type Choices = z.output<typeof Choices>

const reason = z
  .enum(['COMPLEX', 'NUMEROUS'])
  .describe('COMPLEX: there is much to look through. NUMEROUS: there are many requests')

const Extension = z
  .object({
    months: z.int().describe('beyond the first one'),
    reason,
    at: moment.describe('when it was lengthened'),
  })
  .meta({ id: 'PrivacyExtension' })

const Identity = z
  .object({
    state: z.enum(identityStates).describe('from ASKED to VERIFIED the deadline stands still, for a month at most'),
    how: z.string().nullable().describe('how whoever handles the request made sure; null: by the own credential'),
    asked_at: moment.nullable().describe('when the person was asked who it is'),
    verified_at: moment.nullable().describe('when it was made sure'),
    by: uuid.nullable().describe('the account that made sure'),
  })
  .meta({ id: 'PrivacyIdentity' })

const Package = z
  .object({
    ready_at: moment.describe('when it was made'),
    expires_at: moment.describe('until when it can be fetched'),
    size_bytes: z.int().min(0).describe('of the zip'),
    sha256: z.string().describe('of the zip, hexadecimal'),
  })
  .meta({ id: 'PrivacyPackage' })

const decision = z.enum(['GRANTED', 'REFUSED']).describe('what was decided; once')
const ground = z
  .enum(refusalGrounds)
  .describe(
    'why it was refused: nobody knows who it is, it is unfounded or excessive (GDPR art. 12), law or legal claims want the data kept (17(3)), rights of others (15(4))',
  )

export const PrivacyRequest = z
  .object({
    id: uuid,
    kind,
    state,
    subject: z
      .object({
        account_id: uuid.nullable().describe('null: somebody without an account'),
        name: z.string().nullable(),
        contact: z.string().nullable().describe('where somebody without an account can be reached'),
      })
      .meta({ id: 'PrivacySubject' })
      .describe('whose data it is; without name and contact once the person is erased'),
    processing: z.enum(processings).nullable().describe('what an OBJECTION is against'),
    details: z.string().nullable().describe('what is asked, in the words of the person'),
    channel: z.enum(['SELF', 'ENTERED']).describe('SELF: by the own account. ENTERED: by an administrator'),
    received_at: moment.describe('when it came'),
    due_at: moment.describe(
      'the end of the day one calendar month after it came, in the zone of the workspace; while identity is ASKED, the latest that it can become',
    ),
    is_overdue: z.boolean().describe('whether it is open behind its deadline'),
    extended: Extension.nullable().describe('how the deadline was lengthened; null: it was not'),
    identity: Identity.describe('whether it is sure who the person is'),
    handler_id: uuid.nullable().describe('the administrator who has taken it'),
    decision: decision.nullable().describe('what was decided; null: nothing yet'),
    refusal_ground: ground.nullable().describe('why it was refused; null: it was not'),
    executes_at: moment.nullable().describe('when an erasure that was granted begins; until then it can be withdrawn'),
    held_parts: z.array(part).describe('what law keeps of an erasure, until it no longer does'),
    package: Package.nullable().describe('of ACCESS and PORTABILITY, once it can be fetched'),
    closed_at: moment.nullable().describe('when it was refused, done or withdrawn'),
    created_at: moment,
    version,
  })
  .meta({ id: 'PrivacyRequest' })
export type PrivacyRequest = z.output<typeof PrivacyRequest>

const NewPrivacyRequest = z
  .strictObject({
    kind,
    details: text(0, 5000).optional().describe('what is asked, in the words of the person'),
    processing: z.enum(processings).optional().describe('what an OBJECTION is against; for no other kind'),
    account_id: uuid.optional().describe('whose data it is; of administrators'),
    subject: z
      .strictObject({ name: text(1, 200), contact: text(1, 254).optional().describe('where people reach them') })
      .meta({ id: 'NewPrivacySubject' })
      .optional()
      .describe('somebody without an account; of administrators'),
    received_at: moment.optional().describe('when it came, at most 90 days ago; of administrators'),
  })
  .meta({ id: 'NewPrivacyRequest' })

const PrivacyRequestUpdate = z
  .strictObject({
    handler_id: uuid.nullable().optional().describe('the administrator who has taken it'),
    identity: z
      .strictObject({
        state: z.enum(['ASKED', 'VERIFIED']).describe('while it is ASKED, the deadline stands still'),
        how: text(1, 500).optional().describe('how it was made sure; for VERIFIED'),
      })
      .meta({ id: 'PrivacyIdentityUpdate' })
      .optional()
      .describe('whether it is sure who the person is'),
    decision: decision.optional(),
    refusal_ground: ground.optional(),
    state: z
      .enum(['WITHDRAWN', 'DONE'])
      .optional()
      .describe('WITHDRAWN: by the person, or for the person. DONE: a granted request whose work is done by hand'),
    choices: Choices.optional().describe('of an ERASURE that is granted'),
    plan_hash: text(1, 64).optional().describe('the `hash` of the preview that was shown; to grant an ERASURE'),
  })
  .meta({ id: 'PrivacyRequestUpdate' })

const PrivacyExtend = z
  .strictObject({
    months: count(1, 2).default(2).describe('beyond the first one'),
    reason,
    text: text(1, 1000).describe('why, for the person'),
  })
  .meta({ id: 'PrivacyExtensionRequest' })

const params = z.strictObject({ requestId: uuid })
const spec = (named: string) => `Index, Privacy; Keeping, 2, ${named}`
const own = { caller: 'account' } as const
const handling = { caller: 'workspace', scope: 'workspace:admin', role: 'ADMIN' } as const
const recovery = { refused: "what people ask of their workspace is the workspace's own affair" } as const
const self =
  'everybody sees the own requests, and ADMIN with `workspace:admin` all of the workspace; others answer as unknown'

/** Of oneself these open or destroy what an account is. */
const proven: readonly RequestKind[] = ['ACCESS', 'ERASURE', 'PORTABILITY']
interface Opening {
  readonly kind: RequestKind
  readonly account_id?: string | undefined
  readonly subject?: object | undefined
}

export const privacyRequestOperations = defineOperations('privacy', {
  listPrivacyRequests: {
    method: 'GET',
    path: '/privacy/requests',
    summary: 'Requests about personal data, newest first',
    spec: spec('N1'),
    query: z.strictObject({
      state: z.enum(requestStates).optional().describe('those in this state'),
      kind: z.enum(requestKinds).optional().describe('those of this kind'),
      account_id: uuid.optional().describe('whose data they are about'),
      overdue: z.enum(['true', 'false']).optional().describe('whether the deadline is past'),
      ...paging(200, 50),
    }),
    success: { status: 200, answer: pageOf(PrivacyRequest) },
    needs: own,
    refuses: ['cursor.invalid'],
    recovery,
    assumed: [self],
  },
  getPrivacyRequest: {
    method: 'GET',
    path: '/privacy/requests/{requestId}',
    summary: 'One request about personal data',
    spec: spec('K1'),
    params,
    success: { status: 200, answer: PrivacyRequest },
    needs: own,
    recovery,
    assumed: [self],
  },
  openPrivacyRequest: {
    method: 'POST',
    path: '/privacy/requests',
    summary: 'Ask for what the law gives a person: access, erasure, portability and the rest',
    spec: spec('N2'),
    body: NewPrivacyRequest,
    success: {
      status: 201,
      answer: PrivacyRequest,
      location: (made: { id: string }) => `/privacy/requests/${made.id}`,
    },
    needs: {
      ...own,
      stepUp: {
        says: 'for the own ACCESS, ERASURE or PORTABILITY',
        when: ({ kind, account_id, subject }: Opening) =>
          proven.includes(kind) && account_id === undefined && subject === undefined,
      },
    },
    refuses: ['privacy.request_open', 'privacy.person_only', 'auth.role_required', 'auth.scope_required'],
    idempotent: true,
    recovery,
    assumed: [
      'ADMIN with `workspace:admin` enters requests of others, by account or by name; the own account is named by nobody',
      'one request of a person and kind is open at a time; somebody without an account is not told apart',
      'the receipt goes to the addresses of the account; a contact that was entered is written to by people',
      'an OBJECTION to AI or STATISTICS is done at once',
    ],
  },
  changePrivacyRequest: {
    method: 'PATCH',
    path: '/privacy/requests/{requestId}',
    summary: 'Handle a request: who has it, who the person is, the decision; or withdraw it',
    spec: spec('N3'),
    params,
    body: PrivacyRequestUpdate,
    patch: 'merge',
    success: { status: 200, answer: PrivacyRequest },
    needs: { ...own, stepUp: 'when sent' },
    refuses: [
      'auth.role_required',
      'auth.scope_required',
      'auth.step_up_required',
      'admin.operator_required',
      'privacy.identity_unverified',
      'privacy.closed',
      'privacy.restricted',
      'membership.last_owner',
      'plan.stale',
    ],
    ifMatch: true,
    recovery,
    assumed: [
      'the person withdraws; all else is for ADMIN with `workspace:admin`, whose role is not below that of the person',
      'granting an ERASURE takes a step-up, and the hash of a preview that is at most 15 minutes old',
      'RECEIVED is decided once; GRANTED is withdrawn until its work begins',
    ],
  },
  extendPrivacyRequest: {
    method: 'POST',
    path: '/privacy/requests/{requestId}:extend',
    summary: 'Lengthen the deadline once, by two months at most; the person is told why',
    spec: spec('N4'),
    params,
    body: PrivacyExtend,
    success: { status: 200, answer: PrivacyRequest },
    needs: handling,
    refuses: ['privacy.extended_already', 'privacy.too_late', 'privacy.closed'],
    ifMatch: true,
    recovery,
  },
})
