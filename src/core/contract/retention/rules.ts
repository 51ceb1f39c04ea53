/** Rules of retention: how long a workspace keeps what it has. Spec: Keeping, 4 (K9–K12). */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { count, listOf, moment, pageOf, paging, planHash, text, uuid, version } from '../vocabulary.ts'

export const ruleKinds = ['DONE_ITEMS', 'TRASH', 'TRAIL', 'EVENTS', 'RECORDS', 'ACCOUNTS', 'REQUESTS'] as const
export type RuleKind = (typeof ruleKinds)[number]

/** No rule keeps anything for longer, unless for ever. */
const longestRuleDays = 36_500

const kind = z.enum(ruleKinds).describe('what the rule is about')
const days = z.int().min(0).max(longestRuleDays)

export const RetentionRule = z
  .object({
    kind,
    days: days.describe('how long it is kept, in days; 0: for ever'),
    source: z.enum(['PRODUCT', 'WORKSPACE']).describe('who decided the days'),
    takes_effect_at: moment
      .nullable()
      .describe('when `next_days` takes the place of `days`; null: nothing is to change'),
    next_days: days.nullable().describe('the shorter time that was decided; null: nothing is to change'),
    last_run_at: moment.nullable().describe('when the rule was last carried out, or was stopped; null: never'),
    version,
  })
  .meta({ id: 'RetentionRule' })
export type RetentionRule = z.output<typeof RetentionRule>

const RetentionPreview = z
  .object({
    would_go: z.int().min(0).describe('rows that are older than the days now'),
    oldest: moment.nullable().describe('of the oldest of them; null: there is none'),
    per_container: z
      .array(z.object({ container_id: uuid, count: z.int().min(1).describe('rows in it that are older') }))
      .describe('where they are, the largest numbers first, at most 100; empty for what is in no container'),
    hash: z.string().describe('what shortening the rule takes as `plan_hash`, for 15 minutes'),
  })
  .meta({ id: 'RetentionPreview' })
export type RetentionPreview = z.output<typeof RetentionPreview>

const RetentionRun = z
  .object({
    id: uuid,
    kind,
    at: moment.describe('when it began'),
    removed: z.int().min(0).describe('rows that went; of DONE_ITEMS: items that were archived'),
    held: z.int().min(0).describe('rows that a legal hold kept'),
    stopped: z
      .boolean()
      .describe('whether the brake stopped it: it would have taken more than 1,000 rows and a fifth of the kind'),
  })
  .meta({ id: 'RetentionRun' })
export type RetentionRun = z.output<typeof RetentionRun>

const params = z.strictObject({ kind: text(1, 40).describe('as it is listed') })
const needs = { caller: 'workspace', scope: 'workspace:admin', role: 'ADMIN' } as const
const recovery = {
  refused: "how long it keeps what is its own is the workspace's affair; a legal hold stops all rules",
}

export const ruleOperations = defineOperations('retention', {
  listRetentionRules: {
    method: 'GET',
    path: '/retention/rules',
    summary: 'How long the workspace keeps what it has: one rule for each kind',
    spec: 'Keeping, 4, K9',
    success: { status: 200, answer: listOf(RetentionRule) },
    needs,
    recovery,
  },
  setRetentionRule: {
    method: 'PUT',
    path: '/retention/rules/{kind}',
    summary: 'Decide how long the workspace keeps something: longer at once, shorter after a notice',
    spec: 'Keeping, 4, K10; decisions 7, Plans',
    params,
    body: z
      .strictObject({
        days: days.describe('how long it is to be kept, in days; 0: for ever, where the kind allows that'),
        plan_hash: planHash.describe(
          'the `hash` of the preview of these days; shortening needs it, and so does letting go on what the brake stopped',
        ),
      })
      .meta({ id: 'RetentionRuleSet' }),
    success: { status: 200, answer: RetentionRule },
    needs: {
      ...needs,
      stepUp: {
        says: 'with plan_hash, which shortening needs',
        when: ({ plan_hash }: { plan_hash?: string | undefined }) => plan_hash !== undefined,
      },
    },
    refuses: ['auth.role_required', 'plan.stale'],
    ifMatch: true,
    recovery,
    assumed: [
      'DONE_ITEMS takes an ADMIN, every other kind an OWNER',
      'days: DONE_ITEMS and TRASH 0..3650; TRAIL 0, or SVC_TRAIL_MIN_DAYS and more; EVENTS 1..SVC_OUTBOX_DAYS; RECORDS 7..365; ACCOUNTS 0, or 30..3650; REQUESTS 365..3650',
      'a shorter time takes effect SVC_RETENTION_NOTICE_DAYS later, and the administrators are mailed at once; deciding the days that hold, or longer ones, takes it back',
      'entries of the trail go once they are sealed: until then that rule takes nothing',
      'ACCOUNTS erases who has been disabled for so long, with KEEP, unless a hold, a restriction or an open request keeps the account; REQUESTS takes out of a closed request whose it was and what was said',
      'a rule that the brake stopped goes on once an OWNER decides the same days with the hash of a new preview',
    ],
  },
  previewRetentionRule: {
    method: 'GET',
    path: '/retention/rules/{kind}/preview',
    summary: 'What a rule would take now, with these days',
    spec: 'Keeping, 4, K11',
    params,
    query: z.strictObject({
      days: count(0, longestRuleDays).optional().describe('absent: the days that hold'),
    }),
    success: { status: 200, answer: RetentionPreview },
    needs,
    recovery,
    assumed: [
      'of DONE_ITEMS and TRASH, what is in containers that decide nothing themselves; a container in the trash counts with all that is in it',
      'of TRAIL also entries that are not sealed yet: they go as soon as they are',
      'rows that a legal hold covers are counted: which these are, only a run tells, and as a number',
    ],
  },
  listRetentionRuns: {
    method: 'GET',
    path: '/retention/runs',
    summary: 'What the rules have taken, newest first',
    spec: 'Keeping, 4, K12',
    query: z.strictObject({ ...paging(200, 50) }),
    success: { status: 200, answer: pageOf(RetentionRun) },
    needs,
    refuses: ['cursor.invalid'],
    recovery,
    assumed: [
      'one a day and kind; of those that took nothing the last of each kind alone, and none that is older than 400 days',
      'the trash is swept, and what is done is archived, every ten minutes: their rows tell the sum of the day',
    ],
  },
})
