/** Hubs and collections. Spec: Index, Containers; decisions 3. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { moment, pageOf, paging, type Role, text, uuid, version } from '../vocabulary.ts'
import { ContainerPolicies, EffectivePolicies, PoliciesSet } from './policies.ts'

const kind = z.enum(['HUB', 'COLLECTION'])
const name = text(1, 120)
const description = text(0, 10_000)

export const Container = z
  .object({
    id: uuid,
    kind,
    parent_id: uuid.nullable().describe('the hub that holds a collection; null for a hub'),
    name: z.string(),
    description: z.string().nullable(),
    position: z.int().describe('0..n-1 among the siblings that the caller sees'),
    is_private: z.boolean().describe('seen by its members and by the OWNERs of the workspace alone'),
    policies: ContainerPolicies.describe('its own'),
    effective_policies: EffectivePolicies.describe('its own, else those of its hub, else those of the product'),
    archived_at: moment.nullable().describe('its own; a collection of an archived hub is read only as well'),
    deleted_at: moment.nullable(),
    created_at: moment,
    updated_at: moment,
    version,
  })
  .meta({ id: 'Container' })
export type Container = z.output<typeof Container>

const ContainerCreate = z
  .strictObject({
    kind,
    parent_id: uuid.nullish().describe('required for a collection, none for a hub'),
    name,
    description: description.nullish(),
    is_private: z.boolean().default(false),
    before_container_id: uuid.nullish().describe('the sibling it is placed to the left of; none: at the end'),
  })
  .meta({ id: 'ContainerCreate' })

const ContainerUpdate = z
  .strictObject({ name: name.optional(), description: description.nullable().optional() })
  .meta({ id: 'ContainerUpdate' })

const ContainerMove = z
  .strictObject({
    parent_id: uuid,
    before_container_id: uuid.nullish().describe('of the new hub; none: at the end'),
  })
  .meta({ id: 'ContainerMove' })

const ContainerReorder = z
  .strictObject({ before_container_id: uuid.nullish().describe('none: at the end') })
  .meta({ id: 'ContainerReorder' })

const ContainerPrivacy = z.strictObject({ is_private: z.boolean() }).meta({ id: 'ContainerPrivacy' })

const params = z.strictObject({ containerId: uuid })
const recovery = { refused: "content is the workspace's own; `:export` is the operator's way" } as const
/** The role is asked for in the container itself; what is not visible is `not_found`. */
const reading = { caller: 'workspace', scope: 'workspace:read', role: 'VIEWER', within: 'container' } as const
const writing = (role: Role) => ({ caller: 'workspace', scope: 'workspace:write', role, within: 'container' }) as const
const spec = 'Index, Containers; decisions 3'
const one = { status: 200, answer: Container } as const

