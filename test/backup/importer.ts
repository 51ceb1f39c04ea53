/**
 * An importer written from docs/archive-format.md alone: it imports nothing of svc, and
 * fills a database whose tables it reads from that database's own catalog.
 */
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import type postgres from 'postgres'

interface Manifest {
  readonly format: string
  readonly format_version: number
  readonly job_id: string
  readonly tenant: { readonly id: string; readonly slug: string }
  readonly files: readonly {
    readonly name: string
    readonly entity: string
    readonly rows: number
    readonly bytes: number
    readonly sha256: string
    readonly compressed_bytes: number
    readonly compressed_sha256: string
  }[]
  readonly media: {
    readonly count: number
    readonly bytes: number
    readonly unexamined?: readonly { readonly media_id: string; readonly bytes: number; readonly sha256: string }[]
  }
}

export interface Imported {
  readonly manifest: Manifest
  /** The rows of each entity, as they lie in the archive. */
  readonly entities: ReadonlyMap<string, readonly Record<string, unknown>[]>
  /** Where the bytes of each file are. */
  readonly bytes: ReadonlyMap<string, string>
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')

/** Reads an archive, which has to be whole. Numbers that JavaScript would round stay as they are written. */
export function readArchive(folder: string): Imported {
  if (!existsSync(join(folder, 'manifest.json'))) throw new Error('no manifest: the archive is not complete')
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest
  if (manifest.format !== 'svc-archive' || manifest.format_version !== 1) throw new Error('another format')
  const entities = new Map<string, Record<string, unknown>[]>()
  for (const file of manifest.files) {
    const packed = readFileSync(join(folder, file.name))
    if (packed.length !== file.compressed_bytes || sha256(packed) !== file.compressed_sha256)
      throw new Error(`${file.name} was changed`)
    const plain = zstdDecompressSync(packed)
    if (plain.length !== file.bytes || sha256(plain) !== file.sha256)
      throw new Error(`${file.name} unpacks to something else`)
    const lines = plain.toString('utf8').split('\n')
    if (lines.pop() !== '' || lines.length !== file.rows) throw new Error(`${file.name} has other lines`)
    entities.set(file.entity, lines.map(readLine))
  }
  const strangers = readdirSync(folder).filter(
    (name) => name !== 'manifest.json' && !manifest.files.some((file) => file.name === name),
  )
  if (strangers.length > 0) throw new Error(`files that the manifest does not name: ${strangers}`)
  return { manifest, entities, bytes: filesOf(folder, manifest, entities.get('media') ?? []) }
}

/** The bytes of every file that has some, checked. */
function filesOf(
  folder: string,
  { media: { count, bytes, unexamined = [] } }: Manifest,
  rows: readonly Record<string, unknown>[],
): Map<string, string> {
  const found = new Map<string, string>()
  const ready = new Map<string, number>()
  const add = (id: string, size: number, hash: string) => {
    const path = join(folder, '..', 'media', hash)
    if (!/^[0-9a-f]{64}$/.test(hash)) throw new Error(`no SHA-256: ${hash}`)
    if (!existsSync(path)) throw new Error(`the bytes of ${id} are missing`)
    const content = readFileSync(path)
    if (content.length !== size || sha256(content) !== hash) throw new Error(`the bytes of ${id} were changed`)
    found.set(id, path)
  }
  for (const { id, state, sha256: hash, size_bytes } of rows)
    if (state === 'READY') {
      ready.set(String(hash), Number(size_bytes))
      add(String(id), Number(size_bytes), String(hash))
    }
  const sum = [...ready.values()].reduce((all, one) => all + one, 0)
  if (ready.size !== count || sum !== bytes) throw new Error('the manifest has another count of files')
  for (const one of unexamined) add(one.media_id, one.bytes, one.sha256)
  return found
}

/** A reviver is called for every member, which takes longer than all else here. Only long numbers need it. */
const readLine = (line: string): Record<string, unknown> =>
  /\d{16}/.test(line) ? JSON.parse(line, exact) : JSON.parse(line)

/** A whole number beyond 2^53 as its digits. */
function exact(this: unknown, _name: string, value: unknown, context?: { source?: string }): unknown {
  return typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value) ? context?.source : value
}

