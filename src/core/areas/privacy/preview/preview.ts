/**
 * What an erasure would do, and the hash that binds what was shown: the minute in which it was shown, and a digest of what a
 * person would decide by. Granting compares both, so nobody grants what nobody has seen. Spec: Keeping, 1 (Plans) and 2, N5.
 */
import type { Received } from '../../../contract/operation.ts'
import type { ErasurePreview, erasurePreviewOperations as ops } from '../../../contract/privacy/preview.ts'
import { Choices, type ErasedPart, fileChoices, parts, textChoices } from '../../../contract/privacy/requests.ts'
import { refuse } from '../../../contract/problem.ts'
import { hashOfPlan } from '../../../kernel/request/plan.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { RunAsRule } from '../../../kernel/transaction/installation.ts'
import { isAccountHeldNow } from '../erasing/place.ts'
import { readRecipients } from '../recipients.ts'
import { askForSearch } from './search.ts'

const goodMinutes = 15

interface Facts {
  readonly account_id: string | null
  readonly kind: string
  readonly state: string
  readonly choices: unknown
  readonly executes_at: string
  readonly minute: number
  readonly search_state: 'SEARCHING' | 'DONE' | null
  readonly counts: Partial<Record<ErasedPart, number>> | null
  readonly held: readonly ErasedPart[] | null
  readonly found: number | null
}

/** Before the preview, in a transaction of its own: the texts are read anew where that was long ago. */
export const renewSearch = ({ requestId }: Received<typeof ops.getErasurePreview>, write: RunAsRule): Promise<void> =>
  write(async (ctx) => {
    const { tenantId } = ctx.account
    const [row] = await ctx.tx`
      select 1 from privacy_request
      where tenant_id = ${tenantId} and id = ${requestId} and kind = 'ERASURE' and state in ('RECEIVED', 'GRANTED', 'PARTLY_DONE')`
    if (row) await askForSearch(ctx, tenantId, requestId)
  })

/** Refuses not_found, privacy.closed. */
export async function getErasurePreview(
  ctx: Ctx,
  { requestId }: Received<typeof ops.getErasurePreview>,
): Promise<ErasurePreview> {
  const { preview, minute } = await readPreview(ctx, requestId)
  return { ...preview, hash: hashAt(preview, minute) }
}

/** Refuses plan.stale where the hash is of another preview, or of one that was shown too long ago. */
export async function demandShown(ctx: Ctx, requestId: string, hash: string): Promise<void> {
  const { preview, minute } = await readPreview(ctx, requestId)
  const shownAt = Number.parseInt(hash.split('.')[0] ?? '', 36)
  const isGood = minute - shownAt >= 0 && minute - shownAt <= goodMinutes && hash === hashAt(preview, shownAt)
  if (!isGood) refuse('plan.stale', { hash: hashAt(preview, minute) })
}

type Shown = Omit<ErasurePreview, 'hash'>

/** The moment when it begins moves with each look, and is left out. */
const hashAt = ({ executes_at: _, ...facts }: Shown, minute: number) =>
  `${minute.toString(36)}.${hashOfPlan(facts).slice(0, 48)}`

async function readPreview(ctx: Ctx, requestId: string): Promise<{ readonly preview: Shown; readonly minute: number }> {
  const facts = await readFacts(ctx, requestId)
  const { tenantId } = ctx.account
  const isWhollyHeld =
    facts.account_id !== null && (await isAccountHeldNow(ctx.tx, { tenantId, accountId: facts.account_id }))
  const preview = {
    parts: parts.map((part) => partOf(part, facts, isWhollyHeld)),
    mentions: {
      state: facts.search_state ?? 'SEARCHING',
      found: facts.found ?? 0,
      hits: await readHits(ctx, requestId),
    },
    backups: await readBackups(ctx),
    recipients: await readRecipients(ctx, tenantId, facts.account_id),
    executes_at: facts.executes_at,
  }
  return { preview, minute: facts.minute }
}

/** Refuses not_found, privacy.closed. */
async function readFacts({ tx, account: { tenantId }, config }: Ctx, requestId: string): Promise<Facts> {
  const [row] = await tx<Facts[]>`
    select r.account_id, r.kind, r.state, r.choices,
      coalesce(r.executes_at, now() + make_interval(hours => ${config.privacy.erasureWaitHours})) as executes_at,
      floor(date_part('epoch', now()) / 60)::int as minute, s.state as search_state, s.counts, s.held, s.found
    from privacy_request r left join privacy_search s on s.tenant_id = r.tenant_id and s.request_id = r.id
    where r.tenant_id = ${tenantId} and r.id = ${requestId}`
  if (!row) refuse('not_found')
  const isOver = row.state === 'REFUSED' || row.state === 'WITHDRAWN' || row.state === 'DONE'
  if (row.kind !== 'ERASURE' || isOver) refuse('privacy.closed', { state: row.state })
  return row
}

function partOf(
  part: ErasedPart,
  { choices, counts, held, search_state }: Facts,
  isWhollyHeld: boolean,
): ErasurePreview['parts'][number] {
  const chosen = Choices.parse(choices ?? {})
  const offered = { TEXTS: textChoices, FILES: fileChoices, MENTIONS: ['KEEP', 'REDACT'] as const }
  const choice = { TEXTS: chosen.texts, FILES: chosen.files, MENTIONS: 'KEEP' }
  const isChosen = part === 'TEXTS' || part === 'FILES' || part === 'MENTIONS'
  return {
    part,
    rows: search_state === 'DONE' ? (counts?.[part] ?? 0) : null,
    choice: isChosen ? choice[part] : null,
    choices: isChosen ? [...offered[part]] : [],
    held: (isWhollyHeld && part !== 'EVENTS') || held?.includes(part) === true,
  }
}

const readHits = async ({ tx, account: { tenantId } }: Ctx, requestId: string) => [
  ...(await tx<ErasurePreview['mentions']['hits']>`
    select kind, id, member from privacy_mention where tenant_id = ${tenantId} and request_id = ${requestId} order by n`),
]

const mostBackups = 1_000

const readBackups = async ({ tx, account: { tenantId } }: Ctx) => [
  ...(await tx<ErasurePreview['backups']>`
    select id as backup_id, target_id, snapshot_at, kept_until from backup
    where tenant_id = ${tenantId} and state = 'COMPLETE' order by id desc limit ${mostBackups}`),
]
