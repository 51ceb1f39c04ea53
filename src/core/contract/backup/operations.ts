/** Backup targets: where archives go. Spec: Index, Backup; decisions 4, A backup target. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { count, int64, listOf, moment, text, uri, uuid, version } from '../vocabulary.ts'

const targetKinds = ['LOCAL', 'S3', 'SFTP'] as const
export type TargetKind = (typeof targetKinds)[number]

const path = text(1, 500)

/** What is kept in clear and answered, of any kind; config.ts says which kind takes and needs which. */
const PlainConfig = {
  path: path.optional().describe('LOCAL: below SVC_BACKUP_DIR; SFTP: a folder at the server'),
  endpoint: uri(500).optional().describe('S3: https://host or https://host:port'),
  region: text(1, 100).optional(),
  bucket: text(3, 63).optional(),
  prefix: text(1, 500).optional().describe('S3: put before every key'),
  access_key_id: text(1, 200).optional(),
  host: text(1, 253).optional(),
  port: count(1, 65_535).optional().describe('SFTP: 22 where absent'),
  username: text(1, 200).optional(),
  host_key: text(1, 2000).optional().describe("SFTP: the server's key as known_hosts has it: `ssh-ed25519 AAAA…`"),
}

const TargetConfig = z.object(PlainConfig).meta({ id: 'BackupTargetConfig' })
export type TargetConfig = z.output<typeof TargetConfig>

const secret = text(1, 20_000).optional().describe('sealed, and never answered')

const NewTargetConfig = z
  .strictObject({ ...PlainConfig, secret_access_key: secret, password: secret, private_key: secret })
  .meta({ id: 'NewBackupTargetConfig' })
export type NewTargetConfig = z.output<typeof NewTargetConfig>

const BackupTarget = z
  .object({
    id: uuid,
    name: z.string(),
    kind: z.enum(targetKinds),
    config: TargetConfig,
    created_at: moment,
    last_tested_at: moment.nullable(),
    version,
  })
  .meta({ id: 'BackupTarget' })
export type BackupTarget = z.output<typeof BackupTarget>

const NewBackupTarget = z
  .strictObject({ name: text(1, 120), kind: z.enum(targetKinds), config: NewTargetConfig })
  .meta({ id: 'NewBackupTarget' })

const ProbeStep = z
  .object({
    name: z.enum(['connect', 'write', 'read', 'remove']),
    ok: z.boolean(),
    error: z.string().nullable().describe('a code'),
  })
  .meta({ id: 'BackupProbeStep' })
export type ProbeStep = z.output<typeof ProbeStep>

const StoredArchive = z
  .object({
    path: z.string().describe('as :replace-legal-holds takes it'),
    kind: z.enum(['TENANT_EXPORT', 'TENANT_BACKUP']),
    tenant_id: uuid,
    created_at: moment,
    size_bytes: int64,
    product_version: z.string().nullable().describe('null while the archive is not complete'),
    complete: z.boolean().describe('whether its manifest is there, which is written last'),
  })
  .meta({ id: 'StoredArchive' })
export type StoredArchive = z.output<typeof StoredArchive>

const params = z.strictObject({ targetId: uuid })
const needs = { caller: 'workspace or operator', scope: 'workspace:admin', role: 'ADMIN' } as const
/** Where archives and the ledger go is said by a person: a token that was found makes no target. */
const proven = { ...needs, stepUp: true } as const

export const backupOperations = defineOperations('backup', {
  listBackupTargets: {
    method: 'GET',
    path: '/backup-targets',
    summary: 'The backup targets, oldest first, without their secrets',
    spec: 'Index, Backup; decisions 4',
    success: { status: 200, answer: listOf(BackupTarget) },
    needs,
    recovery: 'allowed',
    assumed: [
      "a credential with `admin:tenants` sees and changes the installation's targets, every other those of its workspace; neither sees the other's",
    ],
  },
  createBackupTarget: {
    method: 'POST',
    path: '/backup-targets',
    summary: "Add a backup target; an operator's serves every workspace",
    spec: 'Index, Backup; decisions 4; 5, Egress guard',
    body: NewBackupTarget,
    success: {
      status: 201,
      answer: BackupTarget,
      location: (answer: { id: string }) => `/backup-targets/${answer.id}/backups`,
    },
    needs: proven,
    refuses: ['egress.forbidden', 'auth.scope_required'],
    idempotent: true,
    recovery: 'allowed',
    assumed: [
      "LOCAL targets lie on the installation's own disk, so only operators make them: others get auth.scope_required",
      'an endpoint is checked by the guard before anything is stored, and again at every use',
    ],
  },
  deleteBackupTarget: {
    method: 'DELETE',
    path: '/backup-targets/{targetId}',
    summary: 'Remove a backup target and its credentials; the archives at it stay',
    spec: 'Index, Backup',
    params,
    success: { status: 204 },
    needs: proven,
    ifMatch: true,
    recovery: 'allowed',
  },
  testBackupTarget: {
    method: 'POST',
    path: '/backup-targets/{targetId}:test',
    summary: 'Write, read and remove a probe at the target',
    spec: 'Index, Backup; decisions 4',
    params,
    success: { status: 200, answer: z.object({ ok: z.boolean(), steps: z.array(ProbeStep) }) },
    needs,
    refuses: ['secret.unavailable'],
    recovery: 'allowed',
    assumed: [
      'errors are codes: unreachable, refused, credentials, host_key, missing, read_only, full, timeout, failed',
    ],
  },
  listArchives: {
    method: 'GET',
    path: '/backup-targets/{targetId}/backups',
    summary: 'The archives at a target, newest first; a workspace sees its own',
    spec: 'Index, Backup; decisions 4',
    params,
    success: { status: 200, answer: listOf(StoredArchive) },
    needs,
    refuses: ['backup.target_failed', 'secret.unavailable'],
    recovery: 'allowed',
    assumed: ['at most the newest 1,000'],
  },
})
