/** Workspaces, as operators administer them. Spec: Workspace (tenant) administration; Admin: workspaces; decisions 4. */
import { z } from 'zod'
import { JobRef } from '../jobs/operations.ts'
import { defineOperations } from '../operation.ts'
import { type QuotaName, quotaNames } from '../quotas.ts'
import { HoldScope, holdReason } from '../retention/operations.ts'
import { email, int64, moment, optionalPaging, planHash, slug, text, uuid, version } from '../vocabulary.ts'

const tenantId = uuid.describe("the workspace's id")
export const tenantStates = ['ACTIVE', 'SUSPENDED', 'PENDING_DELETION'] as const
export type TenantState = (typeof tenantStates)[number]

export const AdminTenant = z
  .object({
    id: uuid,
    slug: z.string(),
    display_name: z.string(),
    state: z.enum(tenantStates),
    state_before_deletion: z.enum(['ACTIVE', 'SUSPENDED']).nullable(),
    default_locale: z.string(),
    default_time_zone: z.string(),
    account_count: z.int(),
    hold_count: z.int(),
    created_at: moment,
    suspended_at: moment.nullable(),
    deletion_requested_at: moment.nullable(),
    purge_after: moment.nullable(),
    purge_started_at: moment.nullable(),
    password_opening: z
      .object({
        until: moment,
        opened_at: moment,
        opened_by: uuid.nullable(),
        requester: z.string(),
        reason: z.string(),
      })
      .nullable(),
    version,
  })
  .meta({ id: 'AdminTenant' })
export type AdminTenant = z.output<typeof AdminTenant>

const TenantProvision = z
  .strictObject({
    slug: slug.describe('the subdomain the workspace answers on'),
    display_name: text(1, 200),
    default_locale: text(1, 35).nullish().describe("BCP 47; absent: the installation's, else en"),
    default_time_zone: text(1, 64).nullish().describe("IANA; absent: the installation's, else UTC"),
    owner_email: email,
    owner_display_name: text(1, 200).nullish(),
  })
  .meta({ id: 'TenantProvision' })
export type TenantProvision = z.output<typeof TenantProvision>

const TenantChange = z
  .strictObject({
    display_name: text(1, 200).optional(),
    default_locale: text(1, 35).optional().describe('BCP 47; the language of mails, of search and of summaries'),
    default_time_zone: text(1, 64).optional().describe('IANA; of dates that are set from now on'),
  })
  .meta({ id: 'TenantChange' })

const ProvisionedTenant = z
  .object({
    tenant: AdminTenant,
    owner: z.object({ account_id: uuid, email: z.string(), display_name: z.string().nullable() }),
    redemption_token: z.string().describe('shown this one time only'),
    redemption_expires_at: moment,
    hub_id: uuid,
    collection_id: uuid,
  })
  .meta({ id: 'ProvisionedTenant' })

const forEachQuota = <Schema extends z.ZodType>(schema: Schema) =>
  Object.fromEntries(quotaNames.map((name) => [name, schema])) as Record<QuotaName, Schema>

const TenantQuotas = z.strictObject(forEachQuota(int64.nullable().optional())).meta({ id: 'TenantQuotas' })

const ResolvedQuotas = z
  .object(
    forEachQuota(
      z.object({
        value: int64.describe('the ceiling that counts; 0: none'),
        source: z.enum(['WORKSPACE', 'PLAN', 'INSTANCE', 'PRODUCT']),
        used: int64,
      }),
    ),
  )
  .meta({ id: 'ResolvedQuotas' })
export type ResolvedQuotas = z.output<typeof ResolvedQuotas>

const TenantDeletionRequest = z
  .strictObject({
    confirmation: text(1, 200).describe("the workspace's display name, typed exactly"),
    plan_hash: planHash,
  })
  .meta({ id: 'TenantDeletionRequest' })

const PasswordOpeningRequest = z
  .strictObject({
    hours: z.int().min(1).max(168).default(24).describe('for how long, from now'),
    requester: text(1, 200).describe('who asked for it'),
    reason: text(1, 500),
  })
  .meta({ id: 'PasswordOpeningRequest' })

/** A hold as it was, to be put back in force. */
export const LegalHoldRecord = z
  .strictObject({
    id: uuid,
    scope: HoldScope,
    reason: holdReason,
    placed_by: uuid,
    placed_at: moment,
    released_at: moment.nullish().describe('when it was released in the rewound period'),
  })
  .meta({ id: 'LegalHoldRecord' })
