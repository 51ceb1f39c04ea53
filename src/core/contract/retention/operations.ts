/**
 * Legal holds, and what a deletion takes with it: before (the plan) and after (the certificate).
 * Spec: Admin: workspaces, rule 3; decisions 4. The area's paths are ours: the specification shows none of it.
 */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { moment, pageOf, paging, slug, text, uuid, version } from '../vocabulary.ts'

export const holdScopes = ['TENANT', 'CONTAINER', 'ITEM', 'ACCOUNT'] as const

/** What a hold keeps. TENANT names nothing else, or the workspace itself. */
export const HoldScope = z.strictObject({ kind: z.enum(holdScopes), id: uuid.nullish() }).meta({ id: 'HoldScope' })
export type HoldScope = z.output<typeof HoldScope>

export const holdReason = text(1, 500)

export const Hold = z
  .object({
    id: uuid,
    tenant_id: uuid,
    scope: z.object({ kind: z.enum(holdScopes), id: uuid.nullable() }),
    reason: z.string(),
    placed_by: uuid.describe('an account; nil for the operator at the database'),
    placed_at: moment,
    released_at: moment.nullable(),
    released_by: uuid.nullable(),
    version,
  })
  .meta({ id: 'LegalHold' })
export type Hold = z.output<typeof Hold>

const HoldPlacement = z
  .strictObject({ tenant_id: uuid, scope: HoldScope, reason: holdReason })
  .meta({ id: 'LegalHoldPlacement' })

const DeletionPlan = z
  .object({
    tenant_id: uuid,
    slug: z.string(),
    display_name: z.string(),
    state: z.string(),
    grace_days: z.int(),
    purge_after: moment.describe('the deadline if it were asked for now; the one in force where it was'),
    counts: z
      .record(z.string(), z.int())
      .describe('rows by entity, as an export names them; secrets and counters by table'),
    queued_jobs: z.int(),
    operators: z.int().describe('accounts of the workspace in the operator register'),
    holds_in_force: z.array(uuid),
    backups: z
      .array(z.object({ target_id: uuid, target_name: z.string().nullable(), path: z.string(), created_at: moment }))
      .describe(
        'archives that exports wrote and that keep the data; the newest 1,000. Backups of the database are not known here',
      ),
    slug_blocked_days: z.int(),
    hash: z.string().describe('changes when anything that a person would decide by does'),
  })
  .meta({ id: 'DeletionPlan' })
export type DeletionPlan = z.output<typeof DeletionPlan>

const PurgeCertificate = z
  .object({
    tenant_id: uuid,
    slug: z.string(),
    purged_at: moment,
    document: z.string().describe('the signed JSON text, byte for byte'),
    signature: z.object({
      algorithm: z.literal('Ed25519'),
      key_id: z.string(),
      public_key: z.string().describe('32 bytes, base64url'),
      value: z.string().describe('64 bytes, base64url'),
    }),
  })
  .meta({ id: 'PurgeCertificate' })
export type PurgeCertificate = z.output<typeof PurgeCertificate>

const PurgeVerification = z
  .object({
    tenant_id: uuid,
    ok: z.boolean(),
    findings: z.array(z.object({ code: z.string(), params: z.record(z.string(), z.unknown()) })),
    scanned: z.array(z.object({ place: z.string(), left: z.int() })),
  })
  .meta({ id: 'PurgeVerification' })
export type PurgeVerification = z.output<typeof PurgeVerification>

const operator = { caller: 'operator' } as const
const holdId = uuid.describe("the hold's id")
const tenantId = uuid.describe("the workspace's id")

export const retentionOperations = defineOperations('retention', {
  listHolds: {
    method: 'GET',
    path: '/retention/holds',
    summary: "A workspace's legal holds, those in force or all, oldest first",
    spec: 'Legal holds',
    query: z.strictObject({ tenant_id: uuid, state: z.enum(['IN_FORCE', 'RELEASED']).optional(), ...paging(200, 50) }),
    success: { status: 200, answer: pageOf(Hold) },
    needs: operator,
    refuses: ['cursor.invalid', 'not_found'],
    recovery: 'allowed',
    assumed: [
      'holds are placed and released by operators, on a named workspace: the people of a workspace that is leaving cannot call, and it is the one that a hold has to keep',
    ],
  },
  placeHold: {
    method: 'POST',
    path: '/retention/holds',
    summary: 'Place a legal hold; while it is in force nothing under it is deleted',
    spec: 'Legal holds',
    body: HoldPlacement,
    success: { status: 201, answer: Hold, location: (hold: { id: string }) => `/retention/holds/${hold.id}` },
    needs: operator,
    refuses: ['not_found', 'admin.tenant_deletion_underway'],
    idempotent: true,
    recovery: 'allowed',
    assumed: ['a scope that names nothing in the workspace is 422 request.invalid with reference.unknown'],
  },
  getHold: {
    method: 'GET',
    path: '/retention/holds/{holdId}',
    summary: 'One legal hold',
    spec: 'Legal holds',
    params: z.strictObject({ holdId }),
    success: { status: 200, answer: Hold },
    needs: operator,
    recovery: 'allowed',
  },
  releaseHold: {
    method: 'POST',
    path: '/retention/holds/{holdId}:release',
    summary: 'Release a legal hold; releasing deletes nothing by itself',
    spec: 'Legal holds',
    params: z.strictObject({ holdId }),
    success: { status: 200, answer: Hold },
    needs: { ...operator, stepUp: true },
    recovery: 'allowed',
    assumed: ['a step-up, because it opens the way for a deletion', 'releasing twice changes nothing'],
  },
})

/** What deletes a workspace, and the proof that it did; answered by the tenants' area. */
export const purgeOperations = defineOperations('retention', {
  getDeletionPlan: {
    method: 'GET',
    path: '/retention/deletion-plans/{tenantId}',
    summary: 'What the deletion of a workspace would take with it',
    spec: 'Plans before destruction',
    params: z.strictObject({ tenantId }),
    success: { status: 200, answer: DeletionPlan },
    needs: operator,
    recovery: 'allowed',
  },
  listPurgeCertificates: {
    method: 'GET',
    path: '/retention/purge-certificates',
    summary: 'The certificates of purged workspaces, newest first',
    spec: 'Purge certificate',
    query: z.strictObject({ slug: slug.optional(), ...paging(200, 50) }),
    success: { status: 200, answer: pageOf(PurgeCertificate) },
    needs: operator,
    refuses: ['cursor.invalid'],
    recovery: 'allowed',
  },
  getPurgeCertificate: {
    method: 'GET',
    path: '/retention/purge-certificates/{tenantId}',
    summary: 'The certificate of a purged workspace',
    spec: 'Purge certificate',
    params: z.strictObject({ tenantId }),
    success: { status: 200, answer: PurgeCertificate },
    needs: operator,
    recovery: 'allowed',
  },
  verifyPurgeCertificate: {
    method: 'GET',
    path: '/retention/purge-certificates/{tenantId}/verification',
    summary: "Check a certificate's signature, and look again whether anything of the workspace is left",
    spec: 'Purge certificate',
    params: z.strictObject({ tenantId }),
    success: { status: 200, answer: PurgeVerification },
    needs: operator,
    refuses: ['media.store_failed'],
    recovery: 'allowed',
  },
})
