/** Events of hubs and collections. Spec: Index, Containers; decisions 3 and 5. */
import { z } from 'zod'
import { defineEvents, exampleId } from '../event.ts'
import { Container } from './operations.ts'
import { productPolicies } from './policies.ts'

const hub = { id: exampleId(4), kind: 'HUB' as const, parent_id: null, name: 'Home' }
const example: z.input<typeof Container> = {
  id: exampleId(5),
  kind: 'COLLECTION',
  parent_id: hub.id,
  name: 'Board',
  description: null,
  position: 0,
  is_private: false,
  policies: {
    trash_days: 90,
    archive_done_after_days: null,
    delete_role: null,
    comment_role: null,
    complete_needs_children: null,
    complete_children: null,
    auto_assign_group_id: null,
  },
  effective_policies: { ...productPolicies, trash_days: 90 },
  archived_at: null,
  deleted_at: null,
  created_at: '2026-11-20T17:15:00.000Z',
  updated_at: '2026-11-20T17:15:00.000Z',
  version: 2,
}
const ofContainer = { subject: '/containers/{id}', kind: 'container', container: 'id' } as const
const whole = { ...ofContainer, data: Container, example } as const
const searched = 'CONTAINER'

export const containerEvents = defineEvents({
  'work.container.created': {
    when: 'a hub or a collection was created; provisioning tells the first four members alone',
    ...ofContainer,
    searched,
    data: z.object({
      ...Container.partial().shape,
      id: Container.shape.id,
      kind: Container.shape.kind,
      parent_id: Container.shape.parent_id,
      name: Container.shape.name,
    }),
    example: hub,
  },
  'work.container.changed': { when: 'the name or the description of a container was changed', ...whole, searched },
  'work.container.privacy_changed': { when: 'a container was hidden or opened', ...whole },
  'work.container.policies_changed': {
    when: 'a policy of a container was changed; collections that inherit it tell nothing',
    ...whole,
  },
  'work.container.reordered': { when: 'a container was moved among its siblings', ...whole },
  'work.container.moved': { when: 'a collection was moved to another hub', ...whole },
  'work.container.archived': { when: 'a container was archived', ...whole },
  'work.container.unarchived': { when: 'a container was unarchived', ...whole },
  'work.container.deleted': { when: 'a container was deleted', ...whole, searched },
  'work.container.purged': {
    when: 'a container was taken from the trash for good, with all in it, by hand or by time',
    ...ofContainer,
    data: Container.pick({ id: true, kind: true, parent_id: true }),
    example: { id: example.id, kind: example.kind, parent_id: example.parent_id },
  },
  'work.container.restored': { when: 'a deleted container was brought back', ...whole, searched },
})