export type LegalHoldRecord = z.output<typeof LegalHoldRecord>

const LegalHoldReplaceRequest = z
  .strictObject({
    recovery_point: moment.describe('the moment the installation was recovered to'),
    holds: z.array(LegalHoldRecord).max(1000).optional(),
    archive: z
      .strictObject({ target_id: uuid, path: text(1, 1000).describe("as the target's backup listing answers it") })
      .optional()
      .describe('a workspace archive at a backup target'),
  })
  .meta({ id: 'LegalHoldReplaceRequest' })

const LegalHoldReplacement = z
  .object({
    recovery_point: moment,
    placed: z.array(z.object({ id: uuid, target_present: z.boolean(), released_at: moment.nullable() })),
    already_present: z.array(uuid),
  })
  .meta({ id: 'LegalHoldReplacement' })

const operator = { caller: 'operator' } as const

export const tenantOperations = defineOperations('admin', {
  listTenants: {
    method: 'GET',
    path: '/admin/tenants',
    summary: "The installation's workspaces, oldest first",
    spec: 'Admin: workspaces; decisions 4',
    query: z.strictObject({ state: z.enum(tenantStates).optional(), slug: slug.optional(), ...optionalPaging(1000) }),
    success: {
      status: 200,
      answer: z.object({ data: z.array(AdminTenant), next_cursor: z.string().nullish() }),
      whole: 'streamed',
    },
    needs: operator,
    refuses: ['cursor.invalid'],
    recovery: 'allowed',
    assumed: ['without cursor and size the whole list is answered, as {data} alone'],
  },
  provisionTenant: {
    method: 'POST',
    path: '/admin/tenants',
    summary: 'Provision a workspace with its owner, a hub, an example collection, buckets and labels',
    spec: 'Admin: workspaces, rule 1',
    body: TenantProvision,
    success: {
      status: 201,
      answer: ProvisionedTenant,
      location: (answer: { tenant: { id: string } }) => `/admin/tenants/${answer.tenant.id}`,
    },
    needs: operator,
    refuses: ['admin.slug_taken', 'admin.multi_mode_required'],
    idempotent: true,
    secret: true,
    recovery: 'allowed',
    assumed: ['single mode takes one workspace; a second is refused with admin.multi_mode_required'],
  },
  getTenant: {
    method: 'GET',
    path: '/admin/tenants/{tenantId}',
    summary: 'One workspace',
    spec: 'ours; decisions 7',
    params: z.strictObject({ tenantId }),
    success: { status: 200, answer: AdminTenant },
    needs: operator,
    recovery: 'allowed',
  },
  updateTenant: {
    method: 'PATCH',
    path: '/admin/tenants/{tenantId}',
    summary: "Change a workspace's name, locale or time zone",
    spec: 'ours',
    params: z.strictObject({ tenantId }),
    body: TenantChange,
    patch: 'merge',
    success: { status: 200, answer: AdminTenant },
    needs: operator,
    ifMatch: true,
    refuses: ['admin.tenant_leaving'],
    recovery: 'allowed',
    assumed: [
      'the slug stays: links, host names and what callers keep stand on it',
      'dates that are set keep their zone; where the new locale has another dictionary, the documents of search are made anew beside those that answer until then',
    ],
  },
  suspendTenant: {
    method: 'POST',
    path: '/admin/tenants/{tenantId}:suspend',
    summary: 'Suspend a workspace; its people are refused from their next request',
    spec: 'Workspace states, row 1; rule 1',
    params: z.strictObject({ tenantId }),
    success: { status: 204 },
    needs: { ...operator, mode: 'multi' },
    refuses: ['admin.tenant_leaving', 'admin.operator_last'],
    recovery: 'allowed',
    assumed: [
      'the register; the specification states it for some admin operations only',
      'a workspace that the last operators who can act belong to cannot be suspended: 409 admin.operator_last; at the database it can, and be resumed there',
    ],
  },
  resumeTenant: {
    method: 'POST',
    path: '/admin/tenants/{tenantId}:resume',
    summary: 'Resume a suspended workspace',
    spec: 'Workspace states, row 2',
    params: z.strictObject({ tenantId }),
    success: { status: 204 },
    needs: operator,
    refuses: ['admin.tenant_leaving'],
    recovery: 'allowed',
  },
  deleteTenant: {
    method: 'POST',
    path: '/admin/tenants/{tenantId}:delete',
    summary: 'Ask for the deletion of a workspace; it is purged after 30 days unless that is cancelled',
    spec: 'Workspace states, row 3; decisions 4',
    params: z.strictObject({ tenantId }),
    body: TenantDeletionRequest,
    success: { status: 200, answer: AdminTenant },
    needs: { ...operator, stepUp: true, mode: 'multi' },
    refuses: ['admin.confirmation_mismatch', 'plan.stale', 'admin.operator_last'],
    recovery: 'allowed',
    assumed: [
      'a workspace that the last operators who can act belong to cannot be deleted: 409 admin.operator_last',
      'a wrong confirmation is refused also on a workspace that is pending deletion already; a plan is asked for only where something is done',
    ],
  },
  cancelTenantDeletion: {
    method: 'POST',
    path: '/admin/tenants/{tenantId}:cancel-deletion',
    summary: 'Cancel the deletion of a workspace, as long as its purge has not begun',
    spec: 'Workspace states, row 4; rules 2 and 3',
    params: z.strictObject({ tenantId }),
    success: { status: 204 },
    needs: operator,
    refuses: ['admin.tenant_deletion_underway'],
    recovery: 'allowed',
  },
  openPassword: {
    method: 'POST',
    path: '/admin/tenants/{tenantId}:open-password',
    summary: 'Let a workspace sign in with passwords for some hours, whatever its switches say',
    spec: 'Password opening; Admin: workspaces, rule 2',
    params: z.strictObject({ tenantId }),
    body: PasswordOpeningRequest,
    success: { status: 200, answer: AdminTenant },
    needs: { ...operator, stepUp: true },
    refuses: ['admin.password_opening_suspended', 'admin.tenant_leaving'],
    recovery: 'allowed',
    assumed: ['requester and reason go into the trail of the workspace, not into the journal'],
  },
  closePassword: {
    method: 'POST',
    path: '/admin/tenants/{tenantId}:close-password',
    summary: 'End a password opening before its time',
    spec: 'Password opening, rows 4 and 5',
    params: z.strictObject({ tenantId }),
    success: { status: 200, answer: AdminTenant },
    needs: operator,
    recovery: 'allowed',
  },
  replaceLegalHolds: {
    method: 'POST',
    path: '/admin/tenants/{tenantId}:replace-legal-holds',
    summary: 'Put legal holds back in force after the installation was recovered to an earlier moment',
    spec: 'Admin: workspaces, rule 3; decisions 4',
    params: z.strictObject({ tenantId }),
    body: LegalHoldReplaceRequest,
    takes: 'large',
    success: { status: 200, answer: LegalHoldReplacement },
    needs: operator,
    refuses: [
      'retention.hold_differs',
      'retention.hold_elsewhere',
      'archive.invalid',
      'archive.path_refused',
      'backup.target_failed',
    ],
    recovery: 'allowed',
    assumed: [
      'of an archive only the holds count that the recovery point does not know as released',
      'a hold is placed also while the purge is under way, which it stops',
      'the same id given twice with the same content counts once',
    ],
  },
  exportTenant: {
    method: 'POST',
    path: '/admin/tenants/{tenantId}:export',
    summary: "Write a workspace's archive to a backup target, as a job",
    spec: 'Admin: workspaces, rule 4; decisions 4',
    params: z.strictObject({ tenantId }),
    body: z.strictObject({ target_id: uuid.describe('a backup target') }).meta({ id: 'TenantExportRequest' }),
    success: { status: 202, answer: JobRef, location: (answer: { job_id: string }) => `/jobs/${answer.job_id}` },
    needs: operator,
    refuses: ['admin.tenant_deletion_underway', 'quota.exceeded'],
    idempotent: true,
    recovery: 'allowed',
    assumed: [
      "a target serves where it is the installation's or the workspace's own; any other is 422 at /target_id",
      'export_jobs counts what is queued and what runs',
      'once a purge has begun it is refused with admin.tenant_deletion_underway: the archive would be torn',
    ],
  },
  changeTenantQuotas: {
    method: 'PATCH',
    path: '/admin/tenants/{tenantId}/quotas',
    summary: "Change a workspace's ceilings; an empty patch reads them",
    spec: 'Admin: workspaces, rule 5; Quota semantics',
    params: z.strictObject({ tenantId }),
    body: TenantQuotas,
    patch: 'merge',
    success: { status: 200, answer: ResolvedQuotas },
    needs: operator,
    recovery: 'allowed',
  },
})
