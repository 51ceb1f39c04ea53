/**
 * Looks for a person in the texts of others, and counts what is the person's own.
 *
 *    asked ──SEARCHING──a worker claims it, reads the texts in portions──▶ DONE, with up to 1,000 hits
 *
 * A worker that is killed has done nothing: another one begins anew when its claim is over. Spec: Keeping, 2, N5.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { ErasedPart } from '../../../contract/privacy/requests.ts'
import type { Part } from '../../../kernel/database/statement.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import { firstId } from '../../../kernel/transaction/page.ts'
import { defineJob } from '../../../kernel/transaction/runnable-job.ts'
import type { SystemActor } from '../../../kernel/values/actor.ts'
import { type MentionKind, mayName, namedIn, namesOf, searched } from '../../erasure/mentions.ts'
import { atOnce, inBatches, part, type Rule, raw } from '../../erasure/rules.ts'
import { heldNow, placeOf } from '../erasing/place.ts'

const searcher: SystemActor = { kind: 'SYSTEM', job: 'search_mentions' }
const portion = 2_000
const mostHits = 1_000
const longestRestMs = 50

interface Open {
  readonly tenant_id: string
  readonly request_id: string
}

/** Asks for a search, in the transaction of the request or before its preview. Of one that is under way nothing changes. */
export async function askForSearch(ctx: Ctx, tenantId: string, requestId: string): Promise<void> {
  const { tx } = ctx
  const made = await tx`
    insert into privacy_search (tenant_id, request_id) values (${tenantId}, ${requestId})
    on conflict (tenant_id, request_id) do nothing`
  const renewed = await tx`
    update privacy_search set state = 'SEARCHING', claimed_until = null
    where tenant_id = ${tenantId} and request_id = ${requestId} and state = 'DONE' and searched_at < now() - interval '1 hour'`
  if (made.count + renewed.count > 0) await ctx.enqueue(searchMentionsJob, {})
}

/** Begins at once; what a run leaves, the minute's look finds (jobs.ts). */
export const searchMentionsJob = defineJob({
  name: 'search_mentions',
  payload: z.object({}).nullish(),
  retryLimit: 0,
  takesLong: true,
  longestSeconds: 3600,
  run: (installation) => searchMentions(installation),
})

/** Does the searches that were asked for. */
export async function searchMentions(installation: Installation): Promise<void> {
  const open = await installation.transaction(
    searcher,
    { readOnly: true },
    ({ tx }) => tx.last<Open[]>`
      select tenant_id, request_id from privacy_search
      where state = 'SEARCHING' and (claimed_until is null or claimed_until < now()) order by tenant_id, request_id limit 100`,
  )
  for (const { tenant_id, request_id } of open) await search(installation, tenant_id, request_id)
}

interface Subject {
  readonly accountId: string | null
  readonly names: readonly string[]
}

interface Hit {
  readonly kind: MentionKind
  readonly id: string
  readonly member: string
}

async function search(installation: Installation, tenantId: string, requestId: string): Promise<void> {
  const run = <T>(work: (ctx: Ctx) => Promise<T>) => installation.transaction(searcher, { tenantId }, work)
  const subject = await run((ctx) => claim(ctx, tenantId, requestId))
  if (!subject) return
  const hits: Hit[] = []
  let found = 0
  for (const kind of Object.keys(searched) as MentionKind[])
    await inPortions(async (after) => {
      const { last, here } = await run((ctx) => lookFor(ctx, tenantId, subject, kind, after))
      found += here.length
      hits.push(...here.slice(0, Math.max(0, mostHits - hits.length)))
      return last
    })
  const { counts, held } = await countParts(run, tenantId, subject)
  if (found > 0) counts.MENTIONS = found
  await run(async ({ tx }) => {
    const done = await tx`
      update privacy_search
      set state = 'DONE', claimed_until = null, counts = ${tx.json(counts)}, held = ${tx.json(held)}, found = ${found}, searched_at = now()
      where tenant_id = ${tenantId} and request_id = ${requestId} and state = 'SEARCHING'`
    if (done.count === 0) return
    await tx`delete from privacy_mention where tenant_id = ${tenantId} and request_id = ${requestId}`
    const rows = hits.map((hit, n) => ({ tenant_id: tenantId, request_id: requestId, n, ...hit }))
    if (rows.length > 0)
      await tx`insert into privacy_mention ${tx.rows(rows, 'tenant_id', 'request_id', 'n', 'kind', 'id', 'member')}`
  })
}

