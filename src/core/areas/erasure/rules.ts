/**
 * What an erasure does, table by table: the rows `x` that are an account's, and what becomes of them.
 *
 * The same rules serve the database (areas/privacy/erasing) and an archive that is read (staging.ts): a statement is made for
 * a place, which names the tables. Each rule finds nothing once it is done, so that a killed erasure begins anew with its first
 * rule. Their order is that of the foreign keys. Files and events have stories of their own. Spec: Keeping, 2, Erasure of.
 */
import type { Choices, ErasedPart } from '../../contract/privacy/requests.ts'
import { Part, type Value } from '../../kernel/database/statement.ts'

/** A piece of a statement, without a transaction. */
export const part = (strings: TemplateStringsArray, ...values: readonly Value[]): Part =>
  new Part(strings, values, true)

/** Text of ours, such as the name of a table. */
export const raw = (text: string): Part => new Part([text], [], true)

export interface Place {
  /** The table there. */
  table(name: string): Part
  readonly tenantId: string
  readonly accountId: string
  /** In an archive: tables that are made of others are not there. */
  readonly isArchive: boolean
}

export interface Rule {
  readonly part: ErasedPart
  readonly table: string
  /** Whether the choices ask for it; absent: always. */
  readonly asked?: (choices: Choices) => boolean
  /** The rows `x` of the account. */
  readonly rows: (place: Place) => Part
  /** What is written into them, by column; `u` is the row. Absent: they go. */
  readonly set?: Readonly<Record<string, Part>>
  /** The item, or else the container, that a row belongs to; absent: the row is the account's own. */
  readonly item?: Part
  readonly container?: Part
  /** No index finds the rows: they are walked by their ids. */
  readonly isWalked?: true
  /** What is changed besides, of the rows `taken`. Not in an archive, which makes it anew. */
  readonly also?: (place: Place) => readonly Part[]
  /** Of what nothing is kept, whatever a hold covers: it is a secret, or gone by itself the next day. */
  readonly isNeverHeld?: true
  /** In the database it has a story of its own (areas/privacy/erasing). */
  readonly isOfArchives?: true
}

/** What stands where words were. */
export const struck = '[…]'

const ofAccount = ({ accountId }: Place) => part`x.account_id = ${accountId}`
const byMaker = ({ accountId }: Place) => part`x.created_by = ${accountId}`
const redacts = ({ texts }: Choices) => texts === 'REDACT'
const removes = ({ texts }: Choices) => texts === 'REMOVE'
const losesFiles = ({ files }: Choices) => files === 'REMOVE'
const isNotKept = ({ texts }: Choices) => texts !== 'KEEP'

const own = (of: ErasedPart, ...tables: readonly string[]): Rule[] =>
  tables.map((table) => ({ part: of, table, rows: ofAccount }))

const touched = { updated_at: part`now()`, version: part`u.version + 1` }
const emptied = (...columns: readonly string[]) => Object.fromEntries(columns.map((column) => [column, part`null`]))

/** The first: few rows, which the transaction changes that begins the erasure, so that from then on no answer has them. */
export const atOnce: readonly Rule[] = [
  ...own('ACCOUNT', 'account_word', 'account_address', 'account_preference', 'notification_preference'),
  { part: 'BELONGING', table: 'membership', rows: ofAccount, container: part`x.container_id` },
  {
    part: 'BELONGING',
    table: 'group_member',
    rows: ofAccount,
    also: ({ table, tenantId }) => [
      part`update ${table('account_group')} g set member_count = g.member_count - 1 from taken where g.tenant_id = ${tenantId} and g.id = taken.group_id`,
    ],
  },
  {
    part: 'ACCOUNT',
    table: 'account',
    rows: ({ accountId }) => part`x.id = ${accountId} and x.state <> 'ERASED'`,
    set: {
      state: part`'ERASED'`,
      ...emptied(
        'email',
        'email_fold',
        'display_name',
        'sign_in_name',
        'external_id',
        'password_hash',
        'password_changed_at',
      ),
      ...emptied(
        'start_password_until',
        'terms_version',
        'terms_agreed_at',
        'joined_at',
        'disabled_at',
        'state_before',
      ),
      worded: part`' '`,
      group_ids: part`'{}'`,
      ...touched,
    },
  },
]

