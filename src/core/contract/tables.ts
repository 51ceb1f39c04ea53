/**
 * Every table, and what becomes of it when a workspace is purged or exported.
 *
 * The purge and the export walk this list; test/house/catalog.test.ts compares it with
 * the database, so that a new table cannot be forgotten by either.
 */

interface WorkspaceTable {
  /** Order of removal: a table goes before those that it refers to. */
  readonly purge: number
  /** The entity its rows become in an archive, or why they are in none. */
  readonly export: string | { readonly omitted: string }
  /** The column that says when a row came, where one does: what its growth is counted by. */
  readonly since?: string
  /** Columns that no archive holds: `tenant_id`, which the manifest names once, and these. */
  readonly withheld?: readonly string[]
}

/** Tables whose rows belong to one workspace (`tenant_id`). */
export const workspaceTables: Readonly<Record<string, WorkspaceTable>> = {
  request_rate: { purge: 10, export: { omitted: 'a count of the running minute' } },
  idempotency_record: { purge: 10, export: { omitted: 'answers kept for 24 hours' } },
  sealed_value: { purge: 20, export: { omitted: 'secrets; nothing sealed leaves the installation' } },
  password_opening: { purge: 20, export: { omitted: 'hours granted by the installation' } },
  sign_in_flow: { purge: 20, export: { omitted: 'sign-ins under way' } },
  provider_switch: { purge: 20, export: { omitted: 'ways to sign in at this installation' } },
  identity_provider: {
    purge: 20,
    export: { omitted: 'ways to sign in at this installation; their secrets are sealed' },
  },
  connected_identity: { purge: 50, export: { omitted: 'credentials' } },
  group_member: { purge: 50, export: 'group_members', since: 'added_at' },
  account_group: { purge: 60, export: 'groups', since: 'created_at' },
  ai_choice: { purge: 20, export: { omitted: 'which of the models that this installation offers is on' } },
  ai_usage: { purge: 20, export: { omitted: 'a count of the last days' } },
  automation_rule: { purge: 30, export: 'automation_rules', since: 'created_at' },
  delivery_attempt: { purge: 10, export: { omitted: 'messages to other systems, and what these answered' } },
  delivery: { purge: 20, export: { omitted: 'messages to other systems; the trail has the history' } },
  webhook_secret: { purge: 20, export: { omitted: 'names of secrets; nothing sealed leaves the installation' } },
  webhook: { purge: 30, export: 'webhooks', since: 'created_at' },
  job: { purge: 20, export: { omitted: 'work under way' } },
  reseal: { purge: 20, export: { omitted: 'work under way' } },
  backup_target: { purge: 20, export: { omitted: 'places of this installation; their credentials are secrets' } },
  tenant_quota: { purge: 20, export: 'quotas' },
  outbox_watermark: { purge: 20, export: { omitted: 'how far old events were removed' } },
  outbox_event: { purge: 20, export: { omitted: 'messages to other systems; the trail has the history' } },
  audit_entry: { purge: 20, export: 'audit_entries', since: 'at' },
  item_tally: { purge: 20, export: { omitted: 'a count; whoever imports counts again' } },
  item_label: { purge: 20, export: 'item_labels' },
  item_member: { purge: 20, export: 'item_members' },
  item_field_value: { purge: 20, export: 'item_field_values' },
  item: { purge: 25, export: 'items', since: 'created_at' },
  custom_field: { purge: 30, export: 'custom_fields', since: 'created_at' },
  label: { purge: 30, export: 'labels', since: 'created_at' },
  bucket: { purge: 30, export: 'buckets', since: 'created_at' },
  container: { purge: 40, export: 'containers', since: 'created_at' },
  failed_sign_in: { purge: 50, export: { omitted: 'a counter of the last minutes' } },
  password_reset: { purge: 50, export: { omitted: 'credentials' } },
  password_history: { purge: 50, export: { omitted: 'credentials' } },
  failed_attempt: { purge: 50, export: { omitted: 'a counter of the last minutes' } },
  recovery_code: { purge: 50, export: { omitted: 'credentials' } },
  second_factor: { purge: 50, export: { omitted: 'credentials' } },
  step_up: { purge: 50, export: { omitted: 'credentials' } },
  credential: { purge: 60, export: { omitted: 'credentials' } },
  session: { purge: 70, export: { omitted: 'credentials' } },
  invitation: { purge: 70, export: { omitted: 'credentials' } },
  membership: { purge: 35, export: 'memberships', since: 'created_at' },
  // Last: until then a hold that a recovery puts back stops the purge.
  legal_hold: { purge: 90, export: 'legal_holds', since: 'placed_at' },
  account: { purge: 80, export: 'accounts', since: 'created_at', withheld: ['password_hash'] },
}

/** Tables of the installation itself, and why they hold no workspace's content. */
export const installationTables: Readonly<Record<string, string>> = {
  installation: 'the identity of the installation',
  keyring_key: 'check values of master keys',
  tenant: 'the register of workspaces; its row goes last in a purge',
  blocked_slug: 'slugs of purged workspaces',
  operator: 'the operator register',
  ai_model: 'the AI models offered to every workspace',
  purge_progress: 'how far a purge is; gone with its workspace',
  purge_certificate: 'the evidence of what a purge removed: counts, hashes, moments',
  setting: 'what the operators decided for every workspace',
  journal: 'the evidence that outlives a workspace',
  daemon_witness: 'how far each daemon has acknowledged, to tell a rewind by',
  pgmigrations: 'migrations that were run',
}
