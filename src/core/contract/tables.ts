/**
 * Every table, with what its migration cannot say: what an export and a backup make of it.
 *
 * The order in which a purge empties the tables is derived from their foreign keys
 * (kernel/database/removal-order.ts). test/house/catalog.test.ts compares this list with the
 * database, so that no table is left out of a purge or an export.
 */

interface WorkspaceTable {
  /** The entity its rows become in an archive, or why they are in none. */
  readonly export: string | { readonly omitted: string }
  /** The entity its rows become in a backup, where exports have none: what a workspace needs to go on. */
  readonly backup?: string
  /** Why a purge empties it after all other tables; absent: where its foreign keys put it. */
  readonly purgedLast?: string
  /** The column that says when a row came, where one does: what its growth is counted by. */
  readonly since?: string
  /** Columns that no archive holds: `tenant_id`, which the manifest names once, and these. */
  readonly withheld?: readonly string[]
  /** What people make: a rewind takes its rows back to how they were. All others stay as they are. */
  readonly content?: true
  /** Columns of `withheld` that a backup holds all the same. */
  readonly backupHolds?: readonly string[]
}

/** Tables whose rows belong to one workspace (`tenant_id`). */
export const workspaceTables: Readonly<Record<string, WorkspaceTable>> = {
  request_rate: { export: { omitted: 'a count of the running minute' } },
  idempotency_record: { export: { omitted: 'answers kept for 24 hours' } },
  sealed_value: { export: { omitted: 'secrets; nothing sealed leaves the installation' }, backup: 'sealed_values' },
  password_opening: { export: { omitted: 'hours granted by the installation' } },
  sign_in_link: { export: { omitted: 'identities that wait for their account' } },
  sign_in_challenge: { export: { omitted: 'sign-ins under way' } },
  sign_in_flow: { export: { omitted: 'sign-ins under way' } },
  provider_switch: { export: { omitted: 'ways to sign in at this installation' }, backup: 'provider_switches' },
  identity_provider: {
    export: { omitted: 'ways to sign in at this installation; their secrets are sealed' },
    backup: 'identity_providers',
  },
  connected_identity: { export: { omitted: 'credentials' }, backup: 'connected_identities' },
  group_member: { export: 'group_members', since: 'added_at' },
  account_group: { export: 'groups', since: 'created_at', withheld: ['member_count'] },
  ai_choice: { export: { omitted: 'which of the models that this installation offers is on' }, backup: 'ai_choices' },
  ai_usage: { export: { omitted: 'a count of the last days' } },
  automation_rule: { export: 'automation_rules', since: 'created_at', content: true },
  delivery_attempt: { export: { omitted: 'messages to other systems, and what these answered' } },
  delivery: { export: { omitted: 'messages to other systems; the trail has the history' } },
  webhook_secret: {
    export: { omitted: 'names of secrets; nothing sealed leaves the installation' },
    backup: 'webhook_secrets',
  },
  webhook: { export: 'webhooks', since: 'created_at' },
  job: { export: { omitted: 'work under way' } },
  reseal: { export: { omitted: 'work under way' } },
  backup_target: {
    export: { omitted: 'places of this installation; their credentials are secrets' },
    backup: 'backup_targets',
  },
  backup_run: { export: { omitted: 'how runs of schedules went' } },
  backup_schedule: { export: { omitted: 'when this installation makes backups' }, backup: 'backup_schedules' },
  backup: { export: { omitted: 'where encrypted archives lie' }, backup: 'backups' },
  restore_undo: { export: { omitted: 'what a rewind replaced, for some days' } },
  restore: { export: { omitted: 'work under way, and how it ended' } },
  tenant_quota: { export: 'quotas' },
  outbox_counter: { export: { omitted: 'the number of the newest event' } },
  outbox_watermark: { export: { omitted: 'how far old events were removed' } },
  outbox_event: { export: { omitted: 'messages to other systems; the trail has the history' } },
  audit_entry: { export: 'audit_entries', since: 'at' },
  bucket_tally: { export: { omitted: 'a count; whoever imports counts again' } },
  item_tally: { export: { omitted: 'a count; whoever imports counts again' } },
  comment_mention: { export: 'comment_mentions', content: true },
  comment_reaction: { export: 'comment_reactions', content: true },
  comment: { export: 'comments', since: 'created_at', content: true },
  media_reference: { export: 'attachments', withheld: ['id'], content: true },
  media_removal: { export: { omitted: 'work under way' } },
  media_tally: { export: { omitted: 'a count; whoever imports counts again' } },
  media: {
    export: 'media',
    since: 'created_at',
    // Previews are made again by whoever imports.
    withheld: ['writer', 'writer_until', 'small_bytes', 'medium_bytes', 'previewed_at'],
    content: true,
  },
  bulk_target: { export: { omitted: 'work under way' } },
  bulk_run: { export: { omitted: 'work under way' } },
  assignment_turn: { export: { omitted: 'whose turn it was last; whoever imports begins anew' } },
  item_label: { export: 'item_labels', content: true },
  item_member: { export: 'item_members', content: true },
  item_field_value: { export: 'item_field_values', content: true },
  item_field_key: { export: { omitted: 'made of titles and values; whoever imports makes them again' } },
  item: {
    export: 'items',
    since: 'created_at',
    withheld: ['without_labels', 'without_members', 'without_values', 'without_keys', 'kept_since'],
    content: true,
  },
  template: { export: 'templates', since: 'created_at', content: true },
  item_view: { export: 'views', since: 'created_at', content: true },
  search_pending: { export: { omitted: 'what is indexed in the next moments' } },
  search_document: { export: { omitted: 'made of what is found; whoever imports makes them again' } },
  search_index: { export: { omitted: 'how far the documents of search are' } },
  custom_field: { export: 'custom_fields', since: 'created_at', content: true },
  label: { export: 'labels', since: 'created_at', content: true },
  bucket: { export: 'buckets', since: 'created_at', content: true },
  container: { export: 'containers', since: 'created_at', withheld: ['kept_since'], content: true },
  failed_sign_in: { export: { omitted: 'a counter of the last minutes' } },
  password_reset: { export: { omitted: 'credentials' } },
  password_history: { export: { omitted: 'credentials' }, backup: 'password_history' },
  failed_attempt: { export: { omitted: 'a counter of the last minutes' } },
  recovery_code: { export: { omitted: 'credentials' }, backup: 'recovery_codes' },
  second_factor: { export: { omitted: 'credentials' }, backup: 'second_factors' },
  step_up: { export: { omitted: 'credentials' } },
  credential: { export: { omitted: 'credentials' } },
  session: { export: { omitted: 'credentials' } },
  invitation: { export: { omitted: 'credentials' } },
  retention_run: { export: { omitted: 'how runs of rules went' } },
  retention_rule: { export: 'retention_rules', withheld: ['stopped_at', 'is_released'] },
  membership: { export: 'memberships', since: 'created_at', withheld: ['holder_id'], content: true },
  legal_hold: {
    export: 'legal_holds',
    since: 'placed_at',
    purgedLast: 'until then a hold that a recovery puts back stops the purge',
  },
  address_confirmation: { export: { omitted: 'credentials' } },
  account_address: { export: 'account_addresses', since: 'created_at', withheld: ['held_fold'] },
  consent: { export: 'consents', since: 'at' },
  consent_text: { export: 'consent_texts' },
  account_restriction: { export: 'account_restrictions' },
  notification_preference: { export: 'notification_preferences' },
  notification: { export: { omitted: 'messages; the trail has the history' } },
  notification_pending: { export: { omitted: 'messages of the next moments' } },
  account_preference: { export: 'account_preferences' },
  account_word: { export: { omitted: 'made of names and addresses; whoever imports makes them again' } },
  erasure_held: { export: 'erasures_held', since: 'held_at' },
  erasure: { export: 'erasures', since: 'began_at' },
  privacy_package: { export: { omitted: 'copies of what is here, for some days' } },
  privacy_mention: { export: { omitted: 'found anew by the next search' } },
  privacy_search: { export: { omitted: 'work under way' } },
  privacy_request: { export: 'privacy_requests', since: 'created_at' },
  account: {
    export: 'accounts',
    since: 'created_at',
    withheld: ['password_hash', 'worded', 'group_ids'],
    backupHolds: ['password_hash'],
  },
}

/** Tables of the installation itself, and why they hold no workspace's content. */
export const installationTables: Readonly<Record<string, string>> = {
  installation: 'the identity of the installation',
  keyring_key: 'check values of master keys',
  tenant: 'the register of workspaces; its row goes last in a purge',
  blocked_slug: 'slugs of purged workspaces',
  departed_archive: 'whose archives go from the targets of the installation some days after the purge',
  operator: 'the operator register',
  ai_model: 'the AI models offered to every workspace',
  purge_progress: 'how far a purge is; gone with its workspace',
  purge_certificate: 'the evidence of what a purge removed: counts, hashes, moments',
  installation_notice: 'what the operators say to everybody',
  setting: 'what the operators decided for every workspace',
  journal: 'the evidence that outlives a workspace',
  daemon_witness: 'how far each daemon has acknowledged, to tell a rewind by',
  pgmigrations: 'migrations that were run',
}
