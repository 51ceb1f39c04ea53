/** The plain case of operations, each of those on boards among them: a request that does what the operation is for. */
import { randomUUID } from 'node:crypto'
import type { Desk } from '../items/desk.ts'
import { indexed } from '../search/indexing.ts'
import { people } from './people-cases.ts'

export interface PlainCase {
  /** Prepares what the call needs through another daemon, and answers `METHOD /path` and the body. */
  readonly request: () => Promise<readonly [line: string, body?: unknown]>
  /** Why it costs more than its budget. */
  readonly why?: string
}

export function plainCases(desk: Desk): Readonly<Record<string, PlainCase>> {
  return {
    ...readings(desk),
    ...items(desk),
    ...structure(desk),
    ...containers(desk),
    ...comments(desk),
    ...templates(desk),
    ...people(desk),
  }
}

const name = () => `n${randomUUID()}`

/** An item in the trash. */
async function gone({ item, ask }: Desk) {
  const made = await item()
  await ask(`DELETE /items/${made.id}`)
  return made
}

function readings(desk: Desk) {
  const { collectionId, item } = desk
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
      why: 'looks up what the filter names, plans for the call, waits for its turn, and asks where a bound ended the page',
    },
    search: {
      request: async () => {
        await item()
        await indexed(desk.daemon)
        return ['POST /search', { query: 'items' }]
      },
      why: 'asks for the generation and the stems of the question, and asks for the stems of what it marks',
    },
    getItem: { request: async () => [`GET /items/${(await item()).id}`] },
    listTrash: { request: async () => ['GET /trash'] },
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
    reindexSearch: {
      request: async () => {
        // With `admin:tenants` it would act for the installation.
        await desk.daemon.db
          .sql`update credential set scopes = 'workspace:read workspace:write workspace:admin' where id = ${people.OWNER.credentialId}`
        await indexed(desk.daemon)
        return ['POST /search:reindex', {}]
      },
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
    reorderItem: { request: async () => [`POST /items/${(await item()).id}:reorder`, { before_item_id: null }] },
    duplicateItem: {
      request: async () => [`POST /items/${(await item()).id}:duplicate`, {}],
      why: 'holds trees, reads what fits, and locks the files',
    },
    autoAssignItem: {
      request: async () => [
        `POST /items/${(await item()).id}:auto-assign`,
        { account_ids: [desk.people.MEMBER.accountId] },
      ],
      why: 'looks the candidates up, and counts what they have to do behind the lock of the workspace',
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
    setItemCover: { request: async () => [`PUT /items/${(await item()).id}/cover`, { color_token: 'teal' }] },
    removeItemCover: {
      request: async () => {
        const { id } = await item()
        await ask(`PUT /items/${id}/cover`, { color_token: 'teal' })
        return [`DELETE /items/${id}/cover`]
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
    restoreItem: {
      request: async () => [`POST /items/${(await gone(desk)).id}:restore`],
      why: 'holds trees, and looks for what was deleted with it, in the same packet',
    },
    purgeItem: { request: async () => [`POST /items/${(await gone(desk)).id}:purge`] },
    emptyTrash: {
      request: async () => {
        await gone(desk)
        const { json } = await desk.ask('POST /trash:empty', { confirm_count: 1_000_000 })
        return ['POST /trash:empty', { confirm_count: json.params.expected }]
      },
    },
  } satisfies Record<string, PlainCase>
}

function templates({ collectionId, ask }: Desk) {
  const content = { items: [{ title: 'Call {{customer}}', bucket: 'b0', labels: ['one'], due_in_days: 3 }] }
  const made = async () => (await ask('POST /templates', { kind: 'ITEM', name: 'A call', content })).json.id as string
  return {
    listTemplates: { request: async () => ['GET /templates'] },
    getTemplate: { request: async () => [`GET /templates/${await made()}`] },
    createTemplate: { request: async () => ['POST /templates', { kind: 'ITEM', name: 'A call', content }] },
    updateTemplate: { request: async () => [`PATCH /templates/${await made()}`, { name: name() }] },
    deleteTemplate: { request: async () => [`DELETE /templates/${await made()}`] },
    applyTemplate: {
      request: async () => [
        `POST /templates/${await made()}:apply`,
        { container_id: collectionId, values: { customer: 'Acme' } },
      ],
      why: 'looks up all that the content names, and writes an item with its label and dates',
    },
  } satisfies Record<string, PlainCase>
}

function comments({ item, ask }: Desk) {
  const commented = async () => {
    const { id } = await item()
    return (await ask(`POST /items/${id}/comments`, { body: 'A comment' })).json.id as string
  }
  return {
    listComments: { request: async () => [`GET /items/${(await item()).id}/comments`] },
    createComment: { request: async () => [`POST /items/${(await item()).id}/comments`, { body: 'A comment' }] },
    updateComment: { request: async () => [`PATCH /comments/${await commented()}`, { body: name() }] },
    deleteComment: { request: async () => [`DELETE /comments/${await commented()}`] },
    setCommentReactions: {
      request: async () => [`PUT /comments/${await commented()}/reactions`, { reactions: ['HEART'] }],
    },
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
    setContainerPolicies: {
      request: async () => [`PUT /containers/${await made()}/policies`, { trash_days: 7 }],
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
