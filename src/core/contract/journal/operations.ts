/** The installation's own record, newest first. Spec: Admin, rule 4; decisions 4, JournalEntry. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { moment, pageOf, paging, recordedActor, uuid } from '../vocabulary.ts'

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

export const journalOperations = defineOperations('admin', {
  listJournal: {
    method: 'GET',
    path: '/admin/journal',
    summary: "The installation's record, newest first",
    spec: 'Admin: journal, rule 4',
    query: z.strictObject(paging(200, 50)),
    success: { status: 200, answer: pageOf(JournalEntry) },
    needs: { caller: 'operator' },
    refuses: ['cursor.invalid'],
    recovery: 'allowed',
  },
})