/** Entity → table, as the page lists them. */
const tables: Readonly<Record<string, string>> = {
  workspace: 'tenant',
  accounts: 'account',
  account_addresses: 'account_address',
  account_preferences: 'account_preference',
  privacy_requests: 'privacy_request',
  erasures: 'erasure',
  erasures_held: 'erasure_held',
  notification_preferences: 'notification_preference',
  memberships: 'membership',
  groups: 'account_group',
  group_members: 'group_member',
  containers: 'container',
  custom_fields: 'custom_field',
  labels: 'label',
  buckets: 'bucket',
  items: 'item',
  item_labels: 'item_label',
  item_members: 'item_member',
  item_field_values: 'item_field_value',
  views: 'item_view',
  templates: 'template',
  comments: 'comment',
  comment_mentions: 'comment_mention',
  comment_reactions: 'comment_reaction',
  audit_entries: 'audit_entry',
  quotas: 'tenant_quota',
  legal_holds: 'legal_hold',
  consent_texts: 'consent_text',
  consents: 'consent',
  account_restrictions: 'account_restriction',
  retention_rules: 'retention_rule',
  automation_rules: 'automation_rule',
  webhooks: 'webhook',
  media: 'media',
  attachments: 'media_reference',
  // Of backups alone.
  sealed_values: 'sealed_value',
  provider_switches: 'provider_switch',
  identity_providers: 'identity_provider',
  connected_identities: 'connected_identity',
  ai_choices: 'ai_choice',
  webhook_secrets: 'webhook_secret',
  backup_targets: 'backup_target',
  backups: 'backup',
  backup_schedules: 'backup_schedule',
  password_history: 'password_history',
  recovery_codes: 'recovery_code',
  second_factors: 'second_factor',
}

/** Writes the archive into another database, in the order of the manifest, and its files into the store of media. */
export async function importArchive(
  sql: postgres.Sql,
  {
    manifest,
    entities,
    bytes,
  }: Pick<Imported, 'entities' | 'bytes'> & {
    readonly manifest: Pick<Manifest, 'tenant'> & { readonly files: readonly { readonly entity: string }[] }
  },
  store?: string,
): Promise<void> {
  if (store !== undefined) {
    const folder = join(store, 'tenants', manifest.tenant.id)
    mkdirSync(folder, { recursive: true })
    for (const [id, path] of bytes) copyFileSync(path, join(folder, id))
  }
  await sql.begin(async (tx) => {
    for (const { entity } of manifest.files) {
      // It says where the bytes of files are, and is no table.
      if (entity === 'media_files') continue
      const table = tables[entity]
      if (!table) throw new Error(`an entity that the page does not describe: ${entity}`)
      const owner = entity === 'workspace' ? {} : { tenant_id: manifest.tenant.id }
      const rows = parentsFirst(entities.get(entity) ?? [])
      for (const row of rows) {
        const sent = { ...owner, ...row }
        // Columns that the archive does not hold take the defaults of their table.
        const columns = Object.keys(sent)
          .map((name) => `"${name}"`)
          .join(', ')
        await tx.unsafe(
          `insert into ${table} (${columns}) select ${columns} from jsonb_populate_record(null::${table}, $1::text::jsonb)`,
          [JSON.stringify(sent)],
        )
      }
    }
  })
}

/** Of containers and comments, which refer to rows of their own table. */
function parentsFirst(rows: readonly Record<string, unknown>[]): Record<string, unknown>[] {
  const hasParent = (row: Record<string, unknown>) => (row['parent_id'] ?? row['reply_to_id'] ?? null) !== null
  return [...rows].sort((a, b) => Number(hasParent(a)) - Number(hasParent(b)))
}
