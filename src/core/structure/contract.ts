/** Buckets and labels of a container. Spec: Structure; decisions 3. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { listOf, moment, uuid, version } from '../schema.ts'

const Bucket = z
  .object({
    id: uuid,
    container_id: uuid,
    name: z.string(),
    position: z.int(),
    wip_limit: z.int().nullable(),
    is_done_bucket: z.boolean(),
    color_token: z.string().nullable(),
    item_count: z.int(),
    created_at: moment,
    updated_at: moment,
    version,
  })
  .meta({ id: 'Bucket' })
export type Bucket = z.output<typeof Bucket>

const Label = z
  .object({
    id: uuid,
    container_id: uuid,
    name: z.string(),
    color_token: z.string(),
    description: z.string().nullable(),
    created_at: moment,
    updated_at: moment,
    version,
  })
  .meta({ id: 'Label' })
export type Label = z.output<typeof Label>

const reading = {
  needs: { caller: 'workspace', scope: 'workspace:read', role: 'VIEWER' },
  recovery: { refused: "content is the workspace's own; `:export` is the operator's way" },
} as const

export const bucketOperations = defineOperations('structure', {
  listBuckets: {
    method: 'GET',
    path: '/containers/{containerId}/buckets',
    summary: "The container's buckets, from the left",
    spec: 'Structure: buckets',
    params: z.strictObject({ containerId: uuid }),
    success: { status: 200, answer: listOf(Bucket) },
    ...reading,
  },
})

export const labelOperations = defineOperations('structure', {
  listLabels: {
    method: 'GET',
    path: '/containers/{containerId}/labels',
    summary: "The container's labels, ordered by name under the workspace's locale",
    spec: 'Structure: labels',
    params: z.strictObject({ containerId: uuid }),
    success: { status: 200, answer: listOf(Label) },
    ...reading,
  },
})
