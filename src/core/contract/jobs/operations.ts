/** Jobs that a caller waits for. Spec: Admin: workspaces, rule 4; decisions 4, JobRef. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { int64, moment, uuid } from '../vocabulary.ts'

const jobStates = ['QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED'] as const
export type JobState = (typeof jobStates)[number]

const jobKinds = [
  'TENANT_EXPORT',
  'BACKUP',
  'BACKUP_VERIFY',
  'RESTORE',
  'TRASH_EMPTY',
  'SEARCH_REINDEX',
  'ITEM_BULK',
] as const
export type JobKind = (typeof jobKinds)[number]

const JobProgress = z
  .object({
    phase: z.enum(['WAITING', 'READING', 'SENDING', 'READING_BACK', 'WORKING', 'DONE']),
    done: int64.describe('rows while READING or WORKING, bytes while SENDING or READING_BACK'),
    total: int64
      .nullable()
      .describe(
        'of the same; null while it is not known, and an estimate where tables of more than 10,000 rows are read',
      ),
  })
  .meta({ id: 'JobProgress' })
export type JobProgress = z.output<typeof JobProgress>

export const JobRef = z
  .object({
    job_id: uuid,
    kind: z.enum(jobKinds),
    state: z.enum(jobStates),
    queued_at: moment,
    progress: JobProgress,
    started_at: moment.nullable(),
    finished_at: moment.nullable(),
    failure: z.string().nullable().describe('a code, once the job is FAILED'),
    result: z
      .object({
        target_id: uuid.optional().describe('TENANT_EXPORT, BACKUP: where the archive lies'),
        path: z.string().optional().describe('TENANT_EXPORT, BACKUP: the archive there'),
        counts: z
          .record(z.string(), z.int())
          .optional()
          .describe('ITEM_BULK: how many items were `done`, and how many refused, by the code'),
        refusals: z
          .array(z.object({ id: uuid, status: z.int(), code: z.string() }))
          .optional()
          .describe('ITEM_BULK: the first refusals'),
        purged: z.int().optional().describe('TRASH_EMPTY: how many rows of the trash'),
        damaged_media_ids: z
          .array(uuid)
          .optional()
          .describe(
            'TENANT_EXPORT or BACKUP that has FAILED with media.damaged: files without their bytes, at most 100',
          ),
      })
      .nullable()
      .describe('once the job has ended; the members of its kind'),
  })
  .meta({ id: 'JobRef' })
export type JobRef = z.output<typeof JobRef>

export const jobOperations = defineOperations('jobs', {
  getJob: {
    method: 'GET',
    path: '/jobs/{jobId}',
    summary: 'The state of a job and how far it is',
    spec: 'decisions 4, JobRef',
    params: z.strictObject({ jobId: uuid }),
    success: { status: 200, answer: JobRef },
    needs: { caller: 'workspace or operator', scope: 'workspace:read', role: 'VIEWER', within: 'container' },
    recovery: 'allowed',
    assumed: [
      "operators read every job, a workspace's ADMIN with `workspace:admin` those of the workspace, others those that they asked for",
      'started_at, finished_at, failure and result beside the members of JobRef',
    ],
  },
})