/** The rest, in batches. */
export const inBatches: readonly Rule[] = [
  {
    part: 'WAYS_IN',
    table: 'sealed_value',
    isNeverHeld: true,
    rows: ({ table, tenantId, accountId }) => part`x.kind = 'mfa.totp' and x.owner_id in (
      select f.id from ${table('second_factor')} f where f.tenant_id = ${tenantId} and f.account_id = ${accountId})`,
  },
  {
    part: 'OWN',
    table: 'sealed_value',
    isNeverHeld: true,
    rows: ({ table, tenantId, accountId, isArchive }) =>
      isArchive
        ? part`false`
        : part`x.kind = 'idempotency.answer' and x.owner_id in (
            select i.id from ${table('idempotency_record')} i where i.tenant_id = ${tenantId} and i.account_id = ${accountId})`,
  },
  ...own('WAYS_IN', 'credential', 'session', 'step_up', 'second_factor', 'recovery_code', 'password_history'),
  ...own('WAYS_IN', 'password_reset', 'invitation', 'sign_in_challenge', 'sign_in_link', 'failed_attempt'),
  ...own('WAYS_IN', 'address_confirmation', 'connected_identity'),
  { part: 'WAYS_IN', table: 'sign_in_flow', rows: ({ accountId }) => part`x.proved_account_id = ${accountId}` },
  {
    part: 'BELONGING',
    table: 'item_member',
    rows: ofAccount,
    item: part`x.item_id`,
    also: ({ table, tenantId, accountId }) => [
      part`update ${table('item')} i set assignee_id = nullif(i.assignee_id, ${accountId}::uuid), updated_at = now(), version = i.version + 1
        where i.tenant_id = ${tenantId} and i.id = any (array(select item_id from taken))`,
    ],
  },
  {
    // An assignee is a member; of before there were members, and in an archive, not each is.
    part: 'BELONGING',
    table: 'item',
    item: part`x.id`,
    rows: ({ accountId }) => part`x.assignee_id = ${accountId}`,
    set: { assignee_id: part`null`, ...touched },
  },
  {
    part: 'BELONGING',
    table: 'item_field_value',
    item: part`x.item_id`,
    rows: ({ table, tenantId, accountId, isArchive }) => part`x.value = to_jsonb(${accountId}::text) and x.field_id in (
        select f.id from ${table('custom_field')} f where f.tenant_id = ${tenantId} and f.kind = 'USER')
      ${
        isArchive
          ? part``
          : part`and ((x.item_id, x.field_id) in (
              select k.item_id, k.field_id from ${table('item_field_key')} k
              where k.tenant_id = ${tenantId} and k.key = ${accountId} and k.field_id in (
                select f.id from ${table('custom_field')} f where f.tenant_id = ${tenantId} and f.kind = 'USER'))
            or x.item_id in (select i.id from ${table('item')} i where i.tenant_id = ${tenantId} and i.without_keys))`
      }`,
    also: ({ table, tenantId }) => [
      part`delete from ${table('item_field_key')} k where k.tenant_id = ${tenantId} and k.item_id = any (array(select item_id from taken))
        and (k.item_id, k.field_id) in (select item_id, field_id from taken)`,
    ],
  },
  { part: 'BELONGING', table: 'comment_reaction', rows: ofAccount },
  { part: 'BELONGING', table: 'comment_mention', rows: ofAccount },
  { part: 'BELONGING', table: 'assignment_turn', rows: ofAccount, isNeverHeld: true },
  ...own('OWN', 'notification'),
  { part: 'OWN', table: 'idempotency_record', rows: ofAccount, isNeverHeld: true },
  {
    part: 'OWN',
    table: 'item_view',
    container: part`x.container_id`,
    rows: ({ accountId }) => part`x.created_by = ${accountId} and x.visibility = 'PRIVATE'`,
  },
  {
    part: 'TEXTS',
    table: 'item_view',
    asked: isNotKept,
    container: part`x.container_id`,
    rows: ({ accountId }) => part`x.created_by = ${accountId} and x.name <> ${struck}`,
    set: { name: part`${struck}`, ...touched },
  },
  {
    part: 'TEXTS',
    table: 'comment',
    asked: redacts,
    isWalked: true,
    item: part`x.item_id`,
    rows: ({ accountId }) => part`x.created_by = ${accountId} and x.body not in ('', ${struck})`,
    set: { body: part`${struck}`, version: touched.version },
    also: (place) => [reindexed(place, 'COMMENT')],
  },
  {
    part: 'TEXTS',
    table: 'comment',
    asked: removes,
    isWalked: true,
    item: part`x.item_id`,
    rows: ({ accountId }) => part`x.created_by = ${accountId} and (x.deleted_at is null or x.body <> '')`,
    set: {
      body: part`''`,
      media_ids: part`'[]'`,
      deleted_at: part`coalesce(u.deleted_at, now())`,
      version: touched.version,
    },
    also: (place) => [reindexed(place, 'COMMENT')],
  },
  {
    // Others work in an item: it keeps its place without words, whatever was chosen.
    part: 'TEXTS',
    table: 'item',
    asked: isNotKept,
    isWalked: true,
    item: part`x.id`,
    rows: (place) => part`${byMaker(place)} and (x.title <> ${struck} or x.description is not null)`,
    set: { title: part`${struck}`, description: part`null`, ...touched },
    also: (place) => [reindexed(place, 'ITEM'), retitled(place)],
  },
  {
    part: 'TEXTS',
    table: 'template',
    asked: isNotKept,
    isWalked: true,
    rows: byMaker,
    container: part`x.container_id`,
  },
  {
    part: 'FILES',
    table: 'media_reference',
    asked: losesFiles,
    isOfArchives: true,
    rows: ({ table, tenantId, accountId }) => part`x.media_id in (
      select m.id from ${table('media')} m where m.tenant_id = ${tenantId} and m.created_by = ${accountId})`,
  },
  { part: 'FILES', table: 'media', asked: losesFiles, isOfArchives: true, rows: byMaker },
  {
    part: 'OWN',
    table: 'privacy_package',
    isNeverHeld: true,
    rows: ({ table, tenantId, accountId }) => part`x.state <> 'GONE' and x.request_id in (
      select r.id from ${table('privacy_request')} r where r.tenant_id = ${tenantId} and r.account_id = ${accountId})`,
    set: { state: part`'GONE'`, ready_at: part`coalesce(u.ready_at, now())`, claimed_until: part`null` },
    also: ({ table, tenantId }) => [
      part`update ${table('media_removal')} m set due_at = now() from taken where m.tenant_id = ${tenantId} and m.media_id = taken.file_id`,
    ],
  },
  {
    // The proof stays: kind, state, moments.
    part: 'ACCOUNT',
    table: 'privacy_request',
    rows: ({ accountId }) => part`x.account_id = ${accountId}
      and coalesce(x.details, x.subject_name, x.subject_contact, x.identity_how, x.extended_text) is not null`,
    set: emptied('details', 'subject_name', 'subject_contact', 'identity_how', 'extended_text'),
  },
]

/** The words by which they were found are made anew. */
const reindexed = ({ table, tenantId }: Place, subject: 'ITEM' | 'COMMENT'): Part => part`
  insert into ${table('search_pending')} (tenant_id, id, subject, subject_id)
  select ${tenantId}::uuid, new_id(), ${subject}::text, taken.id from taken`

/** The typed key of a title (areas/items/filter/keys.ts). */
const retitled = ({ table, tenantId }: Place): Part => part`
  update ${table('item_field_key')} k set key = ${struck}, whole = null
  where k.tenant_id = ${tenantId} and k.item_id = any (array(select id from taken)) and k.field_id = '00000000-0000-0000-0000-000000000001'`
