/**
 * The texts of consents: versions that stay, of which the last one counts.
 *
 *    PUT ──other texts, or `renews`──▶ one more version ──renews──▶ what was given of those before has lapsed
 *
 * Spec: Keeping, 2, K3; docs/decisions/0473.
 */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Answer, Received } from '../../contract/operation.ts'
import {
  type ConsentText,
  type ConsentTexts,
  kindShape,
  mostLanguages,
  mostOwnKinds,
  noticeKind,
  type consentOperations as ops,
  productKinds,
} from '../../contract/privacy/consents.ts'
import { refuse, refuseMember } from '../../contract/problem.ts'
import { lockClasses } from '../../kernel/database/lock-classes.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'

export interface TextRow {
  readonly kind: string
  readonly version: number
  readonly texts: ConsentTexts
  readonly at: string
  /** The last version that renewed; 0: none has. */
  readonly renewed: number
}

export const isProductKind = (kind: string): boolean => (productKinds as readonly string[]).includes(kind)

/** People need not be asked for it, and may object. */
export const isObjectable = (kind: string): boolean => kind === 'ai_content'

/** The current text of each kind that has one. */
export const readTexts = ({ tx }: Pick<Ctx, 'tx'>, tenantId: string) => tx<TextRow[]>`
  select distinct on (t.kind) t.kind, t.version, t.texts, t.at, coalesce((
    select max(r.version) from consent_text r where r.tenant_id = ${tenantId} and r.kind = t.kind and r.renews), 0) as renewed
  from consent_text t where t.tenant_id = ${tenantId} and t.kind <> ${noticeKind}
  order by t.kind, t.version desc`

/** Refuses not_found, request.invalid, precondition.failed, structure.full. */
export async function setConsentText(
  ctx: Ctx,
  { kind, body: { texts, renews } }: Received<typeof ops.setConsentText>,
): Promise<Answer<typeof ops.setConsentText>> {
  const { tx } = ctx
  const { tenantId, accountId } = ctx.account
  if (kind === noticeKind || !kindShape.test(kind)) refuse('not_found')
  const languages = Object.keys(texts).length
  if (languages < 1) refuseMember('/texts', 'list.minimum', { minimum: 1 })
  if (languages > mostLanguages) refuseMember('/texts', 'list.maximum', { maximum: mostLanguages })
  void tx`select pg_advisory_xact_lock(${lockClasses.consents}, hashtext(${tenantId}))`
  const rows = await readTexts(ctx, tenantId)
  const held = rows.find((row) => row.kind === kind)
  ctx.unchanged(held?.version ?? 0)
  const own = rows.filter((row) => !isProductKind(row.kind))
  if (!held && !isProductKind(kind) && own.length >= mostOwnKinds) refuse('structure.full', { limit: mostOwnKinds })
  if (held && !renews && isDeepStrictEqual(held.texts, texts)) return answered(ctx, held)

  const version = (held?.version ?? 0) + 1
  await tx`
    insert into consent_text (tenant_id, kind, version, texts, renews, written_by)
    values (${tenantId}, ${kind}, ${version}, ${tx.json(texts)}, ${renews}, ${accountId})`
  await ctx.audit('consent_text.changed', {
    subject: { kind: 'tenant', id: tenantId },
    params: { kind, version, renews },
  })

  const renewed = renews ? version : (held?.renewed ?? 0)
  return answered(ctx, { kind, version, texts, at: await ctx.now(), renewed })
}

async function answered(ctx: Ctx, { kind, version, texts, at, renewed }: TextRow): Promise<ConsentText> {
  const [counted] = await ctx.tx<{ given: number; withdrawn: number }[]>`
    select count(*) filter (where last.act = 'GIVEN' and (${isObjectable(kind)} or last.version >= ${renewed}))::int as given,
           count(*) filter (where last.act = 'WITHDRAWN')::int as withdrawn
    from (
      select distinct on (account_id) account_id, act, version from consent
      where tenant_id = ${ctx.account.tenantId} and kind = ${kind} order by account_id, n desc) last`
  return { kind, version, texts, version_at: at, given: counted?.given ?? 0, withdrawn: counted?.withdrawn ?? 0 }
}

export interface Shown {
  readonly language: string | null
  readonly title: string | null
  readonly text: string | null
  readonly sha256: string | null
}

/** The text as somebody sees it: in the first of these languages that it has, else in the first one by name. */
export function shownIn(texts: ConsentTexts | undefined, locales: readonly (string | null)[]): Shown {
  const languages = Object.keys(texts ?? {}).sort()
  const wanted = locales.flatMap((locale) => (locale === null ? [] : [locale, new Intl.Locale(locale).language]))
  const language = wanted.find((one) => languages.includes(one)) ?? languages[0]
  const found = language === undefined ? undefined : texts?.[language]
  if (language === undefined || !found) return { language: null, title: null, text: null, sha256: null }
  return { language, ...found, sha256: createHash('sha256').update(`${found.title}\n\n${found.text}`).digest('hex') }
}
