/** The plain case of each operation on boards: a request that does what the operation is for. */
import { randomUUID } from 'node:crypto'
import type { Desk } from '../items/desk.ts'

export interface PlainCase {
  /** Prepares what the call needs through another daemon, and answers `METHOD /path` and the body. */
  readonly request: () => Promise<readonly [line: string, body?: unknown]>
  /** Why it costs more than its budget. */
  readonly why?: string
}

export function plainCases(desk: Desk): Readonly<Record<string, PlainCase>> {
  return { ...readings(desk), ...items(desk), ...structure(desk), ...containers(desk) }
}

const name = () => `n${randomUUID()}`

function readings({ collectionId, item }: Desk) {
  return {
    listContainers: { request: async () => ['GET /containers'] },
    getContainer: { request: async () => [`GET /containers/${collectionId}`] },
    listBuckets: { request: async () => [`GET /containers/${collectionId}/buckets`] },
    getBoard: {
      request: async () => [`GET /containers/${collectionId}/board`],
      why: 'reads the container, buckets and items',
    },
    listLabels: { request: async () => [`GET /containers/${collectionId}/labels`] },
    listCustomFields: { request: async () => ['GET /custom-fields'] },
    listItems: { request: async () => [`GET /items?container_id=${collectionId}`] },
    queryItems: {
      request: async () => [
        'POST /items:query',
        { container_id: collectionId, filter: { field: 'state', op: 'is', value: 'OPEN' }, sort: [{ by: 'created' }] },
      ],
      why: 'looks up what the filter names, plans for the call, and asks where a bound ended the page',
    },
    getItem: { request: async () => [`GET /items/${(await item()).id}`] },
    listItemAttachments: { request: async () => [`GET /items/${(await item()).id}/attachments`] },
    listItemActivity: { request: async () => [`GET /items/${(await item()).id}/activity`] },
    listMemberships: { request: async () => ['GET /memberships'] },
    listAuditEntries: { request: async () => ['GET /audit'] },
    listWebhooks: { request: async () => ['GET /integrations/webhooks'] },
    listTokens: { request: async () => ['GET /auth/tokens'] },
    listSessions: { request: async () => ['GET /auth/sessions'] },
    getOwnAccount: {
      request: async () => ['GET /accounts/me'],
      why: 'reads settings of the installation, in its role',
    },
  } satisfies Record<string, PlainCase>
}

function items(desk: Desk) {
  const { collectionId, buckets, labels, item, act, field, people, ask } = desk
  const media = async () => (await ask('POST /media', { filename: 'a file', size_bytes: 1 })).json.id as string
  return {
    createItem: { request: async () => ['POST /items', { container_id: collectionId, title: 'An item' }] },
    updateItem: { request: async () => [`PATCH /items/${(await item()).id}`, { title: name() }] },
    moveItem: {
      request: async () => [`POST /items/${(await item()).id}:move`, { bucket_id: buckets[1] }],
    },
    attachItemMedia: { request: async () => [`PUT /items/${(await item()).id}/attachments/${await media()}`, {}] },
    detachItemMedia: {
      request: async () => {
        const path = `/items/${(await item()).id}/attachments/${await media()}` as const
        await ask(`PUT ${path}`, {})
        return [`DELETE ${path}`]
      },
    },
    bulkItems: {
      request: async () => {
        const items = [{ id: (await item()).id }, { id: (await item()).id }]
        return ['POST /items:bulk', { items, actions: [{ action: 'complete' }, { action: 'archive' }] }]
      },
      why: 'two actions on each of two items, each behind its savepoint',
    },
    completeItem: { request: async () => [`POST /items/${(await item()).id}:complete`] },
    reopenItem: {
      request: async () => [`POST /items/${(await act(await item(), 'complete')).id}:reopen`],
    },
    addItemLabel: { request: async () => [`PUT /items/${(await item()).id}/labels/${labels[0]}`] },
    removeItemLabel: {
      request: async () => [`DELETE /items/${(await item({ label_ids: [labels[0]] })).id}/labels/${labels[0]}`],
    },
    setItemField: {
      request: async () => {
        const key = `k${randomUUID().replaceAll('-', '')}`
        await field({ key, kind: 'TEXT' })
        return [`PUT /items/${(await item()).id}/custom-fields/${key}`, { value: 'a value' }]
      },
    },
    setItemDue: { request: async () => [`PUT /items/${(await item()).id}/due`, { due_on: '2027-03-01' }] },
    clearItemDue: {
      request: async () => [`DELETE /items/${(await item({ due_at: '2027-03-01T00:00:00Z' })).id}/due`],
    },
    assignItem: {
      request: async () => [`POST /items/${(await item()).id}:assign`, { account_id: people.ADMIN.accountId }],
    },
    unassignItem: {
      request: async () => {
        const made = await act(await item(), 'assign', { account_id: people.ADMIN.accountId })
        return [`POST /items/${made.id}:unassign`, {}]
      },
    },
    addItemMember: { request: async () => [`PUT /items/${(await item()).id}/members/${people.ADMIN.accountId}`] },
    removeItemMember: {
      request: async () => {
        const made = await act(await item(), 'assign', { account_id: people.ADMIN.accountId })
        return [`DELETE /items/${made.id}/members/${people.ADMIN.accountId}`]
      },
    },
    archiveItem: { request: async () => [`POST /items/${(await item()).id}:archive`] },
    unarchiveItem: {
      request: async () => [`POST /items/${(await act(await item(), 'archive')).id}:unarchive`],
    },
    deleteItem: { request: async () => [`DELETE /items/${(await item()).id}`] },
  } satisfies Record<string, PlainCase>
}