export const containerOperations = defineOperations('containers', {
  listContainers: {
    method: 'GET',
    path: '/containers',
    summary: 'The hubs and collections that the caller sees, oldest first',
    spec,
    query: z.strictObject({
      kind: kind.optional(),
      parent_id: uuid.optional(),
      state: z.enum(['ACTIVE', 'ARCHIVED', 'DELETED']).optional().describe('absent: all that are not deleted'),
      ...paging(200, 50),
    }),
    success: { status: 200, answer: pageOf(Container) },
    needs: reading,
    refuses: ['cursor.invalid'],
    recovery,
    assumed: ['paged like every list that grows; `state` DELETED lists what `:restore` may bring back'],
  },
  createContainer: {
    method: 'POST',
    path: '/containers',
    summary: 'Create a hub, or a collection in a hub',
    spec,
    body: ContainerCreate,
    success: { status: 201, answer: Container, location: (made: { id: string }) => `/containers/${made.id}` },
    needs: writing('MEMBER'),
    refuses: ['container.archived', 'auth.role_required', 'order.exhausted'],
    idempotent: true,
    recovery,
    assumed: [
      'names are 1..120 and need not be unique, descriptions 0..10000',
      'a hub takes MEMBER on the workspace, a collection MEMBER in its hub; a private hub ADMIN where the installation switched `private_hubs` off',
      'whoever creates one without being its ADMIN anyway, or a private one, becomes its OWNER',
    ],
  },
  getContainer: {
    method: 'GET',
    path: '/containers/{containerId}',
    summary: 'One hub or collection',
    spec,
    params,
    success: one,
    needs: reading,
    recovery,
  },
  updateContainer: {
    method: 'PATCH',
    path: '/containers/{containerId}',
    summary: 'Change the name or the description',
    spec,
    params,
    body: ContainerUpdate,
    patch: 'merge',
    success: one,
    needs: writing('MEMBER'),
    refuses: ['container.archived'],
    ifMatch: true,
    recovery,
    assumed: ['privacy, place and state have operations of their own, as their entries in the trail have'],
  },
  setContainerPrivacy: {
    method: 'PUT',
    path: '/containers/{containerId}/privacy',
    summary: 'Hide a container from all but its members and the OWNERs, or open it',
    spec,
    params,
    body: ContainerPrivacy,
    success: one,
    needs: writing('ADMIN'),
    refuses: ['container.archived', 'auth.role_required'],
    ifMatch: true,
    recovery,
    assumed: [
      'whoever hides a container that he is no member of becomes its OWNER',
      'hiding a hub is bound to `private_hubs` as making a private one is',
    ],
  },
  setContainerPolicies: {
    method: 'PUT',
    path: '/containers/{containerId}/policies',
    summary: 'Set what a container decides for all that is in it',
    spec: 'items 1, N25',
    params,
    body: PoliciesSet,
    success: one,
    needs: writing('ADMIN'),
    refuses: ['container.archived'],
    ifMatch: true,
    recovery,
    assumed: [
      'set whole: what is left out inherits',
      'a member that nothing obeys yet is not taken: calendar_feeds',
      '`comment_role` is COMMENTER or higher, since the gate asks COMMENTER of every comment',
      'with `complete_children` what is below an item never holds it up',
      'a group that the workspace does not have is 422; one that is gone later assigns nobody',
      '`delete_role` is MEMBER or higher, since the gate asks MEMBER of every DELETE',
      '`policies` and `effective_policies` are in every answer and event of a container; the latter may change while `version` stays',
    ],
  },
  deleteContainer: {
    method: 'DELETE',
    path: '/containers/{containerId}',
    summary: 'Delete a container; a hub takes its collections along, and :restore brings all of it back',
    spec,
    params,
    success: { status: 204 },
    needs: writing('ADMIN'),
    ifMatch: true,
    recovery,
    assumed: ['a soft delete: nothing in it is written, and everything in it answers 404'],
  },
  moveContainer: {
    method: 'POST',
    path: '/containers/{containerId}:move',
    summary: 'Move a collection to another hub',
    spec,
    params,
    body: ContainerMove,
    success: one,
    needs: writing('ADMIN'),
    refuses: ['container.archived', 'order.exhausted'],
    ifMatch: true,
    recovery,
    assumed: ['ADMIN in the collection, because it changes who sees it, and MEMBER in the hub it goes to'],
  },
  reorderContainer: {
    method: 'POST',
    path: '/containers/{containerId}:reorder',
    summary: 'Move a container to the left of a sibling, or to the end',
    spec,
    params,
    body: ContainerReorder,
    success: one,
    needs: writing('MEMBER'),
    refuses: ['container.archived', 'order.exhausted'],
    ifMatch: true,
    recovery,
  },
  archiveContainer: {
    method: 'POST',
    path: '/containers/{containerId}:archive',
    summary: 'Make a container and all that it holds read only',
    spec,
    params,
    success: one,
    needs: writing('ADMIN'),
    ifMatch: true,
    recovery,
    assumed: ['archiving twice changes nothing'],
  },
  unarchiveContainer: {
    method: 'POST',
    path: '/containers/{containerId}:unarchive',
    summary: 'Let a container be written again',
    spec,
    params,
    success: one,
    needs: writing('ADMIN'),
    ifMatch: true,
    recovery,
    assumed: ['a collection of an archived hub stays read only until the hub is unarchived'],
  },
  restoreContainer: {
    method: 'POST',
    path: '/containers/{containerId}:restore',
    summary: 'Bring a deleted container back to where it was',
    spec,
    params,
    success: one,
    needs: writing('ADMIN'),
    refuses: ['container.parent_deleted'],
    ifMatch: true,
    recovery,
    assumed: ['restoring what is not deleted changes nothing'],
  },
})
