/** Work on boards: containers, what is in them, and what is done with items. */
import { bootInstallation } from '../../../src/core/app/boot.ts'
import { examineMedia } from '../../../src/core/areas/media/examination.ts'
import { indexed } from '../../search/indexing.ts'
import type { Scene } from './scene.ts'

export async function containers({ show, ask, hubId }: Scene): Promise<void> {
  const hub = await ask('createContainer', { body: { kind: 'HUB', name: 'Marketing' } })
  const made = await show('createContainer', {
    body: {
      kind: 'COLLECTION',
      parent_id: hubId,
      name: 'Website relaunch',
      description: 'Everything until the launch in June.',
    },
  })
  const at = { containerId: made.id }
  await show('getContainer', at)
  await show('updateContainer', { ...at, body: { name: 'Website', description: null } })
  await show('setContainerPrivacy', { ...at, body: { is_private: true } })
  await show('setContainerPolicies', { ...at, body: { trash_days: 14, delete_role: 'ADMIN' } })
  await show('reorderContainer', { ...at, body: { before_container_id: null } })
  await show('moveContainer', { ...at, body: { parent_id: hub.id } })
  await show('archiveContainer', at)
  await show('unarchiveContainer', at)
  await show('listContainers', { kind: 'COLLECTION', size: 2 })
  await show('deleteContainer', at)
  await show('restoreContainer', at)
}

export async function structure({ show, collectionId }: Scene): Promise<void> {
  const at = { containerId: collectionId }
  const review = await show('createBucket', { ...at, body: { name: 'In review', wip_limit: 3, color_token: 'purple' } })
  await show('updateBucket', { ...at, bucketId: review.id, body: { name: 'Review', wip_limit: 5 } })
  const { data: buckets } = await show('listBuckets', at)
  await show('reorderBucket', { ...at, bucketId: review.id, body: { before_bucket_id: buckets[1]!.id } })
  await show('deleteBucket', { ...at, bucketId: review.id })
  const label = await show('createLabel', {
    ...at,
    body: { name: 'press', color_token: 'red', description: 'Before everything else.' },
  })
  const labelAt = { ...at, labelId: label.id }
  await show('updateLabel', { ...labelAt, body: { color_token: 'orange' } })
  await show('listLabels', at)
  await show('deleteLabel', labelAt)
  await show('restoreLabel', labelAt)
  const field = await show('createCustomField', {
    body: {
      collection_id: collectionId,
      key: 'effort',
      kind: 'SELECT',
      options: ['small', 'large'],
      applies_to: ['TASK'],
    },
  })
  await show('updateCustomField', {
    fieldId: field.id,
    body: { options: ['small', 'medium', 'large'], is_required: false },
  })
  await show('listCustomFields', { collection_id: collectionId })
  await show('deleteCustomField', { fieldId: field.id })
}

/** A task of the collection, with a label and a field. */
async function task({ ask, collectionId }: Scene, title = 'Write the press release') {
  return ask('createItem', { body: { container_id: collectionId, title } })
}

export async function items(scene: Scene): Promise<void> {
  const { show, ask, collectionId, alan, daemon } = scene
  const { data: buckets } = await ask('listBuckets', { containerId: collectionId })
  const label = await ask('createLabel', { containerId: collectionId, body: { name: 'press', color_token: 'red' } })
  await ask('createCustomField', {
    body: { key: 'effort', kind: 'SELECT', options: ['small', 'large'], applies_to: ['TASK'] },
  })
  const item = await show('createItem', {
    body: {
      container_id: collectionId,
      title: 'Write the press release',
      description: 'One page, in *both* languages.',
      label_ids: [label.id],
      custom_fields: { effort: 'small' },
      due_at: '2027-03-12T16:00:00Z',
    },
  })
  const at = { itemId: item.id }
  await show('getItem', at)
  await show('updateItem', { ...at, body: { title: 'Write and send the press release' } })
  await show('moveItem', { ...at, body: { bucket_id: buckets[1]!.id } })
  await dates(scene, at)
  await responsible(scene, at)
  const copy = await show('duplicateItem', {
    ...at,
    body: { title: 'Write the invitation', include: ['FIELDS', 'LABELS'] },
  })
  await show('reorderItem', { ...at, body: { before_item_id: copy.id, within: 'BUCKET' } })
  await show('removeItemLabel', { ...at, labelId: label.id })
  await show('addItemLabel', { ...at, labelId: label.id })
  await show('setItemField', { ...at, key: 'effort', body: { value: 'large' } })
  await show('completeItem', at)
  await show('reopenItem', at)
  await show('archiveItem', at)
  await show('unarchiveItem', at)
  await files(scene, at)
  await questions(scene)
  const other = await task(scene, 'Book the photographer')
  await show('bulkItems', {
    body: {
      items: [{ id: item.id }, { id: other.id, version: other.version }],
      actions: [{ action: 'assign', account_id: alan.accountId }, { action: 'complete' }],
    },
  })
  await show('listItemActivity', { ...at, size: 3 })
  await trash(scene, at)
  await indexed(daemon)
  await show('search', { body: { query: 'press release', kinds: ['ITEM'], facets: ['state', 'label'] } })
  await show(
    'reindexSearch',
    { body: {} },
    await scene.tokenOf(scene.tenantId, scene.ada.accountId, ['workspace:read', 'workspace:write', 'workspace:admin']),
  )
}

