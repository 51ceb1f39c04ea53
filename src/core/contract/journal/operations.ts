/** The installation's own record, newest first. Spec: Admin, rule 4; decisions 4, JournalEntry. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { moment, pageOf, paging, recordedActor, slug, uuid } from '../vocabulary.ts'

const JournalEntry = z
  .object({
    id: uuid,
    at: moment,
    action: z.string(),
    actor: recordedActor,
    tenant: z.object({ id: uuid, slug: z.string() }).nullable(),
    subject: z.object({ kind: z.string(), id: uuid }).nullable(),
    params: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'JournalEntry' })
export type JournalEntry = z.output<typeof JournalEntry>

/** At most ten actions; `*` stands for the rest of a name, behind its family. */
const actions = z
  .string()
  .max(400)
  .regex(/^[a-z_]{1,40}\.(?:[a-z_]{1,40}|[a-z_]{0,40}\*)(?:,[a-z_]{1,40}\.(?:[a-z_]{1,40}|[a-z_]{0,40}\*)){0,9}$/)

export const journalOperations = defineOperations('admin', {
  listJournal: {
    method: 'GET',
    path: '/admin/journal',
    summary: "The installation's record, newest first",
    spec: 'Admin: journal, rule 4',
    query: z.strictObject({
      from: moment.optional().describe('the moment itself counts'),
      until: moment.optional().describe('the moment itself does not count'),
      action: actions
        .optional()
        .describe('`tenant.suspended`, or all that begin alike: `tenant.*`; up to ten, separated by commas'),
      tenant_id: uuid.optional().describe('the workspace that it was done to'),
      slug: slug.optional().describe('the same by its slug, also of a workspace that was purged'),
      actor_id: uuid.optional().describe('the account that did it'),
      actor_kind: recordedActor.shape.kind.optional().describe('RECOVERY: the operator at the database'),
      ...paging(200, 50),
    }),
    success: { status: 200, answer: pageOf(JournalEntry) },
    needs: { caller: 'operator' },
    refuses: ['cursor.invalid'],
    recovery: 'allowed',
    assumed: [
      'the filters; entries are in the order of their moments, and of their ids within one moment',
      'the slug is the one that the workspace had when it was done',
    ],
  },
})
