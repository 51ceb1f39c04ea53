/** Buckets and labels of a container. Spec: Structure; decisions 3. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { count, listOf, moment, text, uuid, version } from '../vocabulary.ts'

/** Bounds that the specification leaves open, so that nothing is without one. */
export const mostOfAKind = 1_000
const name = text(1, 120).describe('unique in the container, compared without regard to case or accents')
const description = text(0, 10_000).nullable()
const wipLimit = count(0, 2_147_483_647).nullable().describe('0 is stored as null: no limit')
const colorToken = text(0, 200).nullable()
const labelColorToken = text(1, 200)
const beforeBucketId = uuid
  .nullish()
  .describe('the bucket of the container that it is placed to the left of; none: at the right-hand end')

export const Bucket = z
  .object({
    id: uuid,
    container_id: uuid,
    name: z.string(),
    position: z.int().describe('0..n-1 from the left'),
    wip_limit: z.int().nullable(),
    over_limit: z.boolean().describe('more items are in it than wip_limit says; nothing is refused for it'),
    is_done_bucket: z.boolean(),
    color_token: z.string().nullable(),
    item_count: z.int(),
    created_at: moment,
    updated_at: moment,
    version,
  })
  .meta({ id: 'Bucket' })
export type Bucket = z.output<typeof Bucket>

const BucketCreate = z
  .strictObject({
    name,
    before_bucket_id: beforeBucketId,
    wip_limit: wipLimit.optional(),
    is_done_bucket: z.boolean().default(false),
    color_token: colorToken.optional(),
  })
  .meta({ id: 'BucketCreate' })

const BucketUpdate = z
  .strictObject({
    name: name.optional(),
    wip_limit: wipLimit.optional(),
    is_done_bucket: z.boolean().optional(),
    color_token: colorToken.optional(),
  })
  .meta({ id: 'BucketUpdate' })

const BucketReorder = z.strictObject({ before_bucket_id: beforeBucketId }).meta({ id: 'BucketReorder' })

const BucketDeletion = z
  .object({
    deleted_bucket_id: uuid,
    moved_item_count: z.int().describe('entries that were in it'),
    moved_to_bucket_id: uuid.nullable().describe('where they are now; null: in no bucket, for none was left'),
  })
  .meta({ id: 'BucketDeletion' })

export const Label = z
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

const LabelCreate = z
  .strictObject({ name, color_token: labelColorToken, description: description.optional() })
  .meta({ id: 'LabelCreate' })

const LabelUpdate = z
  .strictObject({
    name: name.optional(),
    color_token: labelColorToken.optional(),
    description: description.optional(),
  })
  .meta({ id: 'LabelUpdate' })

const ofContainer = z.strictObject({ containerId: uuid })
const ofBucket = z.strictObject({ containerId: uuid, bucketId: uuid })
const ofLabel = z.strictObject({ containerId: uuid, labelId: uuid })

/** The role is asked for in the container; what is not visible is `not_found`. */
const reading = {
  needs: { caller: 'workspace', scope: 'workspace:read', role: 'VIEWER', within: 'container' },
  recovery: { refused: "content is the workspace's own; `:export` is the operator's way" },
} as const
const writing = {
  needs: { caller: 'workspace', scope: 'workspace:write', role: 'MEMBER', within: 'container' },
  recovery: { refused: "content is the workspace's own; `:export` is the operator's way" },
} as const

