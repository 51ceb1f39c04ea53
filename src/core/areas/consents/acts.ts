/**
 * Acts about consents: each is one more row, which says what was shown; the last row of an account and kind counts.
 *
 *    NONE ──give──▶ GIVEN ──a text that renews──▶ LAPSED
 *      │              │ ▲                            │
 *      └──withdraw──▶ WITHDRAWN ◀────────────────────┘
 *
 * The account is locked while it acts, so that its rows are in order. A withdrawal is in the ledger: no rewind takes it back.
 * Spec: Keeping, 1, The ledger; 2, N7–N9; docs/decisions/0473.
 */

import type { Answer, Received } from '../../contract/operation.ts'
import { type Consent, type consentOperations as ops, productKinds } from '../../contract/privacy/consents.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { together } from '../../kernel/transaction/together.ts'
import { isObjectable, isProductKind, readTexts, shownIn, type TextRow } from './texts.ts'

type Act = 'GIVEN' | 'WITHDRAWN'

/** The last act of an account about a kind. */
interface ActRow {
  readonly kind: string
  readonly n: number
  readonly act: Act
  readonly version: number
  readonly given_version: number | null
  readonly at: string
}

const readActs = ({ tx }: Pick<Ctx, 'tx'>, tenantId: string, accountId: string) => tx<ActRow[]>`
  select distinct on (c.kind) c.kind, c.n, c.act, c.version, c.at, (
    select g.version from consent g where g.tenant_id = ${tenantId} and g.account_id = ${accountId} and g.kind = c.kind
      and g.act = 'GIVEN' order by g.n desc limit 1) as given_version
  from consent c where c.tenant_id = ${tenantId} and c.account_id = ${accountId} and c.act <> 'SEEN'
  order by c.kind, c.n desc`

const readOwnLocale = ({ tx }: Pick<Ctx, 'tx'>, tenantId: string, accountId: string) => tx<{ locale: string | null }[]>`
  select locale from account_preference where tenant_id = ${tenantId} and account_id = ${accountId}`

const readLocale = ({ tx }: Pick<Ctx, 'tx'>, tenantId: string) => tx<{ locale: string }[]>`
  select default_locale as locale from tenant where id = ${tenantId}`

interface Book {
  readonly texts: ReadonlyMap<string, TextRow>
  readonly acts: ReadonlyMap<string, ActRow>
  readonly locales: readonly (string | null)[]
}

async function readBook(ctx: Ctx, tenantId: string, accountId: string): Promise<Book> {
  const [texts, acts, [own], [general]] = await together(
    readTexts(ctx, tenantId),
    readActs(ctx, tenantId, accountId),
    readOwnLocale(ctx, tenantId, accountId),
    readLocale(ctx, tenantId),
  )
  return {
    texts: new Map(texts.map((row) => [row.kind, row])),
    acts: new Map(acts.map((row) => [row.kind, row])),
    locales: [own?.locale ?? null, general?.locale ?? null],
  }
}

/** A kind as an account sees it. */
function entryOf({ texts, acts, locales }: Book, kind: string): Consent {
  const [text, act] = [texts.get(kind), acts.get(kind)]
  return {
    ...{ kind, basis: isObjectable(kind) ? 'OBJECTION' : 'CONSENT', version: text?.version ?? 0 },
    ...shownIn(text?.texts, locales),
    state: stateOf(kind, act, text?.renewed ?? 0),
    ...{ given_version: act?.given_version ?? null, at: act?.at ?? null },
  }
}

function stateOf(kind: string, act: ActRow | undefined, renewed: number): Consent['state'] {
  if (!act) return 'NONE'
  return act.act === 'GIVEN' && act.version < renewed && !isObjectable(kind) ? 'LAPSED' : act.act
}

export async function listConsents(ctx: Ctx): Promise<Answer<typeof ops.listConsents>> {
  const { tenantId, accountId } = ctx.account
  const book = await readBook(ctx, tenantId, accountId)
  const own = [...book.texts.keys()].filter((kind) => !isProductKind(kind)).sort()
  return { data: [...productKinds, ...own].map((kind) => entryOf(book, kind)) }
}

/** Refuses privacy.person_only, request.invalid. */
export async function withdrawConsent(
  ctx: Ctx,
  { body: { kind } }: Received<typeof ops.withdrawConsent>,
): Promise<Answer<typeof ops.withdrawConsent>> {
  const { tenantId, accountId } = ctx.account
  const book = await lockBook(ctx, kind)
  if (book.acts.get(kind)?.act !== 'WITHDRAWN') await append(ctx, { tenantId, accountId, kind, act: 'WITHDRAWN', book })
  return entryOf(await readBook(ctx, tenantId, accountId), kind)
}

