/**
 * Mails that have not gone yet, or have failed for good, as operators see them: kinds, states and numbers; never an
 * address, a text or a token. The operations are ours. Spec: docs/decisions/0053, 0371.
 */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { count, moment, pageOf, paging, text, uuid } from '../vocabulary.ts'

/**
 *    WAITING ──▶ SENDING ──accepted──▶ gone
 *                 ▲   └──▶ RETRYING ──last attempt, or the mailbox refuses──▶ FAILED ──:resend──▶ RETRYING
 *                 └───due──┘
 */
export const mailStates = ['WAITING', 'SENDING', 'RETRYING', 'FAILED'] as const
export type MailState = (typeof mailStates)[number]

export const mailFailureReasons = [
  'RELAY_UNREACHABLE',
  'RELAY_REFUSED',
  'MAILBOX_REFUSED',
  'ADDRESS_UNUSABLE',
  'INTERRUPTED',
  'OTHER',
] as const

const MailFailure = z
  .object({
    reason: z
      .enum(mailFailureReasons)
      .describe('INTERRUPTED: the worker ended, or the attempt took too long; OTHER: see `error` and the log'),
    step: z.string().nullable().describe('the command of SMTP, e.g. `RCPT TO`; CONN: while connecting'),
    status: z.int().nullable().describe('what the relay answered'),
    error: z
      .string()
      .nullable()
      .describe('the code of an error of the network or of the file system, e.g. ECONNREFUSED'),
  })
  .meta({ id: 'MailFailure' })

export const Mail = z
  .object({
    id: uuid,
    kind: z.string().describe('which mail it is, e.g. `invitation`; docs/generated/mails.md lists them'),
    tenant: z
      .object({ id: uuid, slug: z.string() })
      .nullable()
      .describe('the workspace of the reader; null: there is no such workspace, so the mail goes to nobody'),
    account_id: uuid
      .nullable()
      .describe("to whom; null: it is not divided yet among the workspace's owners and administrators"),
    state: z.enum(mailStates),
    attempts: count(0, Number.MAX_SAFE_INTEGER).describe('that have begun'),
    queued_at: moment,
    next_attempt_at: moment.nullable().describe('of a mail that is WAITING or RETRYING'),
    failed_at: moment.nullable().describe('of a mail that has FAILED; it is kept for seven days from then'),
    failure: MailFailure.nullable().describe('how the last attempt failed'),
  })
  .meta({ id: 'Mail' })
export type Mail = z.output<typeof Mail>

export const mailOperations = defineOperations('admin', {
  listMails: {
    method: 'GET',
    path: '/admin/mails',
    summary: 'Mails that wait, are tried again or have failed for good, newest first',
    spec: 'ours',
    query: z.strictObject({
      state: z.enum(mailStates).optional(),
      kind: text(1, 60).optional().describe('exactly, e.g. `invitation`'),
      tenant_id: uuid.optional(),
      ...paging(200, 50),
    }),
    success: { status: 200, answer: pageOf(Mail) },
    needs: { caller: 'operator' },
    refuses: ['cursor.invalid'],
    recovery: 'allowed',
    assumed: [
      'a mail that the relay has taken is in no list: what became of it, the relay knows',
      'an unknown kind is refused, because an empty list would say that no such mail waits',
    ],
  },
  resendMail: {
    method: 'POST',
    path: '/admin/mails/{mailId}:resend',
    summary: 'Make one more attempt at a mail that has failed, or the next attempt now',
    spec: 'ours',
    params: z.strictObject({ mailId: uuid }),
    success: { status: 202, answer: Mail },
    needs: { caller: 'operator' },
    refuses: ['mail.under_way'],
    recovery: 'allowed',
    assumed: [
      'no step-up, as for the replay of a delivery: who gets the mail, and what it says, is decided anew when it goes',
      'a repeated call makes the same attempt due once more, so no key of idempotency is needed',
    ],
  },
})
