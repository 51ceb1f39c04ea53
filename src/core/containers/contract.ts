/** Hubs and collections. Spec: Index, Containers; decisions 3. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { moment, pageOf, paging, uuid, version } from '../schema.ts'

const Container = z
  .object({
    id: uuid,
    kind: z.enum(['HUB', 'COLLECTION']),
    parent_id: uuid.nullable(),
    name: z.string(),
    description: z.string().nullable(),
    position: z.int(),
    is_private: z.boolean(),
    archived_at: moment.nullable(),
    deleted_at: moment.nullable(),
    created_at: moment,
    updated_at: moment,
    version,
  })
  .meta({ id: 'Container' })
export type Container = z.output<typeof Container>

export const containerOperations = defineOperations('containers', {
  listContainers: {
    method: 'GET',
    path: '/containers',
    summary: "The workspace's hubs and collections, oldest first",
    spec: 'Index, Containers; decisions 3',
    query: z.strictObject(paging(200, 50)),
    success: { status: 200, answer: pageOf(Container) },
    needs: { caller: 'workspace', scope: 'workspace:read', role: 'VIEWER' },
    refuses: ['cursor.invalid'],
    recovery: { refused: "content is the workspace's own; `:export` is the operator's way" },
    assumed: ['paged like every list that grows'],
  },
})
