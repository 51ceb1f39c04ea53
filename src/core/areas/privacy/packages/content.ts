/**
 * What a package holds, file by file, and how others are left out of it.
 *
 *    ACCESS         all that names the person
 *    PORTABILITY    what the person provided
 *
 * Each id of another account is `person_1`, `person_2`, … of this package. Of the trail there are the person's own acts and those
 * on the person, these without what they say of others. Spec: Keeping, 2, Packages.
 */
import type { Part } from '../../../kernel/database/statement.ts'
import type { Tx } from '../../../kernel/database/transaction.ts'
import { part, raw } from '../../erasure/rules.ts'

export interface Section {
  /** The file, without its end. */
  readonly name: string
  readonly says: string
  readonly table: string
  /** Unique among the person's rows: they are read in its order. */
  readonly key: string
  readonly rows: (accountId: string) => Part
  /** What of the row `x` is written; absent: all of it. */
  readonly body?: (accountId: string) => Part
  readonly isProvided: boolean
}

const ofAccount = (accountId: string) => part`x.account_id = ${accountId}`
const byMaker = (accountId: string) => part`x.created_by = ${accountId}`

const all: readonly Section[] = [
  {
    ...{ name: 'account', says: 'the account', table: 'account', key: 'id', isProvided: true },
    rows: (accountId) => part`x.id = ${accountId}`,
    body: () => part`to_jsonb(x) - '{tenant_id,password_hash,worded,group_ids}'::text[]`,
  },
  { name: 'addresses', says: 'addresses', table: 'account_address', key: 'id', rows: ofAccount, isProvided: true },
  {
    ...{
      name: 'preferences',
      says: 'what was chosen',
      table: 'account_preference',
      key: 'account_id',
      rows: ofAccount,
    },
    isProvided: true,
  },
  {
    ...{ name: 'notification_preferences', says: 'how the person is told', table: 'notification_preference' },
    ...{ key: "(category || ' ' || channel)", rows: ofAccount, isProvided: true },
  },
  {
    ...{ name: 'identities', says: 'identities at providers', table: 'connected_identity', key: 'id', rows: ofAccount },
    isProvided: false,
  },
  {
    ...{ name: 'sessions', says: 'sessions, with the kind of device', table: 'session', key: 'id', rows: ofAccount },
    isProvided: false,
  },
  {
    ...{ name: 'tokens', says: 'tokens, without what they are', table: 'credential', key: 'id', rows: ofAccount },
    ...{ body: () => part`to_jsonb(x) - '{tenant_id,hash}'::text[]`, isProvided: false },
  },
  { name: 'roles', says: 'roles', table: 'membership', key: 'id', rows: ofAccount, isProvided: false },
  { name: 'groups', says: 'groups', table: 'group_member', key: 'group_id', rows: ofAccount, isProvided: false },
  { name: 'items', says: 'items that the person made', table: 'item', key: 'id', rows: byMaker, isProvided: true },
  {
    ...{ name: 'assignments', says: 'items in which the person takes part', table: 'item_member', key: 'item_id' },
    ...{ rows: ofAccount, isProvided: false },
  },
  { name: 'comments', says: 'comments of the person', table: 'comment', key: 'id', rows: byMaker, isProvided: true },
  {
    ...{ name: 'mentions', says: 'comments that name the person', table: 'comment_mention', key: 'comment_id' },
    ...{ rows: ofAccount, isProvided: false },
  },
  {
    ...{ name: 'reactions', says: 'reactions of the person', table: 'comment_reaction', rows: ofAccount },
    ...{ key: "(comment_id::text || ' ' || reaction)", isProvided: true },
  },
  {
    ...{ name: 'field_values', says: 'values of fields that name the person', table: 'item_field_value' },
    ...{ key: "(item_id::text || ' ' || field_id::text)", isProvided: false },
    rows: (accountId) => part`x.value = to_jsonb(${accountId}::text)`,
  },
  { name: 'media', says: 'files that the person uploaded', table: 'media', key: 'id', rows: byMaker, isProvided: true },
  { name: 'views', says: 'views that the person made', table: 'item_view', key: 'id', rows: byMaker, isProvided: true },
  {
    name: 'templates',
    says: 'templates that the person made',
    table: 'template',
    key: 'id',
    rows: byMaker,
    isProvided: true,
  },
  {
    ...{ name: 'notifications', says: 'what the person was told', table: 'notification', key: 'id', rows: ofAccount },
    isProvided: false,
  },
  {
    ...{ name: 'requests', says: 'requests about the data of the person', table: 'privacy_request', key: 'id' },
    ...{ rows: ofAccount, isProvided: true },
  },
  {
    ...{ name: 'consents', says: 'what the person agreed to, objected to and took back', table: 'consent' },
    ...{ key: "(kind || ' ' || lpad(n::text, 10, '0'))", rows: ofAccount, isProvided: true },
  },
  {
    ...{ name: 'restrictions', says: 'that the data of the person are only stored', table: 'account_restriction' },
    ...{ key: 'account_id', rows: ofAccount, isProvided: false },
  },
  {
    ...{ name: 'trail', says: 'acts of the person, and acts on the account', table: 'audit_entry', key: 'id' },
    isProvided: false,
    rows: (accountId) =>
      part`(x.actor_account_id = ${accountId} or x.subject_kind = 'account' and x.subject_id = ${accountId})`,
    body: (accountId) =>
      part`case when x.actor_account_id = ${accountId} then to_jsonb(x) - 'tenant_id' else to_jsonb(x) - '{tenant_id,params}'::text[] end`,
  },
]

