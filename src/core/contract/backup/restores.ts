/** Restores: a workspace from a backup, as it was, beside itself, or in place of what it became. Spec: Keeping, 3. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { email, moment, pageOf, paging, slug, text, uuid, version } from '../vocabulary.ts'

/** REPLACE: the workspace is rewound. NEW: another workspace is made. ITSELF: it is gone, and comes back as it was. */
const restoreModes = ['REPLACE', 'NEW', 'ITSELF'] as const
export type RestoreMode = (typeof restoreModes)[number]

export const restoreStates = [
  'PLANNING',
  'PLANNED',
  'APPLYING',
  'DONE',
  'UNDOING',
  'UNDONE',
  'FAILED',
  'CANCELLED',
] as const
export type RestoreState = (typeof restoreStates)[number]

const rows = z.int().min(0)
const into = z
  .enum(restoreModes)
  .describe('REPLACE: the workspace in use is rewound; ITSELF: one that is gone comes back; NEW: another one is made')
const Changes = z
  .object({
    comes_back: rows.describe('rows that are gone and come back'),
    changes_back: rows.describe('rows that are as they were again'),
    goes_away: rows.describe('rows that were not there'),
  })
  .meta({ id: 'RestoreChanges' })
export type RestoreChanges = z.output<typeof Changes>

const Plan = z
  .object({
    snapshot_at: moment.describe('the moment of the backup'),
    by_entity: z
      .record(z.string(), Changes)
      .describe('by the entity of the archive; one that does not change is left out'),
    kept: z
      .object({
        holds: rows.describe('legal holds in force: what they cover stays as it is now'),
        erasures_repeated: rows.describe('accounts that were erased since'),
        restrictions: rows.describe('accounts that are restricted'),
      })
      .describe('what stays as it is now'),
    dropped: z
      .array(
        z.object({
          what: z.string().describe('an entity, or a kind of secret'),
          count: rows,
          why: z.string().describe('a code'),
        }),
      )
      .describe('what does not come back'),
    over_quota: z.array(z.string()).describe('quotas that would be exceeded; that refuses nothing'),
    people: rows.describe('REPLACE: how many accounts use the workspace; otherwise how many come with it'),
    closed_seconds: rows.describe('about how long the workspace is closed'),
    hash: z.string().describe('as :apply takes it; good for 15 minutes'),
  })
  .meta({ id: 'RestorePlan' })
export type RestorePlan = z.output<typeof Plan>

const Result = z
  .object({
    by_entity: z.record(z.string(), Changes).describe('rows that were written or removed, by entity'),
    media: rows.describe('files whose bytes were brought back'),
    closed_seconds: z.number().min(0).describe('how long the workspace was closed'),
    kept_edits: rows.optional().describe('after an undo: rows that were edited since, and stay'),
  })
  .meta({ id: 'RestoreResult' })
export type RestoreResult = z.output<typeof Result>

export const Restore = z
  .object({
    id: uuid,
    into,
    source: z.object({
      backup_id: uuid.nullable().describe('null: it was named by its place'),
      target_id: uuid,
      path: z.string().describe('the archive, below the target'),
      snapshot_at: moment.describe('the moment that it holds'),
      origin: z.enum(['OWN', 'FOREIGN']).describe('OWN: this installation signed it'),
      product_version: z.string().describe('of the release that made it'),
    }),
    tenant: z.object({ id: uuid, slug: z.string() }).nullable().describe('null: it is not there yet'),
    job_id: uuid.describe('the job of the step under way, or of the last one'),
    state: z.enum(restoreStates),
    plan: Plan.nullable().describe('null until it was planned'),
    result: Result.nullable().describe('null until it is DONE'),
    failure: z.string().nullable().describe('a code, once it is FAILED'),
    undo_until: moment.nullable().describe('until when a rewind can be undone'),
    created_by: uuid.nullable().describe('null: the operator at the database'),
    created_at: moment,
    version,
  })
  .meta({ id: 'Restore' })
export type Restore = z.output<typeof Restore>

const NewRestore = z
  .strictObject({
    into,
    tenant_id: uuid.optional().describe('REPLACE: operators name the workspace; for others it is their own'),
    source: z
      .strictObject({
        backup_id: uuid.optional().describe('a backup, by its id'),
        target_id: uuid.optional(),
        path: text(1, 500).optional(),
      })
      .optional()
      .describe('either `backup_id`, or `target_id` and `path`'),
    to: moment.optional().describe('REPLACE, in place of `source`: the newest backup that is not after this moment'),
    new: z
      .strictObject({ slug, display_name: text(1, 120), owner_email: email })
      .optional()
      .describe('NEW: the workspace to be made; its owner is invited by mail'),
    identity: text(1, 200)
      .optional()
      .describe('an age identity of a recipient of the archive, where the keyring lacks its key'),
    accept_foreign: z.boolean().optional().describe('NEW, ITSELF: also an archive that this installation did not sign'),
  })
  .meta({ id: 'NewRestore' })
