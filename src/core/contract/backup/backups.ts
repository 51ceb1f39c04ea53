/** Backups: encrypted archives of workspaces, and what keeps them. Spec: Index, Backup; Keeping, 3. */
import { z } from 'zod'
import { JobRef } from '../jobs/operations.ts'
import { defineOperations } from '../operation.ts'
import { count, int64, moment, pageOf, paging, uuid, version } from '../vocabulary.ts'

export const backupStates = ['QUEUED', 'RUNNING', 'COMPLETE', 'FAILED', 'REMOVING', 'MISSING'] as const
export type BackupState = (typeof backupStates)[number]

const keptBy = [
  'LAST',
  'HOURLY',
  'DAILY',
  'WEEKLY',
  'MONTHLY',
  'YEARLY',
  'MIN_DAYS',
  'NEWEST_GOOD',
  'HOLD',
  'HAND',
] as const
export type KeptBy = (typeof keptBy)[number]

/** HASHES: every byte is read. RESTORE: it is loaded as well. */
export const depths = ['HASHES', 'RESTORE'] as const

const Verification = z
  .object({
    depth: z.enum(depths).describe('how it was verified'),
    at: moment,
    ok: z.boolean(),
    failure: z.string().nullable().describe('a code; null: every byte was read, and is as it was written'),
  })
  .meta({ id: 'BackupVerification' })
export type Verification = z.output<typeof Verification>

export const Backup = z
  .object({
    id: uuid,
    tenant_id: uuid,
    target_id: uuid,
    path: z.string().nullable().describe('below the target; null: nothing whole is there'),
    schedule_id: uuid.nullable().describe('the schedule that made it; null: a person asked for it'),
    job_id: uuid.describe('the job that makes it; one of a schedule has it once its turn has come'),
    state: z.enum(backupStates),
    snapshot_at: moment.nullable().describe('the moment that it holds'),
    rows: int64.nullable(),
    size_bytes: int64
      .nullable()
      .describe(
        'of its own files; the bytes of files of people are shared by all backups of the workspace at the target',
      ),
    recipients: z
      .array(
        z
          .object({
            kind: z.enum(['RING', 'OUTSIDE']),
            id: z.string().describe('RING: a master key of the installation; OUTSIDE: an age recipient'),
          })
          .meta({ id: 'BackupRecipient' }),
      )
      .describe('who can read it; the installation once it is made'),
    verified: z.array(Verification).describe('the latest 20, oldest first'),
    kept_by: z.array(z.enum(keptBy)).describe('why it stays; empty: it may go'),
    kept_until: moment.nullable().describe('until when HAND keeps it; null: until somebody removes it'),
    failure: z.string().nullable().describe('a code, once it is FAILED or MISSING'),
    created_at: moment,
    version,
  })
  .meta({ id: 'Backup' })
export type Backup = z.output<typeof Backup>

/** Bech32 of an X25519 key; its checksum is checked by the rule. */
export const ageRecipient = z
  .string()
  .regex(/^age1[02-9ac-hj-np-z]{58}$/)
  .describe('a recipient of age, as `age-keygen -y` prints it')

const NewBackup = z
  .strictObject({
    target_id: uuid,
    recipients: z.array(ageRecipient).max(5).optional().describe('who can read it besides the installation'),
    tenant_id: uuid.optional().describe('operators name the workspace; for others it is their own'),
    keep_days: count(1, 3650).optional().describe('how long it is kept; absent: until somebody removes it'),
  })
  .meta({ id: 'NewBackup' })

const params = z.strictObject({ backupId: uuid })
const needs = { caller: 'workspace or operator', scope: 'workspace:admin', role: 'ADMIN' } as const

export const workspaceBackupOperations = defineOperations('backup', {
  listBackups: {
    method: 'GET',
    path: '/backups',
    summary: 'The backups of a workspace, newest first; an operator sees those of all',
    spec: 'Keeping, 3, K4',
    query: z.strictObject({
      tenant_id: uuid.optional(),
      target_id: uuid.optional(),
      schedule_id: uuid.optional().describe('only those that this schedule made'),
      state: z.enum(backupStates).optional(),
      ...paging(200, 50),
    }),
    success: { status: 200, answer: pageOf(Backup) },
    needs,
    refuses: ['cursor.invalid'],
    recovery: 'allowed',
  },
  createBackup: {
    method: 'POST',
    path: '/backups',
    summary: 'Back a workspace up to a target, encrypted, as a job',
    spec: 'Keeping, 3, N16',
    body: NewBackup,
    success: { status: 202, answer: Backup, location: (backup: { id: string }) => `/backups/${backup.id}` },
    needs,
    refuses: ['not_found', 'admin.tenant_deletion_underway', 'quota.exceeded'],
    idempotent: true,
    recovery: 'allowed',
    assumed: [
      'answers the backup; its `job_id` is the job that makes it',
      "a target serves where it is the installation's or the workspace's own; any other is 422 at /target_id",
      'export_jobs counts backups, their verifications and exports together',
      'recipients are X25519 ones: one that is no point of the curve, or has another checksum, is 422 at its place',
    ],
  },
  getBackup: {
    method: 'GET',
    path: '/backups/{backupId}',
    summary: 'One backup: how far it is, what it holds, and why it stays',
    spec: 'Keeping, 3, N17',
    params,
    success: { status: 200, answer: Backup },
    needs,
    recovery: 'allowed',
    assumed: ['kept_until says until when a person wanted it kept'],
  },
  removeBackup: {
    method: 'DELETE',
    path: '/backups/{backupId}',
    summary: 'Remove a backup: the row at once, the archive as soon as its target obeys',
    spec: 'Keeping, 3, K5',
    params,
    success: { status: 202, answer: Backup },
    needs: { ...needs, stepUp: true },
    ifMatch: true,
    refuses: ['backup.kept', 'backup.state'],
    recovery: 'allowed',
    assumed: [
      'answers the backup, REMOVING; it is gone once its archive is',
      'one that is still being made is backup.state',
      'backup.kept says HOLD or NEWEST_GOOD, which every backup shows in kept_by all the same',
      'where the target was removed, the row goes and the archive stays where it is',
    ],
  },
  verifyBackup: {
    method: 'POST',
    path: '/backups/{backupId}:verify',
    summary: 'Read a backup back to its last byte, or restore it for a try, as a job',
    spec: 'Keeping, 3, N18',
    params,
    body: z
      .strictObject({
        depth: z
          .enum(depths)
          .describe(
            'HASHES: every byte is read, decrypted and counted; RESTORE: it is also loaded into a schema of its own, its keys are checked, and what is written out again is compared',
          ),
      })
      .meta({ id: 'BackupVerificationRequest' }),
    success: { status: 202, answer: JobRef, location: (job: { job_id: string }) => `/jobs/${job.job_id}` },
    needs,
    refuses: ['backup.state', 'backup.no_scratch', 'quota.exceeded'],
    recovery: 'allowed',
    assumed: [
      'RESTORE loads it into the database of SVC_SCRATCH_URL, or into that of the installation with the owner’s login; where neither may make a schema it is backup.no_scratch',
      'a database for tries that fails says nothing of the backup, either',
      'a verification counts in export_jobs, because it reads as much as a backup writes',
      'a target that cannot be read says nothing of the backup: the attempt is noted and mailed, and the backup stays good',
    ],
  },
})
