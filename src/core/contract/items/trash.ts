/** The trash: what was deleted, the way back, and the end. Spec: items 1, N10 and N11; 3. */
import { z } from 'zod'
import { JobRef } from '../jobs/operations.ts'
import { defineOperations } from '../operation.ts'
import { moment, pageOf, paging, uuid, version } from '../vocabulary.ts'
import { change, recovery, writing } from './operations.ts'

/** Of a container with more, the trash says this many. */
export const mostCountedInTrash = 10_000

const kind = z.enum(['ITEM', 'CONTAINER'])

export const TrashRow = z
  .object({
    kind,
    id: uuid,
    title: z.string().describe('the title of an item, the name of a container'),
    container_id: uuid.nullable().describe('the collection of an item, the hub of a collection; null for a hub'),
    item_count: z
      .int()
      .describe(`of an item 1, and those deleted with it; of a container all that it has, up to ${mostCountedInTrash}`),
    deleted_at: moment,
    deleted_by: uuid.nullable().describe('null: it was deleted before this was noted'),
    purge_after: moment.nullable().describe('from then on it is purged by itself; null: never'),
    version,
  })
  .meta({ id: 'TrashRow' })
export type TrashRow = z.output<typeof TrashRow>

const TrashEmpty = z
  .strictObject({
    container_id: uuid.nullish().describe('only what was deleted in this container'),
    deleted_before: moment.nullish().describe('only what was deleted before; absent: all that is deleted now'),
    confirm_count: z.int().min(0).max(2_147_483_647).describe('how many rows `GET /trash` lists of this'),
  })
  .meta({ id: 'TrashEmpty' })

const spec = 'items 1 and 3'

export const itemTrashOperations = defineOperations('items', {
  listTrash: {
    method: 'GET',
    path: '/trash',
    summary: 'What was deleted and can be restored, newest first',
    spec: 'items 3, N1',
    query: z.strictObject({ kind: kind.optional(), container_id: uuid.optional(), ...paging(200, 50) }),
    success: { status: 200, answer: pageOf(TrashRow) },
    needs: { ...writing, scope: 'workspace:read' },
    refuses: ['not_found', 'cursor.invalid'],
    recovery,
    assumed: [
      'of a tree that was deleted at once, the item that was deleted',
      'items of containers in which the caller is MEMBER, containers in which ADMIN; of others it lists nothing',
      'a deleted container is one row: what had been deleted in it before is listed again once it is restored, and so is what had been deleted in an archived one',
      'with `container_id`, items of that collection, or deleted collections of that hub',
    ],
  },
  emptyTrash: {
    method: 'POST',
    path: '/trash:empty',
    summary: 'Purge what is in the trash, in a job',
    spec: 'items 3, N2',
    body: TrashEmpty,
    success: { status: 202, answer: JobRef },
    needs: { ...writing, role: 'ADMIN' },
    refuses: ['trash.count_mismatch'],
    idempotent: true,
    recovery,
    assumed: [
      'it purges what is in containers in which the caller is ADMIN, and nothing that is deleted later',
      'each portion asks again whether the caller is ADMIN; what was restored meanwhile stays',
      'a `container_id` that the caller does not see is 422',
    ],
  },
  restoreItem: {
    ...change,
    method: 'POST',
    path: '/items/{itemId}:restore',
    summary: 'Bring an item back from the trash, to the end of its bucket',
    spec: `${spec}, N11`,
    refuses: ['container.deleted', 'container.archived', 'quota.exceeded'],
    assumed: [
      'what was deleted with it comes back with it, each to the end of its bucket',
      'it is the last child of its parent; without its parent, or room there, it is a root',
      'it comes back as it was: in no bucket, done, or archived',
      'restoring what is not deleted changes nothing',
    ],
  },
  purgeItem: {
    ...change,
    method: 'POST',
    path: '/items/{itemId}:purge',
    summary: 'Take an item from the trash for good',
    spec: `${spec}, N10`,
    success: { status: 204 },
    needs: { ...writing, role: 'ADMIN' },
    refuses: ['item.not_in_trash', 'container.archived'],
    assumed: [
      'what was deleted with it, below it, is purged as well',
      'from the answer on it is nowhere; its rows go by a job, and under a legal hold after its release (decision 0203)',
      'also in a container that is deleted itself',
    ],
  },
})