async function dates({ show }: Scene, at: { itemId: string }): Promise<void> {
  await show('setItemDue', { ...at, body: { start_on: '2027-03-08', due_on: '2027-03-12' } })
  await show('clearItemDue', at)
  await show('setItemCover', { ...at, body: { color_token: 'teal' } })
  await show('removeItemCover', at)
}

async function responsible({ show, alan, ada }: Scene, at: { itemId: string }): Promise<void> {
  await show('assignItem', { ...at, body: { account_id: alan.accountId } })
  await show('unassignItem', { ...at, body: {} })
  await show('addItemMember', { ...at, accountId: ada.accountId })
  await show('removeItemMember', { ...at, accountId: ada.accountId })
  await show('autoAssignItem', { ...at, body: { account_ids: [alan.accountId, ada.accountId], reassign: true } })
}

async function files({ show, ask }: Scene, at: { itemId: string }): Promise<void> {
  const media = await ask('createMedia', { body: { filename: 'draft.txt', size_bytes: 12 } })
  await show('attachItemMedia', { ...at, mediaId: media.id, body: { name: 'First draft', alt: null } })
  await show('listItemAttachments', at)
  await show('detachItemMedia', { ...at, mediaId: media.id })
}

async function questions({ show, collectionId }: Scene): Promise<void> {
  await show('listItems', { container_id: collectionId, state: 'OPEN', size: 1 })
  await show('getBoard', { containerId: collectionId, size: 1 })
  await show('queryItems', {
    body: {
      container_id: collectionId,
      filter: {
        all: [
          { field: 'state', op: 'is', value: 'OPEN' },
          { field: 'title', op: 'contains', value: 'press' },
        ],
      },
      sort: [{ by: 'due', order: 'ASC' }],
      count: true,
    },
  })
}

async function trash(scene: Scene, at: { itemId: string }): Promise<void> {
  const { show, ask } = scene
  await show('deleteItem', at)
  await show('listTrash', { kind: 'ITEM' })
  await show('restoreItem', at)
  await ask('deleteItem', at)
  await show('purgeItem', at)
  const other = await task(scene, 'Invite the press')
  await ask('deleteItem', { itemId: other.id })
  await show('emptyTrash', { body: { confirm_count: 1 } })
}

export async function views({ show, collectionId }: Scene): Promise<void> {
  const view = await show('createView', {
    body: {
      name: 'Due this week',
      container_id: collectionId,
      layout: 'TABLE',
      filter: { field: 'state', op: 'is', value: 'OPEN' },
      sort: [{ by: 'due', order: 'ASC' }],
      columns: ['title', 'due', 'member'],
    },
  })
  await show('updateView', { viewId: view.id, body: { name: 'Open', visibility: 'SHARED' } })
  await show('listViews', { container_id: collectionId })
  await show('deleteView', { viewId: view.id })
}

export async function comments(scene: Scene): Promise<void> {
  const { show, ask, alan } = scene
  const { id: itemId } = await task(scene)
  const question = await ask('createComment', { itemId, body: { body: 'Which languages?' } }, alan)
  const comment = await show('createComment', {
    itemId,
    body: { body: 'English and French.', reply_to_id: question.id },
  })
  const at = { commentId: comment.id }
  await show('updateComment', { ...at, body: { body: 'English, French and German.' } })
  await show('setCommentReactions', { ...at, body: { reactions: ['THUMBS_UP'] } }, alan)
  await show('listComments', { itemId, order: 'ASC' })
  await show('deleteComment', at)
}

export async function templates({ show, collectionId, steady }: Scene): Promise<void> {
  const template = await show('createTemplate', {
    body: {
      name: 'Welcome a customer',
      kind: 'ITEM',
      description: 'The first call, a week after the contract.',
      container_id: collectionId,
      content: { items: [{ title: 'Call {{customer}}', due_in_days: 7, labels: ['urgent'] }] },
    },
  })
  const at = { templateId: template.id }
  await show('getTemplate', at)
  await show('updateTemplate', { ...at, body: { name: 'Welcome' } })
  await show('listTemplates', { kind: 'ITEM' })
  // A week behind the anchor.
  steady.keep(['2027-03-08'])
  await show('applyTemplate', {
    ...at,
    body: { container_id: collectionId, values: { customer: 'Globex' }, anchor_on: '2027-03-01' },
  })
  await show('deleteTemplate', at)
}

export async function media({ show, daemon, tenantId }: Scene): Promise<void> {
  const text = 'Hello, world'
  const file = await show('createMedia', { body: { filename: 'hello.txt', size_bytes: text.length } })
  const at = { mediaId: file.id }
  await show('uploadMedia', { ...at, bytes: text })
  const booted = await bootInstallation(daemon.config, { works: false, applicationName: 'svc examples' })
  await examineMedia.run(booted.installation, { tenant_id: tenantId, media_id: file.id }).finally(() => booted.close())
  await show('getMedia', at)
  await show('getMediaContent', { ...at, disposition: 'ATTACHMENT' })
  await show('listMedia', { state: 'READY' })
  await show('linkMedia', { body: { media_ids: [file.id] } })
  await show('deleteMedia', at)
}
