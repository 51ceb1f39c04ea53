/** Schedules of backups: when they are made, for whom, and how many are kept. Spec: Index, Backup; Keeping, 3 (N12–N15). */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { count, listOf, moment, text, uuid, version } from '../vocabulary.ts'
import { ageRecipient, depths } from './backups.ts'

const kept = (says: string) => count(0, 1000).describe(says)

const Keep = z
  .object({
    last: kept('the newest so many'),
    hourly: kept('the newest of each of the newest so many hours that have one'),
    daily: kept('the same, of days'),
    weekly: kept('of weeks, from Monday'),
    monthly: kept('of months'),
    yearly: kept('of years'),
    min_days: kept('all that are younger than so many days'),
  })
  .meta({ id: 'BackupKeep' })
export type Keep = z.output<typeof Keep>

export const usualKeep: Keep = { last: 7, hourly: 0, daily: 7, weekly: 4, monthly: 6, yearly: 0, min_days: 1 }

const NewKeep = z.strictObject(Keep.partial().shape).meta({ id: 'NewBackupKeep' })

const mostTenants = 1000

const BackupSchedule = z
  .object({
    id: uuid,
    name: z.string(),
    target_id: uuid,
    cron: z.string(),
    time_zone: z.string().describe('an IANA zone, on whose clocks the expression is read'),
    tenants: z
      .union([z.literal('ALL'), z.array(uuid)])
      .nullable()
      .describe("the workspaces that an operator's schedule backs up; null: it is a workspace's own"),
    keep: Keep,
    verify: z.enum(depths).describe('how each of its backups is verified'),
    recipients: z.array(z.string()).describe('who can read its backups besides the installation'),
    is_enabled: z.boolean(),
    next_run_at: moment
      .nullable()
      .describe('up to ten minutes behind the time that the expression says; null: it is not enabled'),
    paused_reason: z
      .enum(['TARGET_REMOVED', 'SECRET_UNAVAILABLE'])
      .nullable()
      .describe('why its last due moment made no backup; SECRET_UNAVAILABLE ends by itself'),
    last_run: z
      .object({
        at: moment,
        complete: z.int().min(0).describe('workspaces whose backup was made and verified'),
        failed: z.int().min(0).describe('workspaces whose backup was not'),
      })
      .meta({ id: 'BackupScheduleRun' })
      .nullable()
      .describe('the last one that has ended'),
    consecutive_failures: z
      .int()
      .min(0)
      .describe('runs in a row with a failure; from three on a mail, then one a week'),
    created_at: moment,
    updated_at: moment,
    version,
  })
  .meta({ id: 'BackupSchedule' })
export type BackupSchedule = z.output<typeof BackupSchedule>

const members = {
  name: text(1, 120),
  target_id: uuid,
  cron: text(1, 200).describe('minute (one number), hour, day of the month, month, day of the week: `30 2 * * *`'),
  time_zone: text(1, 64).describe('an IANA zone, on whose clocks the expression is read'),
  tenants: z
    .union([z.literal('ALL'), z.array(uuid).min(1).max(mostTenants)])
    .describe('whom an operator’s schedule backs up; for others it is their own workspace'),
  keep: NewKeep.describe('members that are absent have their usual value'),
  verify: z.enum(depths).describe('how each of its backups is verified, at once'),
  recipients: z.array(ageRecipient).max(5).describe('who can read its backups besides the installation'),
  is_enabled: z.boolean(),
}

const NewBackupSchedule = z
  .strictObject({
    ...members,
    time_zone: members.time_zone.optional(),
    tenants: members.tenants.optional(),
    keep: members.keep.optional(),
    verify: members.verify.optional(),
    recipients: members.recipients.optional(),
    is_enabled: members.is_enabled.optional(),
  })
  .meta({ id: 'NewBackupSchedule' })

const BackupScheduleUpdate = z.strictObject(z.object(members).partial().shape).meta({ id: 'BackupScheduleUpdate' })

const params = z.strictObject({ scheduleId: uuid })
const needs = { caller: 'workspace or operator', scope: 'workspace:admin', role: 'ADMIN' } as const

export const backupScheduleOperations = defineOperations('backup', {
  listBackupSchedules: {
    method: 'GET',
    path: '/backup-schedules',
    summary: 'The schedules of backups, oldest first',
    spec: 'Keeping, 3, N12',
    success: { status: 200, answer: listOf(BackupSchedule) },
    needs,
    recovery: 'allowed',
    assumed: [
      "a credential with `admin:tenants` sees and changes the installation's schedules, every other those of its workspace",
    ],
  },
  createBackupSchedule: {
    method: 'POST',
    path: '/backup-schedules',
    summary: 'Back a workspace up by a schedule; an operator says which workspaces',
    spec: 'Keeping, 3, N13',
    body: NewBackupSchedule,
    success: { status: 201, answer: BackupSchedule, location: (_: { id: string }) => '/backup-schedules' },
    needs,
    refuses: ['structure.full', 'backup.no_scratch'],
    idempotent: true,
    recovery: 'allowed',
    assumed: [
      'a time that clocks skip comes as much later; one that comes twice counts once, the first time',
      'an expression whose times are closer than SVC_BACKUP_APART_MINUTES is 422 at /cron',
      "a target serves where it is the installation's or the workspace's own; an operator's schedule takes the installation's alone",
      'ALL are all that are there at each run, but for those whose deletion was asked for',
      'the zone is written down: it does not follow the workspace when that changes its own',
    ],
  },
  changeBackupSchedule: {
    method: 'PATCH',
    path: '/backup-schedules/{scheduleId}',
    summary: 'Change a schedule, pause it or set it going again',
    spec: 'Keeping, 3, N14',
    params,
    body: BackupScheduleUpdate,
    patch: 'merge',
    success: { status: 200, answer: BackupSchedule },
    needs,
    refuses: ['backup.no_scratch'],
    ifMatch: true,
    recovery: 'allowed',
    assumed: [
      'another time counts from now on: what was missed before is not made up',
      'another `keep` counts from the next verified run on',
      'of `keep` the members that are named change',
      'another target ends paused_reason and the count of failures',
    ],
  },
  deleteBackupSchedule: {
    method: 'DELETE',
    path: '/backup-schedules/{scheduleId}',
    summary: 'Remove a schedule; its backups stay until somebody removes them',
    spec: 'Keeping, 3, N15',
    params,
    success: { status: 204 },
    needs,
    ifMatch: true,
    recovery: 'allowed',
    assumed: ['what its last run has begun goes on'],
  },
})
