/** What the erasure of a person would do, before anything is decided. Spec: Keeping, 2, N5. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { moment, uuid } from '../vocabulary.ts'
import { mentionKinds, parts } from './requests.ts'

const Part = z
  .object({
    part: z.enum(parts).describe('a part of what is the person’s'),
    rows: z.int().min(0).nullable().describe('how many rows it has; null while they are counted'),
    choice: z.string().nullable().describe('what is chosen; null: there is nothing to choose'),
    choices: z.array(z.string()).describe('what may be chosen'),
    held: z.boolean().describe('whether law keeps some of it for now; which hold, nobody is told'),
  })
  .meta({ id: 'ErasurePart' })

export const ErasurePreview = z
  .object({
    parts: z.array(Part).describe('everything that is the person’s'),
    mentions: z
      .object({
        state: z.enum(['SEARCHING', 'DONE']).describe('SEARCHING: a job reads the texts; ask again'),
        found: z.int().min(0).describe('texts of others that have the name or an address'),
        hits: z
          .array(
            z.object({
              kind: z.enum(mentionKinds).describe('what the text is of'),
              id: uuid,
              member: z.string().describe('where in it'),
            }),
          )
          .max(1000)
          .describe('the first thousand; those that are named in `choices` are struck out'),
      })
      .meta({ id: 'ErasureMentions' })
      .describe('the person in texts of others'),
    backups: z
      .array(
        z.object({
          backup_id: uuid.describe('the backup'),
          target_id: uuid.describe('where it lies'),
          snapshot_at: moment.nullable().describe('of when it is'),
          kept_until: moment.nullable().describe('null: as long as the rules of its schedule say'),
        }),
      )
      .describe('archives that are not rewritten: what they have of the person is erased again whenever one is read'),
    recipients: z
      .array(
        z.object({
          kind: z.enum(['WEBHOOK', 'AI_MODEL', 'PROVIDER']).describe('how it got them'),
          host: z.string().describe('who may have copies, and is told of the erasure where it listens'),
        }),
      )
      .describe('hosts that may have data of the person'),
    executes_at: moment.describe('when it begins; if it is not granted yet, when it would'),
    hash: z.string().describe('changes when anything that a person would decide by does; good for 15 minutes'),
  })
  .meta({ id: 'ErasurePreview' })
export type ErasurePreview = z.output<typeof ErasurePreview>

export const erasurePreviewOperations = defineOperations('privacy', {
  getErasurePreview: {
    method: 'GET',
    path: '/privacy/requests/{requestId}/erasure-preview',
    summary: 'What the erasure of a person would do, and what is to be chosen',
    spec: 'Index, Privacy; Keeping, 2, N5',
    params: z.strictObject({ requestId: uuid }),
    success: { status: 200, answer: ErasurePreview },
    needs: { caller: 'workspace', scope: 'workspace:admin', role: 'ADMIN' },
    refuses: ['privacy.closed'],
    recovery: { refused: "what people ask of their workspace is the workspace's own affair" },
    assumed: [
      'of a request that is no ERASURE, or is over: privacy.closed',
      'the texts are read anew where the last search is more than an hour old',
      'texts that the person wrote are no hits: what becomes of them `texts` says',
    ],
  },
})