export const sectionsOf = (kind: 'ACCESS' | 'PORTABILITY'): readonly Section[] =>
  kind === 'ACCESS' ? all : all.filter(({ isProvided }) => isProvided)

const portion = 500

/** The rows of a section, each as the text of its JSON, others left out. */
export async function* linesOf(
  tx: Tx,
  tenantId: string,
  accountId: string,
  section: Section,
  others: Others,
): AsyncGenerator<string> {
  const { table, key, rows, body } = section
  const of = raw(key.startsWith('(') ? key : `x.${key}::text`)
  for (let after: string | undefined = ''; after !== undefined; ) {
    const found: readonly { key: string; body: string }[] = await tx<{ key: string; body: string }[]>`
      select ${of} as key, (${body?.(accountId) ?? part`to_jsonb(x) - 'tenant_id'`})::text as body from ${raw(table)} x
      where x.tenant_id = ${tenantId} and ${rows(accountId)} and ${of} collate "C" > ${after} order by ${of} collate "C" limit ${portion}`
    const lines = found.map(({ body }) => body)
    await others.learn(tx, lines)
    for (const line of lines) yield others.hidden(line)
    after = found.length < portion ? undefined : found.at(-1)?.key
  }
}

const anyId = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g

/** Ids of other accounts, numbered in the order in which the package meets them. */
export class Others {
  private readonly tenantId: string
  private readonly accountId: string
  private readonly known = new Map<string, string | undefined>()
  private count = 0

  constructor(tenantId: string, accountId: string) {
    this.tenantId = tenantId
    this.accountId = accountId
  }

  /** Asks which ids are accounts. */
  async learn(tx: Tx, lines: readonly string[]): Promise<void> {
    const ids = [...new Set(lines.flatMap((line) => line.match(anyId) ?? []))]
    const unknown = ids.filter((id) => id !== this.accountId && !this.known.has(id))
    for (let at = 0; at < unknown.length; at += portion) {
      const some = unknown.slice(at, at + portion)
      const accounts = await tx<{ id: string }[]>`
        select id from account where tenant_id = ${this.tenantId} and id in ${tx.list(some)}`
      const isAccount = new Set(accounts.map(({ id }) => id))
      for (const id of some) this.known.set(id, isAccount.has(id) ? this.next() : undefined)
    }
  }

  hidden(line: string): string {
    return line.replace(anyId, (id) => this.known.get(id) ?? id)
  }

  private next(): string {
    this.count += 1
    return `person_${this.count}`
  }
}