export type NewRestore = z.output<typeof NewRestore>

const params = z.strictObject({ restoreId: uuid })
const needs = { caller: 'workspace or operator', scope: 'workspace:admin', role: 'ADMIN' } as const
const ofOwners = { ...needs, role: 'OWNER' } as const

export const restoreOperations = defineOperations('backup', {
  listRestores: {
    method: 'GET',
    path: '/restores',
    summary: 'The restores of a workspace, newest first; an operator sees those of all',
    spec: 'Keeping, 3, K6',
    query: z.strictObject({ tenant_id: uuid.optional(), state: z.enum(restoreStates).optional(), ...paging(200, 50) }),
    success: { status: 200, answer: pageOf(Restore) },
    needs,
    refuses: ['cursor.invalid'],
    recovery: 'allowed',
  },
  createRestore: {
    method: 'POST',
    path: '/restores',
    summary: 'Prepare a restore: a job checks the archive, lays its rows out and plans; nothing is changed yet',
    spec: 'Keeping, 3, N19',
    body: NewRestore,
    success: { status: 202, answer: Restore, location: (restore: { id: string }) => `/restores/${restore.id}` },
    needs: {
      ...ofOwners,
      stepUp: { says: 'for NEW', when: (body: NewRestore) => body.into === 'NEW' },
    },
    refuses: [
      'not_found',
      'archive.invalid',
      'archive.path_refused',
      'backup.target_failed',
      'secret.unavailable',
      'restore.underway',
      'restore.workspace_present',
      'restore.purged',
      'admin.operator_required',
      'admin.tenant_leaving',
      'admin.slug_taken',
      'admin.multi_mode_required',
      'quota.exceeded',
    ],
    idempotent: true,
    recovery: 'allowed',
    assumed: [
      'answers the restore; its `job_id` is the job that plans',
      'NEW and ITSELF take an operator: others get admin.operator_required',
      'another restore that is PLANNED, and not applied, is CANCELLED by a new one; any other that has not ended refuses it',
      'a source that is not there, or not visible, is 422 at its member; `to` before every backup is 422 at /to',
      'the manifest and its signature are checked before the answer, the rest by the job',
      'NEW takes a step-up, whether or not the workspace was purged',
      'export_jobs counts restores, too',
    ],
  },
  getRestore: {
    method: 'GET',
    path: '/restores/{restoreId}',
    summary: 'One restore: what it would do, how far it is, and until when it can be undone',
    spec: 'Keeping, 3, N20',
    params,
    success: { status: 200, answer: Restore },
    needs,
    recovery: 'allowed',
    assumed: ['the hash of a plan changes every 15 minutes, and the one before counts as well'],
  },
  applyRestore: {
    method: 'POST',
    path: '/restores/{restoreId}:apply',
    summary: 'Carry out the plan that was shown, as a job; a workspace in use is closed for seconds',
    spec: 'Keeping, 3, K7',
    params,
    body: z
      .strictObject({ plan_hash: text(1, 64).describe('the hash of the plan that was shown') })
      .meta({ id: 'RestoreApplication' }),
    success: { status: 202, answer: Restore, location: (restore: { id: string }) => `/restores/${restore.id}` },
    needs: { ...ofOwners, stepUp: true },
    refuses: [
      'restore.state',
      'restore.workspace_present',
      'restore.purged',
      'plan.stale',
      'admin.tenant_leaving',
      'admin.slug_taken',
      'quota.exceeded',
    ],
    recovery: 'allowed',
    assumed: [
      'plan.stale where the holds in force or the accounts that were erased are others than those of the plan; edits are counted anew',
    ],
  },
  undoRestore: {
    method: 'POST',
    path: '/restores/{restoreId}:undo',
    summary: 'Take a rewind back, as a job, until its undo_until',
    spec: 'Keeping, 3, K8',
    params,
    body: z
      .strictObject({
        edited_since: z
          .enum(['KEEP', 'REPLACE'])
          .default('KEEP')
          .describe('what becomes of rows that were edited since the rewind'),
      })
      .meta({ id: 'RestoreUndo' }),
    success: { status: 202, answer: Restore, location: (restore: { id: string }) => `/restores/${restore.id}` },
    needs: { ...ofOwners, stepUp: true },
    refuses: ['restore.state', 'restore.underway', 'admin.tenant_leaving', 'quota.exceeded'],
    recovery: 'allowed',
  },
})
