/** What an account has to know whatever it does. Spec: people 3, N15. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { severities } from '../operators/notice.ts'
import { moment } from '../vocabulary.ts'

export const noticeKinds = [
  'SECOND_FACTOR_DEMANDED',
  'INSTALLATION_RECOVERED',
  'INSTALLATION_NOTICE',
  'PROVIDER_ENDING',
  'PASSWORD_OPENING',
  'ADDRESS_UNCONFIRMED',
  'TERMS_DUE',
] as const

const EmergencyNotice = z
  .object({
    kind: z.enum(noticeKinds),
    severity: z.enum(severities),
    since: moment.nullable().describe('since when it is so; null: it is not known'),
    until: moment.nullable().describe('until when it is so; null: until somebody ends it'),
    params: z.record(z.string(), z.unknown()).describe('what belongs to the kind'),
    ended_by: z
      .string()
      .nullable()
      .describe('the operation with which the account itself ends it; null: there is none'),
  })
  .meta({ id: 'EmergencyNotice' })
export type EmergencyNotice = z.output<typeof EmergencyNotice>

export const emergencyNoticeOperations = defineOperations('identity', {
  listEmergencyNotices: {
    method: 'GET',
    path: '/accounts/me/emergency-notices',
    summary: 'What the caller has to know whatever it does, worst first',
    spec: 'people 3, N15',
    success: { status: 200, answer: z.object({ data: z.array(EmergencyNotice) }) },
    needs: { caller: 'account', withoutSecondFactor: true },
    recovery: { refused: 'there is no account at the database' },
    assumed: [
      'computed at each call from what is in force, and never switched off; of one severity in the order of the kinds',
      'PASSWORD_OPENING: `requester` and `reason` for administrators; PROVIDER_ENDING: for them, and for people with no other way in, to whom it is CRITICAL',
      'INSTALLATION_RECOVERED is there for 14 days: what was done between `recovered_to` and `admitted_at` is gone',
    ],
  },
})