function structure({ collectionId, ask }: Desk) {
  const path = `/containers/${collectionId}`
  const made = async (line: `POST ${string}`, body: object) =>
    (await ask(line as `POST /${string}`, body)).json.id as string
  const bucket = () => made(`POST ${path}/buckets`, { name: name() })
  const label = () => made(`POST ${path}/labels`, { name: name(), color_token: 'red' })
  const field = () =>
    made('POST /custom-fields', { key: `k${randomUUID().replaceAll('-', '')}`, kind: 'TEXT', applies_to: ['TASK'] })
  return {
    createBucket: { request: async () => [`POST ${path}/buckets`, { name: name() }] },
    updateBucket: { request: async () => [`PATCH ${path}/buckets/${await bucket()}`, { name: name() }] },
    reorderBucket: {
      request: async () => [`POST ${path}/buckets/${await bucket()}:reorder`, { before_bucket_id: await bucket() }],
    },
    deleteBucket: {
      request: async () => [`DELETE ${path}/buckets/${await bucket()}`],
      why: 'moves the entries of the bucket, portion by portion',
    },
    createLabel: { request: async () => [`POST ${path}/labels`, { name: name(), color_token: 'red' }] },
    updateLabel: { request: async () => [`PATCH ${path}/labels/${await label()}`, { name: name() }] },
    restoreLabel: {
      request: async () => {
        const id = await label()
        await ask(`DELETE /containers/${collectionId}/labels/${id}`)
        return [`POST ${path}/labels/${id}:restore`]
      },
    },
    deleteLabel: { request: async () => [`DELETE ${path}/labels/${await label()}`] },
    createCustomField: {
      request: async () => [
        'POST /custom-fields',
        { key: `k${randomUUID().replaceAll('-', '')}`, kind: 'TEXT', applies_to: ['TASK'] },
      ],
    },
    updateCustomField: {
      request: async () => [
        `PATCH /custom-fields/${await field()}`,
        { is_required: false, applies_to: ['TASK', 'NOTE'] },
      ],
    },
    deleteCustomField: { request: async () => [`DELETE /custom-fields/${await field()}`] },
  } satisfies Record<string, PlainCase>
}

function containers({ hub, collection, ask }: Desk) {
  const made = async () => (await collection(await hub())).id
  return {
    createContainer: {
      request: async () => ['POST /containers', { kind: 'COLLECTION', parent_id: (await hub()).id, name: name() }],
    },
    updateContainer: { request: async () => [`PATCH /containers/${await made()}`, { name: name() }] },
    moveContainer: { request: async () => [`POST /containers/${await made()}:move`, { parent_id: (await hub()).id }] },
    reorderContainer: {
      request: async () => {
        const home = await hub()
        const { id } = await collection(home)
        await collection(home)
        return [`POST /containers/${id}:reorder`, {}]
      },
    },
    setContainerPrivacy: {
      request: async () => [`PUT /containers/${await made()}/privacy`, { is_private: true }],
      why: 'gives the caller a membership of the container, so that it is not lost',
    },
    unarchiveContainer: {
      request: async () => {
        const id = await made()
        await ask(`POST /containers/${id}:archive`)
        return [`POST /containers/${id}:unarchive`]
      },
    },
    restoreContainer: {
      request: async () => {
        const id = await made()
        await ask(`DELETE /containers/${id}`)
        return [`POST /containers/${id}:restore`]
      },
    },
    archiveContainer: { request: async () => [`POST /containers/${await made()}:archive`] },
    deleteContainer: { request: async () => [`DELETE /containers/${await made()}`] },
  } satisfies Record<string, PlainCase>
}