/** Refuses privacy.person_only, request.invalid, privacy.text_changed. */
export async function giveConsent(
  ctx: Ctx,
  { body: { kind, version } }: Received<typeof ops.giveConsent>,
): Promise<Answer<typeof ops.giveConsent>> {
  const { tenantId, accountId } = ctx.account
  const book = await lockBook(ctx, kind)
  const current = book.texts.get(kind)?.version ?? 0
  if (version !== current) refuse('privacy.text_changed', { version: current })
  if (current === 0 && !isObjectable(kind)) refuseMember('/version', 'value.minimum', { minimum: 1 })
  const last = book.acts.get(kind)
  if (last?.act !== 'GIVEN' || last.version !== version)
    await append(ctx, { tenantId, accountId, kind, act: 'GIVEN', book })
  return entryOf(await readBook(ctx, tenantId, accountId), kind)
}

/** What the caller's person has said, locked. Refuses privacy.person_only, request.invalid at the kind. */
async function lockBook(ctx: Ctx, kind: string): Promise<Book> {
  const { tenantId, accountId } = ctx.account
  if (!(await lockPerson(ctx, tenantId, accountId))) refuse('privacy.person_only')
  const book = await readBook(ctx, tenantId, accountId)
  if (!isProductKind(kind) && !book.texts.has(kind)) refuseMember('/kind', 'reference.unknown')
  return book
}

/** Locks the account, and answers whether it is a person's. */
export async function lockPerson({ tx }: Ctx, tenantId: string, accountId: string): Promise<boolean> {
  const [row] = await tx<{ kind: string }[]>`
    select kind from account where tenant_id = ${tenantId} and id = ${accountId} for no key update`
  return row?.kind === 'PERSON'
}

interface NewAct {
  readonly tenantId: string
  readonly accountId: string
  readonly kind: string
  readonly act: Act
  readonly book: Book
}

/** One more row, its entry, its event and its line of the ledger. The account is locked. */
async function append(ctx: Ctx, { tenantId, accountId, kind, act, book }: NewAct): Promise<void> {
  const { tx, actor } = ctx
  const version = book.texts.get(kind)?.version ?? 0
  const { language, sha256 } = shownIn(book.texts.get(kind)?.texts, book.locales)
  const isOwn = 'accountId' in actor && actor.accountId === accountId
  const n = (book.acts.get(kind)?.n ?? 0) + 1
  void tx`
    insert into consent (tenant_id, account_id, kind, n, act, version, language, sha256, credential_id)
    values (${tenantId}, ${accountId}, ${kind}, ${n}, ${act}, ${version}, ${language}, ${sha256}, ${isOwn ? actor.bearerId : null})`
  const evidence = { subject: { kind: 'account', id: accountId }, params: { kind, version } }
  await ctx.audit(act === 'GIVEN' ? 'consent.given' : 'consent.withdrawn', evidence)
  await ctx.emit({ name: 'work.consent.changed', data: { account_id: accountId, kind, state: act, version } })
  const line = { tenant_id: tenantId, account_id: accountId, kind }
  ctx.recordObligation({ act: act === 'GIVEN' ? 'consent.given' : 'consent.withdrawn', ...line })
}

/**
 * An objection to what a request names, for its subject: the same as a withdrawal by the person. Again changes nothing. The
 * workspace's role is in force. Refuses not_found.
 */
export const recordObjection = (
  ctx: Ctx,
  {
    tenantId,
    accountId,
    processing,
  }: { readonly tenantId: string; readonly accountId: string; readonly processing: 'AI' | 'STATISTICS' },
): Promise<void> => withdrawFor(ctx, { tenantId, accountId, kind: processing === 'AI' ? 'ai_content' : 'statistics' })

/** Withdraws for somebody: by a request, or again after a rewind. Refuses not_found. */
export async function withdrawFor(
  ctx: Ctx,
  { tenantId, accountId, kind }: { readonly tenantId: string; readonly accountId: string; readonly kind: string },
): Promise<void> {
  const [row] = await ctx.tx`
    select 1 from account where tenant_id = ${tenantId} and id = ${accountId} and state <> 'ERASED' for no key update`
  if (!row) refuse('not_found')
  const book = await readBook(ctx, tenantId, accountId)
  if (book.acts.get(kind)?.act === 'WITHDRAWN') return
  await append(ctx, { tenantId, accountId, kind, act: 'WITHDRAWN', book })
}
