/**
 * Mails that have not gone: jobs of the queue, listed for operators and sent again.
 *
 *    created (WAITING) ──▶ active (SENDING) ──▶ completed, or removed
 *                             ▲   └──▶ retry (RETRYING) ──last attempt──▶ failed (FAILED) ──:resend──▶ retry
 *                             └────────┘
 *
 * A job holds ids, the kind's name and a moment, so that is all there is to show; the address is read when the mail goes.
 * pg-boss removes a failed job after seven days. A mail that is sent again gets a new token, if it has one, and goes only
 * to who is still its reader.
 *
 * Spec: ours; docs/decisions/0050, 0053, 0371.
 */
import {
  type Mail,
  type MailState,
  mailFailureReasons,
  type mailOperations as ops,
} from '../../contract/mail/operations.ts'
import type { Answer, Received } from '../../contract/operation.ts'
import { refuse } from '../../contract/problem.ts'
import type { Part } from '../../kernel/database/statement.ts'
import type { Ctx } from '../../kernel/transaction/context.ts'
import { lastId, pageOfRows } from '../../kernel/transaction/page.ts'
import { type MailName, mailNames } from './kinds.ts'

type QueueState = 'created' | 'active' | 'retry' | 'failed'

const stateNames: Readonly<Record<QueueState, MailState>> = {
  created: 'WAITING',
  active: 'SENDING',
  retry: 'RETRYING',
  failed: 'FAILED',
}
const queueStates = Object.fromEntries(Object.entries(stateNames).map(([own, name]) => [name, own])) as Readonly<
  Record<MailState, QueueState>
>

interface JobRow {
  readonly id: string
  readonly kind: string | null
  readonly tenant_id: string
  readonly account_id: string | null
  readonly state: QueueState
  readonly attempts: number
  readonly queued_at: string
  /** To the microsecond, which an answer's moment is not. */
  readonly exact: string
  readonly next_attempt_at: string | null
  readonly failed_at: string | null
  readonly output: Readonly<Record<string, unknown>> | null
}

const columns = (ctx: Ctx): Part => ctx.tx.part`
  id, ${kindOfRow(ctx)} as kind, data ->> 'tenantId' as tenant_id, data ->> 'accountId' as account_id, state::text as state,
  case when started_on is null then 0 else retry_count + 1 end as attempts, created_on as queued_at, created_on::text as exact,
  case when state < 'active' then greatest(start_after, created_on) end as next_attempt_at,
  case when state = 'failed' then completed_on end as failed_at, output`

/** The words of mailJobs (kernel/database/queue-schema.ts), as its indexes have them. */
const isMail = ({ tx }: Ctx): Part =>
  tx.part`name in ('send_mail', 'send_invitation', 'send_password_reset', 'send_address_confirmation', 'send_notification',
  'tell_administrators', 'tell_ai_notice')`

/** The payload names the kind, or the job sends one kind alone; test/mail/queued-mails.test.ts holds the words to the kinds. */
const kindOfRow = ({ tx }: Ctx): Part => tx.part`
  case name when 'send_invitation' then 'invitation' when 'send_password_reset' then 'password_reset'
            when 'send_address_confirmation' then 'address_confirm'
            when 'tell_ai_notice' then 'ai_model_changed'
            when 'send_notification' then case data ->> 'form' when 'DAILY' then 'digest' else 'notification' end
            else data ->> 'name' end`

