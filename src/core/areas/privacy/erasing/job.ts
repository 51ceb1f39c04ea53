/**
 * Erasures, looked after once a minute: those that are due begin, those that have begun go on, and what a hold kept goes with its
 * release. Time counts once both clocks saw it past, twice. Spec: Keeping, 1 (Clocks) and 2.
 */
import { Choices } from '../../../contract/privacy/requests.ts'
import { Problem, refuse } from '../../../contract/problem.ts'
import { demandNotRestoring, isNotAdmitted } from '../../../kernel/transaction/admission.ts'
import type { Ctx } from '../../../kernel/transaction/context.ts'
import type { Installation } from '../../../kernel/transaction/installation.ts'
import type { Actor, SystemActor } from '../../../kernel/values/actor.ts'
import { failpoint } from '../../../kernel/values/failpoint.ts'
import { newId } from '../../../kernel/values/id.ts'
import { isKeptForClaims } from '../../access/restriction.ts'
import { namesOf } from '../../erasure/mentions.ts'
import { trustedTime } from '../../items/trusted-time.ts'
import { beginErasure } from './begin.ts'
import { releaseCopies, settleErasure } from './finish.ts'
import { listErasure } from './listing.ts'
import { Busy, step, sweepErasure } from './sweep.ts'
import type { Named } from './sweeping.ts'

const eraser: SystemActor = { kind: 'SYSTEM', job: 'erase' }
/** Erasures of one run; the next one goes on. */
const most = 200

/** Begins what is due, and goes on with what has begun. */
export async function pursueErasures(installation: Installation): Promise<void> {
  const failures: unknown[] = []
  const attempt = (work: Promise<void>) => work.catch((error: unknown) => void failures.push(error))
  // One that fails, as where no ledger takes it, keeps none of the others back.
  await attempt(beginDue(installation, attempt))
  for (const open of await findOpen(installation)) await attempt(pursueErasure(installation, eraser, open))
  if (failures.length > 0) throw failures[0]
}

async function beginDue(installation: Installation, attempt: (work: Promise<void>) => Promise<void>): Promise<void> {
  const trusted = await trustedTime(installation, eraser)
  if (!trusted) return
  for (const due of await findDue(installation, trusted)) await attempt(beginGranted(installation, due))
}

/** All that can be done for one erasure now. Another process may have it. */
async function pursueErasure(installation: Installation, actor: Actor, named: Open): Promise<void> {
  try {
    if (!named.is_ended) {
      if (!named.is_swept) await sweepErasure(installation, actor, named)
      for (let isMore = true; isMore; ) isMore = await step(installation, actor, named, releaseCopies)
      await step(installation, actor, named, settleErasure)
    }
  } catch (error) {
    if (!(error instanceof Busy || isNotAdmitted(error))) throw error
  }
  if (!named.is_listed) await listErasure(installation, actor, named)
}

interface Open extends Named {
  readonly is_swept: boolean
  readonly is_listed: boolean
  readonly is_ended: boolean
}

const findOpen = async (installation: Installation): Promise<readonly Open[]> => {
  const rows = await installation.transaction(
    eraser,
    { readOnly: true },
    ({ tx }) => tx.last<(Omit<Open, 'tenantId'> & { tenant_id: string })[]>`
      select tenant_id, id, swept_at is not null as is_swept, listed_at is not null as is_listed, ended_at is not null as is_ended
      from erasure where ended_at is null or listed_at is null order by began_at limit ${most}`,
  )
  return rows.map(({ tenant_id, ...row }) => ({ ...row, tenantId: tenant_id }))
}

interface Due {
  readonly tenant_id: string
  readonly id: string
}

const findDue = (installation: Installation, trusted: Date): Promise<readonly Due[]> =>
  installation.transaction(
    eraser,
    { readOnly: true },
    ({ tx }) => tx.last<Due[]>`
      select tenant_id, id from privacy_request
      where state = 'GRANTED' and executes_at <= ${trusted.toISOString()}::timestamptz order by executes_at limit ${most}`,
  )

/** Refusals wait: somebody has to become OWNER, or operator, before, or the restriction for claims has to end. */
async function beginGranted(installation: Installation, { tenant_id: tenantId, id }: Due): Promise<void> {
  failpoint('erasure.due')
  try {
    await installation.transaction(eraser, { tenantId }, (ctx) => beginOf(ctx, tenantId, id))
    failpoint('erasure.begun')
  } catch (error) {
    if (!(error instanceof Problem && waits.has(error.code))) throw error
  }
}

const waits: ReadonlySet<string> = new Set([
  'membership.last_owner',
  'admin.operator_last',
  'not_found',
  'privacy.restricted',
  'workspace.restoring',
])

interface Granted {
  readonly account_id: string | null
  readonly subject_name: string | null
  readonly subject_contact: string | null
  readonly choices: unknown
}

async function beginOf(ctx: Ctx, tenantId: string, requestId: string): Promise<void> {
  const { tx } = ctx
  await demandNotRestoring(tx, tenantId)
  const [row] = await tx<Granted[]>`
    select account_id, subject_name, subject_contact, choices from privacy_request
    where tenant_id = ${tenantId} and id = ${requestId} and state = 'GRANTED' and executes_at <= now() for update`
  if (!row) return
  const choices = Choices.parse(row.choices ?? {})
  if (row.account_id !== null) {
    if (await isKeptForClaims(ctx, tenantId, row.account_id)) refuse('privacy.restricted')
    const erasureId = await beginErasure(ctx, { tenantId, accountId: row.account_id, requestId, choices })
    await tx`update erasure set request_id = ${requestId} where tenant_id = ${tenantId} and id = ${erasureId}`
  } else
    await tx`
      insert into erasure (tenant_id, id, request_id, choices, names, listed_at)
      values (${tenantId}, ${newId()}, ${requestId}, ${tx.json(choices)}, ${tx.json(namesOf([row.subject_name, row.subject_contact]))}, now())`
  // The wait is over: it is not begun again, and cannot be withdrawn.
  await tx`
    update privacy_request set executes_at = null, subject_name = null, subject_contact = null
    where tenant_id = ${tenantId} and id = ${requestId}`
}

/** Erases again what a rewind of the database brought back, to the end. Refuses as the begin does. */
export async function eraseAgain(
  installation: Installation,
  actor: Actor,
  {
    tenantId,
    accountId,
    choices,
  }: { readonly tenantId: string; readonly accountId: string; readonly choices: Choices },
): Promise<void> {
  const id = await installation.transaction(actor, { tenantId }, async (ctx) => {
    const [request] = await ctx.tx<{ id: string }[]>`
      select id from privacy_request
      where tenant_id = ${tenantId} and account_id = ${accountId} and kind = 'ERASURE' and state in ('RECEIVED', 'GRANTED', 'PARTLY_DONE')`
    if (request)
      await ctx.tx`
        update privacy_request set state = 'GRANTED', decision = 'GRANTED', executes_at = null where tenant_id = ${tenantId} and id = ${request.id}`
    return beginErasure(ctx, { tenantId, accountId, requestId: request?.id ?? null, choices })
  })
  await pursueErasure(installation, actor, { tenantId, id, is_swept: false, is_listed: false, is_ended: false })
}
