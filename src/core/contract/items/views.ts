/** Views: a filter, an order and a layout under a name. Spec: items 7, O26 to O29; docs/decisions/0207. */
import { z } from 'zod'
import { defineOperations } from '../operation.ts'
import { moment, pageOf, paging, text, uuid, version } from '../vocabulary.ts'
import { Filter } from './filter.ts'
import { itemFields } from './filter-fields.ts'
import { recovery, writing } from './operations.ts'
import { customKey, groupBy, sortKeys, unknownConditions } from './query.ts'

const spec = 'items 7, O26 to O29'

/** Views that a workspace shares, and private ones of an account. */
export const mostShared = 200
export const mostPrivate = 100

const layout = z.enum(['LIST', 'BOARD', 'TABLE', 'CALENDAR', 'TIMELINE'])
const visibility = z.enum(['PRIVATE', 'SHARED'])
const column = z.enum(Object.keys(itemFields) as [keyof typeof itemFields]).or(z.string().regex(customKey))

export const View = z
  .object({
    id: uuid,
    container_id: uuid.nullable().describe('the one collection that it shows; null: all that its reader sees'),
    name: z.string(),
    layout,
    filter: Filter.nullable().describe(
      'custom fields as `custom:<id>`: one that is defined anew under the key is another',
    ),
    sort: sortKeys.nullable(),
    group_by: groupBy.nullable(),
    columns: z.array(z.string()),
    visibility: visibility.describe('PRIVATE: its maker sees it, and nobody else'),
    created_by: uuid,
    created_at: moment,
    updated_at: moment,
    version,
  })
  .meta({ id: 'View' })
export type View = z.output<typeof View>

const unknown = unknownConditions('pointers begin with `/filter`')
const ViewShown = View.extend({ unknown }).meta({ id: 'ViewShown' })
export type ViewShown = z.output<typeof ViewShown>

const name = text(1, 120)
const columns = z.array(column).max(50).describe('fields of items, each of them once')

const ViewCreate = z
  .strictObject({
    container_id: uuid.nullish().describe('a collection; absent: all containers'),
    name,
    layout: layout.default('LIST'),
    filter: Filter.nullish(),
    sort: sortKeys.nullish(),
    group_by: groupBy.nullish(),
    columns: columns.default([]),
    visibility: visibility.default('PRIVATE'),
  })
  .meta({ id: 'ViewCreate' })
export type ViewCreate = z.output<typeof ViewCreate>

const ViewUpdate = z
  .strictObject({
    name: name.optional(),
    layout: layout.optional(),
    filter: Filter.nullish(),
    sort: sortKeys.nullish(),
    group_by: groupBy.nullish(),
    columns: columns.optional(),
    visibility: visibility.optional(),
  })
  .meta({ id: 'ViewUpdate' })

const ofView = z.strictObject({ viewId: uuid })
const reading = { caller: 'workspace', scope: 'workspace:read', role: 'VIEWER', within: 'container' } as const
/** VIEWER for a private view; the rule asks for MEMBER where it is shared. */
const keeping = { ...writing, role: 'VIEWER' } as const

export const viewOperations = defineOperations('views', {
  listViews: {
    method: 'GET',
    path: '/views',
    summary: 'The views that the caller may use: shared ones and its own, oldest first',
    spec,
    query: z.strictObject({
      container_id: uuid.optional(),
      id: uuid.optional().describe('this view alone'),
      ...paging(200, 50),
    }),
    success: { status: 200, answer: pageOf(ViewShown) },
    needs: reading,
    refuses: ['cursor.invalid'],
    recovery,
    assumed: [
      'a page, as of every list that grows: 300 views may be 5 MB of filters',
      'a shared view of a container is seen by whoever sees the container',
    ],
  },
  createView: {
    method: 'POST',
    path: '/views',
    summary: 'Keep a filter, an order and a layout as a view',
    spec,
    body: ViewCreate,
    success: { status: 201, answer: ViewShown, location: (made: View) => `/views?id=${made.id}` },
    needs: keeping,
    idempotent: true,
    refuses: ['auth.role_required', 'container.archived', 'structure.full'],
    recovery,
    assumed: [
      'VIEWER for a private view, MEMBER for a shared one: in its container, or on the workspace',
      `${mostShared} shared views of a workspace, ${mostPrivate} private ones of an account`,
      'a condition on what is gone or not seen is kept, and listed in `unknown`',
    ],
  },
  updateView: {
    method: 'PATCH',
    path: '/views/{viewId}',
    patch: 'merge',
    summary: 'Change a view',
    spec,
    params: ofView,
    body: ViewUpdate,
    success: { status: 200, answer: ViewShown },
    needs: keeping,
    ifMatch: true,
    refuses: ['auth.role_required', 'container.archived', 'structure.full'],
    recovery,
    assumed: [
      'its maker changes it, or an ADMIN where it is shared; its maker needs MEMBER for a shared one',
      'what becomes shared is told as created, and what becomes private as deleted',
    ],
  },
  deleteView: {
    method: 'DELETE',
    path: '/views/{viewId}',
    summary: 'Delete a view; the items stay',
    spec,
    params: ofView,
    success: { status: 204 },
    needs: keeping,
    ifMatch: true,
    refuses: ['auth.role_required', 'container.archived'],
    recovery,
  },
})