export const bucketOperations = defineOperations('structure', {
  listBuckets: {
    method: 'GET',
    path: '/containers/{containerId}/buckets',
    summary: "The container's buckets, from the left",
    spec: 'Structure: buckets',
    params: ofContainer,
    success: { status: 200, answer: listOf(Bucket) },
    ...reading,
  },
  createBucket: {
    method: 'POST',
    path: '/containers/{containerId}/buckets',
    summary: 'Create a bucket',
    spec: 'Structure: buckets; Resources, BucketCreate',
    params: ofContainer,
    body: BucketCreate,
    success: {
      status: 201,
      answer: Bucket,
      location: (made: Bucket) => `/containers/${made.container_id}/buckets/${made.id}`,
    },
    ...writing,
    refuses: ['bucket.name_taken', 'structure.full', 'container.archived', 'auth.role_required', 'order.exhausted'],
    assumed: [
      `a container has at most ${mostOfAKind} buckets`,
      'wip_limit takes 0 here as it does in a change',
      'color_token 0..200; several buckets may be done buckets',
    ],
  },
  updateBucket: {
    method: 'PATCH',
    path: '/containers/{containerId}/buckets/{bucketId}',
    summary: "Change a bucket's name, limit, colour or whether it is done",
    spec: 'Structure: buckets, rule 1; Resources, BucketUpdate',
    params: ofBucket,
    body: BucketUpdate,
    patch: 'merge',
    success: { status: 200, answer: Bucket },
    ...writing,
    refuses: ['bucket.name_taken', 'container.archived', 'auth.role_required'],
    ifMatch: true,
  },
  deleteBucket: {
    method: 'DELETE',
    path: '/containers/{containerId}/buckets/{bucketId}',
    summary: 'Delete a bucket; its entries move to the leftmost one that is left',
    spec: 'Structure: buckets, rule 3; Resources, BucketDeletion',
    params: ofBucket,
    success: { status: 200, answer: BucketDeletion },
    ...writing,
    refuses: ['container.archived', 'auth.role_required'],
    ifMatch: true,
    assumed: [
      'entries come behind those of the bucket they move to, in the order they had',
      'entries of a large bucket move in portions, each of which is committed: a deletion that was cut off goes on when it is asked for again',
    ],
  },
  reorderBucket: {
    method: 'POST',
    path: '/containers/{containerId}/buckets/{bucketId}:reorder',
    summary: 'Move a bucket to the left of another one, or to the right-hand end',
    spec: 'Structure: buckets, rule 2',
    params: ofBucket,
    body: BucketReorder,
    success: { status: 200, answer: Bucket },
    ...writing,
    refuses: ['container.archived', 'auth.role_required', 'order.exhausted'],
    ifMatch: true,
    assumed: [
      'to where it stands already is no change',
      "the others' positions follow from it, and their versions stay",
    ],
  },
})

export const labelOperations = defineOperations('structure', {
  listLabels: {
    method: 'GET',
    path: '/containers/{containerId}/labels',
    summary: "The container's labels, ordered by name under the workspace's locale",
    spec: 'Structure: labels',
    params: ofContainer,
    success: { status: 200, answer: listOf(Label) },
    ...reading,
  },
  createLabel: {
    method: 'POST',
    path: '/containers/{containerId}/labels',
    summary: 'Create a label',
    spec: 'Structure: labels; Resources, LabelCreate',
    params: ofContainer,
    body: LabelCreate,
    success: {
      status: 201,
      answer: Label,
      location: (made: Label) => `/containers/${made.container_id}/labels/${made.id}`,
    },
    ...writing,
    refuses: ['label.name_taken', 'structure.full', 'container.archived', 'auth.role_required'],
    assumed: [`a container has at most ${mostOfAKind} labels`, 'color_token 1..200, description 0..10000'],
  },
  updateLabel: {
    method: 'PATCH',
    path: '/containers/{containerId}/labels/{labelId}',
    summary: "Change a label's name, colour or description",
    spec: 'Structure: labels; Resources, LabelUpdate',
    params: ofLabel,
    body: LabelUpdate,
    patch: 'merge',
    success: { status: 200, answer: Label },
    ...writing,
    refuses: ['label.name_taken', 'container.archived', 'auth.role_required'],
    ifMatch: true,
  },
  deleteLabel: {
    method: 'DELETE',
    path: '/containers/{containerId}/labels/{labelId}',
    summary: 'Take a label out of the vocabulary; entries are not rewritten, they stop showing it',
    spec: 'Structure: labels',
    params: ofLabel,
    success: { status: 204 },
    ...writing,
    refuses: ['container.archived', 'auth.role_required'],
    ifMatch: true,
  },
  restoreLabel: {
    method: 'POST',
    path: '/containers/{containerId}/labels/{labelId}:restore',
    summary: 'Put a deleted label back; the entries that carried it show it again',
    spec: 'Structure: labels ("which makes the deletion undoable"); ours in path and shape',
    params: ofLabel,
    success: { status: 200, answer: Label },
    ...writing,
    refuses: ['label.name_taken', 'structure.full', 'container.archived', 'auth.role_required'],
    ifMatch: true,
    assumed: ['the operation itself, named as that of containers', 'restoring what is not deleted changes nothing'],
  },
})