async function claim({ tx }: Ctx, tenantId: string, requestId: string): Promise<Subject | undefined> {
  const claimed = await tx`
    update privacy_search set claimed_until = now() + interval '10 minutes'
    where tenant_id = ${tenantId} and request_id = ${requestId} and state = 'SEARCHING'
      and (claimed_until is null or claimed_until < now())`
  if (claimed.count === 0) return undefined
  const [row] = await tx<{ account_id: string | null; names: (string | null)[] }[]>`
    select r.account_id, to_jsonb(array[r.subject_name, r.subject_contact, a.display_name, a.email, a.sign_in_name] || array(
      select d.email from account_address d
      where d.tenant_id = ${tenantId} and d.account_id = r.account_id and d.removed_at is null)) as names
    from privacy_request r left join account a on a.tenant_id = r.tenant_id and a.id = r.account_id
    where r.tenant_id = ${tenantId} and r.id = ${requestId}`
  return row && { accountId: row.account_id, names: namesOf(row.names) }
}

/** Goes on behind the last id, with a rest between. */
async function inPortions(look: (after: string) => Promise<string | null>): Promise<void> {
  for (let after: string | null = firstId; after !== null; ) {
    const began = performance.now()
    after = await look(after)
    await pause(Math.min(performance.now() - began, longestRestMs))
  }
}

async function lookFor(
  { tx }: Ctx,
  tenantId: string,
  { accountId, names }: Subject,
  kind: MentionKind,
  after: string,
): Promise<{ readonly last: string | null; readonly here: readonly Hit[] }> {
  const { table, columns, maker } = searched[kind]
  if (names.length === 0) return { last: null, here: [] }
  const ofOthers = maker && accountId !== null ? part`x.created_by <> ${accountId}` : part`true`
  const seen = part`select x.id from ${raw(table)} x where x.tenant_id = ${tenantId} and x.id > ${after}::uuid order by x.id limit ${portion}`
  const [[end], rows] = await Promise.all([
    tx<{ last: string | null }[]>`select (select id from (${seen}) s order by id desc limit 1) as last`,
    tx<{ id: string }[]>`
      select x.id, ${list(columns)} from (${seen}) s join ${raw(table)} x on x.tenant_id = ${tenantId} and x.id = s.id
      where ${ofOthers} and (${mayName(columns, names)}) order by x.id`,
  ])
  const here = rows.flatMap((row) =>
    namedIn(row as never, columns, names).map((member): Hit => ({ kind, id: row.id, member })),
  )
  return { last: end?.last ?? null, here }
}

const list = (columns: readonly string[]): Part => raw(columns.map((column) => `x.${column}`).join(', '))

interface Counted {
  readonly counts: Partial<Record<ErasedPart, number>>
  readonly held: readonly ErasedPart[]
}

/** Rows by part, as the rules find them, and which parts a hold covers. */
async function countParts(
  run: <T>(work: (ctx: Ctx) => Promise<T>) => Promise<T>,
  tenantId: string,
  { accountId }: Subject,
): Promise<Counted> {
  const counts: Partial<Record<ErasedPart, number>> = {}
  const held = new Set<ErasedPart>()
  if (accountId === null) return { counts, held: [] }
  const count = async (rule: Rule, after: string | undefined) => {
    const row = await run((ctx) => countRows(ctx, tenantId, accountId, rule, after))
    counts[rule.part] = (counts[rule.part] ?? 0) + row.rows
    if (row.is_held) held.add(rule.part)
    return row.last
  }
  for (const rule of countedRules) {
    if (rule.isWalked) await inPortions((after) => count(rule, after))
    else await count(rule, undefined)
  }
  return { counts, held: [...held].sort() }
}

/** Each text once, however it is chosen; files by themselves. */
const countedRules: readonly Rule[] = [
  ...[...atOnce, ...inBatches].filter(
    ({ asked, part: of, table, isOfArchives }) =>
      table !== 'media_reference' &&
      table !== 'privacy_request' &&
      (of !== 'TEXTS' || asked?.({ texts: 'REDACT', files: 'KEEP', mentions: [] }) !== false) &&
      (!isOfArchives || table === 'media'),
  ),
]

interface CountRow {
  readonly rows: number
  readonly is_held: boolean
  readonly last: string | null
}

async function countRows(
  { tx }: Ctx,
  tenantId: string,
  accountId: string,
  rule: Rule,
  after: string | undefined,
): Promise<CountRow> {
  const place = placeOf({ tenantId, accountId })
  const table = raw(rule.table)
  const isHeld = rule.isNeverHeld ? part`false` : ((await heldNow(tx, { tenantId, accountId }))(rule) ?? part`false`)
  const seen = part`select x.id from ${table} x where x.tenant_id = ${tenantId} and x.id > ${after ?? firstId}::uuid order by x.id limit ${portion}`
  const from =
    after === undefined
      ? part`${table} x`
      : part`(${seen}) s join ${table} x on x.tenant_id = ${tenantId} and x.id = s.id`
  const last = after === undefined ? part`null::uuid` : part`(select id from (${seen}) e order by id desc limit 1)`
  const [row] = await tx<CountRow[]>`
    select count(*)::int as rows, coalesce(bool_or(${isHeld}), false) as is_held, ${last} as last
    from ${from} where x.tenant_id = ${tenantId} and ${rule.rows(place)}`
  return row ?? { rows: 0, is_held: false, last: null }
}
