/** What the operators have to say to everybody. Spec: people 3, A1 and A2. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { moment, text, uuid, version } from '../vocabulary.ts'

export const severities = ['INFO', 'WARNING', 'CRITICAL'] as const
export type Severity = (typeof severities)[number]
const severity = z.enum(severities)

const NoticePut = z
  .strictObject({
    message: text(1, 1000).nullable().describe('null: there is nothing to say any more'),
    severity: severity.default('INFO'),
    from: moment.nullish().describe('since when it is shown; absent or null: at once'),
    until: moment.nullish().describe('until when it is shown; absent or null: until it is cleared'),
  })
  .check((context) => {
    const { from, until } = context.value
    if (from && until && Date.parse(from) >= Date.parse(until))
      context.issues.push({
        code: 'custom',
        input: until,
        path: ['until'],
        params: { rule: 'value.minimum', minimum: from },
      })
  })
  .meta({ id: 'NoticePut' })

const InstallationNotice = z
  .object({
    message: z.string().nullable().describe('null: there is none'),
    severity,
    from: moment.nullable().describe('since when it is shown; null: since it was set'),
    until: moment.nullable().describe('until when it is shown; null: until it is cleared'),
    set_by: uuid.nullable().describe('null: nobody yet, or the operator at the database'),
    set_at: moment,
    version,
  })
  .meta({ id: 'InstallationNotice' })
export type InstallationNotice = z.output<typeof InstallationNotice>

export const noticeOperations = defineOperations('admin', {
  getNotice: {
    method: 'GET',
    path: '/admin/notice',
    summary: 'What the operators say to everybody',
    spec: 'people 3, A1',
    success: { status: 200, answer: InstallationNotice },
    needs: { caller: 'operator' },
    recovery: 'allowed',
  },
  putNotice: {
    method: 'PUT',
    path: '/admin/notice',
    summary: 'Say something to everybody, or nothing any more',
    spec: 'people 3, A2',
    body: NoticePut,
    success: { status: 200, answer: InstallationNotice },
    needs: { caller: 'operator' },
    ifMatch: true,
    recovery: 'allowed',
    assumed: ['the journal says that it was set or cleared, never the text; setting the same again changes nothing'],
  },
})