/** Newest first. Refuses request.malformed, cursor.invalid. */
export async function listMails(
  ctx: Ctx,
  { cursor, size, ...filters }: Received<typeof ops.listMails>,
): Promise<Answer<typeof ops.listMails>> {
  const { state, kind, tenant_id } = filters
  if (kind !== undefined && !mailNames.includes(kind as MailName))
    refuse('request.malformed', undefined, {
      errors: [{ parameter: 'kind', code: 'value.one_of', params: { values: mailNames } }],
    })
  const { tx } = ctx
  const list = { operation: 'listMails', filters }
  const [at = 'infinity', id = lastId] = cursor === undefined ? [] : ctx.cursor.read('listMails', filters, cursor)
  const jobs = await ctx.asQueueOnce(
    () => tx<JobRow[]>`
      select ${columns(ctx)} from pgboss.job
      where ${isMail(ctx)} and state in ('created', 'retry', 'active', 'failed')
        and (created_on, id) < (${at}::timestamptz, ${id}::uuid)
        ${state === undefined ? tx.part`` : tx.part`and state = ${queueStates[state]}::pgboss.job_state`}
        ${tenant_id === undefined ? tx.part`` : tx.part`and data ->> 'tenantId' = ${tenant_id}`}
        ${kind === undefined ? tx.part`` : tx.part`and ${kindOfRow(ctx)} = ${kind}`}
      order by created_on desc, id desc limit ${size + 1}`,
  )
  const exact = new Map(jobs.map((job) => [job.id, job.exact]))
  return pageOfRows(ctx, list, await mailsOf(ctx, jobs), size, (last) => [exact.get(last.id) ?? '', last.id])
}

/**
 * Makes a mail due now: its next attempt, or one more than it had. Refuses not_found (also of a mail that has gone),
 * mail.under_way.
 */
export async function resendMail(ctx: Ctx, { mailId }: Received<typeof ops.resendMail>): Promise<Mail> {
  const { tx } = ctx
  const [job] = await ctx.asQueueOnce(
    () => tx<{ state: string }[]>`
      select state::text as state from pgboss.job where ${isMail(ctx)} and id = ${mailId} for update`,
  )
  if (job === undefined || !(job.state in stateNames)) refuse('not_found')
  if (job.state === 'active') refuse('mail.under_way')

  // At least one attempt, and a day for it: maintenance removes what has waited for too long.
  const rows = await ctx.asQueueOnce(
    () => tx<JobRow[]>`
      update pgboss.job
      set state = case when state = 'failed' then 'retry' else state end, start_after = now(), completed_on = null,
          retry_limit = greatest(retry_limit, retry_count + 1), keep_until = greatest(keep_until, now() + interval '1 day')
      where ${isMail(ctx)} and id = ${mailId} returning ${columns(ctx)}`,
  )
  const [mail] = await mailsOf(ctx, rows)
  if (!mail) throw new Error('a locked job is there')
  await ctx.journal('mail.resent', mail.tenant, {
    subject: { kind: 'mail', id: mailId },
    params: { kind: mail.kind, account_id: mail.account_id, had_failed: job.state === 'failed' },
  })
  return mail
}

async function mailsOf(ctx: Ctx, jobs: readonly JobRow[]): Promise<Mail[]> {
  if (jobs.length === 0) return []
  const ids = [...new Set(jobs.map(({ tenant_id }) => tenant_id))]
  const tenants = await ctx.tx<
    { id: string; slug: string }[]
  >`select id, slug from tenant where id in ${ctx.tx.list(ids)}`
  const known = new Map(tenants.map((tenant) => [tenant.id, tenant]))
  return jobs.map(({ kind, tenant_id, state, output, ...job }) => ({
    ...job,
    kind: kind ?? '',
    tenant: known.get(tenant_id) ?? null,
    state: stateNames[state],
    failure: failureOf(output),
  }))
}

/** What the worker has kept of a failure (daemon/worker.ts), or pg-boss of a run that did not end. */
function failureOf(output: JobRow['output']): Mail['failure'] {
  if (output === null) return null
  const { reason, step, status, error, value } = output
  const isKnown = mailFailureReasons.some((one) => one === reason)
  return {
    reason: isKnown ? (reason as (typeof mailFailureReasons)[number]) : value === undefined ? 'OTHER' : 'INTERRUPTED',
    step: typeof step === 'string' ? step : null,
    status: typeof status === 'number' ? status : null,
    error: typeof error === 'string' ? error : null,
  }
}
